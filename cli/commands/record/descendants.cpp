#include "cli/commands/record/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

namespace {

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size() ? std::optional(value)
                                                                   : std::nullopt;
}

/// Fourth field of /proc/PID/stat. The second, the name, is in brackets and may hold anything.
std::optional<pid_t> parent_of(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 > stat.size()) {
    return std::nullopt;
  }
  const std::string_view rest = stat.substr(name_end + 4);  // ") S "
  return parse_whole<pid_t>(rest.substr(0, rest.find(' ')));
}

std::optional<pid_t> read_parent(int proc_fd, const char* pid) {
  const std::string path = std::string(pid) + "/stat";
  const UniqueFd file(::openat(proc_fd, path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
  return got <= 0 ? std::nullopt
                  : parent_of(std::string_view(text.data(), static_cast<std::size_t>(got)));
}

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

}  // namespace

std::vector<pid_t> list_children() {
  std::vector<pid_t> children;
  const std::unique_ptr<DIR, CloseDir> proc(::opendir("/proc"));
  if (!proc) {
    return children;
  }
  const pid_t self = ::getpid();
  // One thread uses this DIR, so readdir(3) is safe.
  while (const dirent* entry = ::readdir(proc.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::optional<pid_t> pid = parse_whole<pid_t>(std::string_view(entry->d_name));
    if (pid && read_parent(::dirfd(proc.get()), entry->d_name) == self) {
      children.push_back(*pid);
    }
  }
  return children;
}

}  // namespace gputrace::commands
