#include "cli/commands/record/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <system_error>
#include <utility>

#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

namespace {

/// A stranger's pid may be given to a process of the workload: they are all looked at again after
/// so many looks.
constexpr unsigned kLooksWithStrangers = 20;
/// Fields of /proc/PID/stat behind the name, counted from the state (proc(5): 3, 4 and 22).
constexpr std::size_t kParentField = 1;
constexpr std::size_t kStartField = 19;

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size() ? std::optional(value)
                                                                   : std::nullopt;
}

std::string_view field(std::string_view text, std::size_t index) {
  for (; index > 0; --index) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) {
      return {};
    }
    text.remove_prefix(space + 1);
  }
  return text.substr(0, text.find_first_of(" \n"));
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name is in brackets and may hold anything, brackets too.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 3 > text.size()) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(name_end + 2);
  const auto parent = parse_whole<pid_t>(field(rest, kParentField));
  const auto start = parse_whole<std::uint64_t>(field(rest, kStartField));
  if (!parent || !start) {
    return std::nullopt;
  }
  return ProcessStat{*parent, rest.front(), *start};
}

std::optional<ProcessStat> read_process_stat(const std::filesystem::path& proc, pid_t pid) {
  const std::string path = proc.native() + '/' + std::to_string(pid) + "/stat";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
  return got <= 0
             ? std::nullopt
             : parse_process_stat(std::string_view(text.data(), static_cast<std::size_t>(got)));
}

std::vector<pid_t> list_processes(const std::filesystem::path& proc) {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, CloseDir> folder(::opendir(proc.c_str()));
  if (!folder) {
    return pids;
  }
  // One thread uses this DIR, so readdir(3) is safe.
  while (const dirent* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (const auto pid = parse_whole<pid_t>(std::string_view(entry->d_name)); pid && *pid > 0) {
      pids.push_back(*pid);
    }
  }
  return pids;
}

std::vector<pid_t> list_children() {
  const pid_t self = ::getpid();
  std::vector<pid_t> children = list_processes("/proc");
  std::erase_if(children, [self](pid_t pid) {
    const std::optional<ProcessStat> stat = read_process_stat("/proc", pid);
    return !stat || stat->parent != self;
  });
  return children;
}

void ProcessTree::forget_who_ended(const std::set<pid_t>& present) {
  std::erase_if(members_, [&](pid_t pid) {
    const std::optional<ProcessStat> stat =
        present.contains(pid) ? read_process_stat(proc_, pid) : std::nullopt;
    const bool ended = !stat || stat->start_ticks != start_ticks_.at(pid);
    if (ended) {
      start_ticks_.erase(pid);
    }
    return ended;
  });
  if (++looks_ % kLooksWithStrangers == 0) {
    strangers_.clear();
  } else {
    std::erase_if(strangers_, [&](pid_t pid) { return !present.contains(pid); });
  }
}

bool ProcessTree::belongs(pid_t pid, const ProcessStat& stat) const {
  const auto holds = [](const std::vector<pid_t>& pids, pid_t wanted) {
    return std::find(pids.begin(), pids.end(), wanted) != pids.end();
  };
  if (start_ticks_.contains(stat.parent)) {
    return true;
  }
  return holds(roots_.roots, pid) ||
         (roots_.reaper == stat.parent && !holds(roots_.not_of_it, pid));
}

const std::vector<pid_t>& ProcessTree::refresh() {
  const std::vector<pid_t> listed = list_processes(proc_);
  const std::set<pid_t> present(listed.begin(), listed.end());
  forget_who_ended(present);
  std::vector<std::pair<pid_t, ProcessStat>> open;
  for (const pid_t pid : present) {
    if (start_ticks_.contains(pid) || strangers_.contains(pid)) {
      continue;
    }
    if (const auto stat = read_process_stat(proc_, pid)) {
      open.emplace_back(pid, *stat);
    }
  }
  left_out_ = 0;
  // A child may have a lower pid than its parent: again, until nobody is added.
  for (bool added = true; added;) {
    added = false;
    std::erase_if(open, [&](const auto& candidate) {
      const auto& [pid, stat] = candidate;
      if (!belongs(pid, stat)) {
        return false;
      }
      if (members_.size() == kMaxProcesses) {
        ++left_out_;
        return true;
      }
      members_.push_back(pid);
      start_ticks_[pid] = stat.start_ticks;
      std::erase(roots_.roots, pid);  // a later process of its pid is somebody else
      added = true;
      return true;
    });
  }
  for (const auto& [pid, stat] : open) {
    strangers_.insert(pid);
  }
  return members_;
}

}  // namespace gputrace::commands
