// The processes of the workload: CMD and its descendants, found in /proc again and again. Who once
// belonged to it stays, also when its parent ends.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputrace::commands {

/// From /proc/PID/stat.
struct ProcessStat {
  pid_t parent = 0;
  char state = '?';               ///< 'Z': it has ended, and nobody has asked how
  std::uint64_t start_ticks = 0;  ///< since boot; tells a process from a later one of the same pid
};

[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);
/// Absent: the process has gone.
[[nodiscard]] std::optional<ProcessStat> read_process_stat(const std::filesystem::path& proc,
                                                           pid_t pid);
/// All there are, in no order; empty when the folder cannot be read.
[[nodiscard]] std::vector<pid_t> list_processes(const std::filesystem::path& proc);

/// Live or unreaped children of the calling process. Every process below a subreaper has one of
/// these above it, and a child that we have not reaped cannot vanish during the look: an empty list
/// is certain. (/proc/PID/task/TID/children is neither certain, see proc(5), nor always built in.)
[[nodiscard]] std::vector<pid_t> list_children();

/// Where a workload begins.
struct TreeRoots {
  std::vector<pid_t> roots;  ///< CMD or the process of --pid
  /// Orphans of the workload become children of this process; those in `not_of_it` are others.
  std::optional<pid_t> reaper;
  std::vector<pid_t> not_of_it;
};

class ProcessTree {
 public:
  static constexpr std::size_t kMaxProcesses = 4096;

  ProcessTree(std::filesystem::path proc, TreeRoots roots)
      : proc_(std::move(proc)), roots_(std::move(roots)) {}

  /// Looks again. Parents come before their children.
  [[nodiscard]] const std::vector<pid_t>& refresh();
  /// Processes over kMaxProcesses, at the last look.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  void forget_who_ended(const std::set<pid_t>& present);
  [[nodiscard]] bool belongs(pid_t pid, const ProcessStat& stat) const;

  std::filesystem::path proc_;
  TreeRoots roots_;  ///< without the roots that are members already
  std::vector<pid_t> members_;
  std::map<pid_t, std::uint64_t> start_ticks_;  ///< of the members
  std::set<pid_t> strangers_;                   ///< not looked at again for some time
  unsigned looks_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace gputrace::commands
