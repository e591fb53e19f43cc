#include "daemon/os/kernel.h"

#include <sys/utsname.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "daemon/os/sysfs.h"

namespace gputrace::os {

std::optional<KernelVersion> parse_kernel_release(std::string_view release) {
  KernelVersion version;
  const char* begin = release.data();
  const char* end = begin + release.size();
  const auto [dot, major_error] = std::from_chars(begin, end, version.major);
  if (major_error != std::errc() || dot == end || *dot != '.') {
    return std::nullopt;
  }
  const auto [rest, minor_error] = std::from_chars(dot + 1, end, version.minor);
  if (minor_error != std::errc()) {
    return std::nullopt;
  }
  return version;
}

Result<KernelVersion> running_kernel() {
  utsname names{};
  if (::uname(&names) != 0) {
    return fail_errno(errno, "cannot ask for the kernel's version");
  }
  const std::string_view release(names.release);
  const std::optional<KernelVersion> version = parse_kernel_release(release);
  if (!version) {
    return fail(ErrorCode::kUnsupported,
                "the kernel's version '" + std::string(release) + "' is not understood");
  }
  return *version;
}

std::optional<std::string> lockdown_mode(const SystemRoots& roots) {
  // "none [integrity] confidentiality": the brackets mark what holds
  // (security/lockdown/lockdown.c).
  const auto text = read_text(roots.sys / "kernel/security/lockdown");
  if (!text) {
    return std::nullopt;
  }
  const std::size_t open = text->find('[');
  const std::size_t close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return std::nullopt;
  }
  const std::string mode = text->substr(open + 1, close - open - 1);
  return mode == "none" ? std::nullopt : std::optional(mode);
}

}  // namespace gputrace::os
