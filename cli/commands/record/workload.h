// What a recording waits for: CMD, or CMD and its descendants, or a process that runs already, or a
// person's Ctrl-C. Passes signals on to CMD and keeps how it ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/commands/record/child_process.h"
#include "cli/commands/record/invoking_user.h"
#include "cli/commands/record/process_tree.h"
#include "cli/commands/record/record_options.h"
#include "cli/commands/record/signal_gate.h"
#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

struct ChildEnd {
  std::optional<int> exit_code;
  std::optional<int> signal;

  /// As a shell reports it.
  [[nodiscard]] int status() const;
};

/// 128+N.
[[nodiscard]] int status_of_signal(int number);

class Workload {
 public:
  /// kNotFound when --pid names no process.
  [[nodiscard]] static Result<Workload> prepare(const RecordOptions& options);

  /// Starts CMD, as `user` if there is one.
  [[nodiscard]] Status start(const std::vector<std::string>& command, const SignalGate& signals,
                             const std::optional<InvokingUser>& user);

  void handle_signal(const ReceivedSignal& signal);
  void take_exec_status();
  void watched_process_ended() { watched_.reset(); }

  /// Whose processes are recorded; absent without a command or --pid.
  [[nodiscard]] std::optional<TreeRoots> tree() const;
  /// A child of gputrace's own that is not waited for.
  void leave_out(pid_t pid) { not_of_the_tree_.push_back(pid); }

  /// Nothing to wait for any more.
  [[nodiscard]] bool done() const;
  /// By which signal gputrace was asked to end while no CMD was running.
  [[nodiscard]] const std::optional<int>& interrupted() const { return interrupted_; }
  [[nodiscard]] const std::optional<ChildEnd>& child_end() const { return child_end_; }
  /// errno of a failed exec, else 0.
  [[nodiscard]] int exec_error() const { return exec_error_; }

  // For poll(2); -1 when there is nothing to watch.
  [[nodiscard]] int exec_status_fd() const { return child_.exec_status.get(); }
  [[nodiscard]] int watched_fd() const { return watched_.get(); }

 private:
  explicit Workload(const RecordOptions& options) : options_(&options) {}

  [[nodiscard]] bool child_runs() const { return child_.pid > 0 && !child_end_; }
  void keep_for_start(int number);
  void reap();
  void reap_child();
  void reap_tree();

  const RecordOptions* options_;
  UniqueFd watched_;  ///< pidfd of --pid
  ChildProcess child_;
  std::optional<ChildEnd> child_end_;
  int exec_error_ = 0;
  std::vector<int> before_start_;  ///< signals for CMD that came too early
  /// The recorder, the watcher of processes, and children from before an exec of us.
  std::vector<pid_t> not_of_the_tree_;
  bool tree_gone_ = false;
  std::optional<int> interrupted_;
};

}  // namespace gputrace::commands
