#include "daemon/os/drm_clients.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "daemon/base/unique_fd.h"
#include "daemon/os/debugfs_registers.h"
#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

constexpr std::size_t kMaxTextBytes = 1 << 20;

Result<std::string> read_whole(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return fail_errno(errno, "cannot open " + file.string());
  }
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() < kMaxTextBytes) {
    const ssize_t size = ::read(fd.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return fail_errno(errno, "cannot read " + file.string());
    }
    if (size == 0) {
      break;
    }
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  return text;
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return line;
}

/// Where the column `tgid` may begin: after the end of the one to its left. Columns are aligned to
/// the right, names of commands may hold blanks, and a large tgid is wider than its heading.
std::optional<std::size_t> start_of_tgid(std::string_view header) {
  const std::size_t title = header.find(" tgid ");
  if (title == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t left = header.find_last_not_of(' ', title);
  return left == std::string_view::npos ? 0 : left + 1;
}

std::optional<pid_t> tgid_of(std::string_view line, std::size_t start) {
  const std::size_t digits = line.find_first_not_of(' ', std::min(start, line.size()));
  if (digits == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(digits);
  pid_t tgid = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), tgid);
  return error == std::errc{} ? std::optional(tgid) : std::nullopt;
}

}  // namespace

Result<std::size_t> count_other_clients(const GpuDevice& gpu, const SystemRoots& roots,
                                        std::span<const pid_t> own_pids) {
  const Result<std::filesystem::path> folder = find_debugfs_folder(gpu, roots);
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  const std::filesystem::path file = *folder / "clients";
  const Result<std::string> text = read_whole(file);
  if (!text) {
    return tl::unexpected(text.error());
  }
  std::string_view rest = *text;
  const std::optional<std::size_t> start = start_of_tgid(next_line(rest));
  if (!start) {
    return fail(ErrorCode::kUnsupported,
                file.string() + " has no column 'tgid', so who has the GPU open is not known");
  }
  std::size_t others = 0;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (line.empty()) {
      continue;
    }
    // A process may put a line break into its name: its lines show no tgid, and it is not us.
    const std::optional<pid_t> tgid = tgid_of(line, *start);
    if (!tgid || std::find(own_pids.begin(), own_pids.end(), *tgid) == own_pids.end()) {
      ++others;
    }
  }
  return others;
}

bool has_runtime_power_management(const GpuDevice& gpu) {
  return read_text(gpu.device_dir / "power/control") == "auto";
}

std::optional<std::int64_t> autosuspend_delay_ms(const GpuDevice& gpu) {
  // The kernel keeps an int (pm_runtime_set_autosuspend_delay); "-1" is not a number here.
  const auto delay = read_number(gpu.device_dir / "power/autosuspend_delay_ms", INT32_MAX);
  return delay ? std::optional(static_cast<std::int64_t>(*delay)) : std::nullopt;
}

}  // namespace gputrace::os
