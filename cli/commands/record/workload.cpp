#include "cli/commands/record/workload.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <utility>

#include "cli/commands/record/process_tree.h"

namespace gputrace::commands {

namespace {

bool asks_to_end(const ReceivedSignal& signal) {
  // A job in the background of a script has the terminal's Ctrl-C ignored, and so does nohup with a
  // SIGHUP, which shells send as any process does. A SIGINT that a process sends is meant.
  if (signal.ignored_at_start && (signal.from_terminal || signal.number == SIGHUP)) {
    return false;
  }
  return signal.number == SIGINT || signal.number == SIGQUIT || signal.number == SIGTERM ||
         signal.number == SIGHUP;
}

ChildEnd end_of(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? ChildEnd{info.si_status, std::nullopt}
                                    : ChildEnd{std::nullopt, info.si_status};
}

}  // namespace

int status_of_signal(int number) {
  return 128 + number;
}

int ChildEnd::status() const {
  return exit_code ? *exit_code : status_of_signal(signal.value_or(0));
}

Result<Workload> Workload::prepare(const RecordOptions& options) {
  Workload workload(options);
  if (options.pid && *options.pid == ::getpid()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("--pid {} is gputrace itself, which would wait for its own end", *options.pid));
  }
  if (options.pid) {
    workload.watched_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, *options.pid, 0U)));
    if (!workload.watched_) {
      const int error_number = errno;
      // A thread that is not the first of its process is EINVAL, since Linux 6.9 ENOENT.
      const bool is_thread = error_number == EINVAL || error_number == ENOENT;
      return fail_errno(error_number, fmt::format("cannot wait for process {}{}", *options.pid,
                                                  is_thread ? ", which is a thread" : ""));
    }
  }
  return workload;
}

Status Workload::start(const std::vector<std::string>& command, const SignalGate& signals,
                       const std::optional<InvokingUser>& user) {
  if (options_->wait == WaitFor::kTree) {
    not_of_the_tree_ = list_children();
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
      return fail_errno(errno, "cannot wait for a process tree");
    }
  }
  std::function<int()> become_user;
  if (user) {
    become_user = [&user] { return take_environment(*user) && become(*user) ? 0 : EPERM; };
  }
  Result<ChildProcess> child = start_child(command, signals, become_user);
  if (!child) {
    return tl::unexpected(child.error());
  }
  child_ = std::move(*child);
  for (const int number : std::exchange(before_start_, {})) {
    ::kill(child_.pid, number);
  }
  return {};
}

std::optional<TreeRoots> Workload::tree() const {
  if (options_->pid) {
    return TreeRoots{{*options_->pid}, std::nullopt, {}};
  }
  if (child_.pid < 0) {
    return std::nullopt;
  }
  TreeRoots tree{{child_.pid}, std::nullopt, not_of_the_tree_};
  if (options_->wait == WaitFor::kTree) {
    tree.reaper = ::getpid();
  }
  return tree;
}

bool Workload::done() const {
  if (options_->command) {
    return child_end_ && (options_->wait == WaitFor::kChild || tree_gone_ || interrupted_);
  }
  return interrupted_ || (options_->pid && !watched_);
}

void Workload::handle_signal(const ReceivedSignal& signal) {
  reap();  // signals come in the order of their numbers, not of time: CMD may have ended before
  if (signal.number == SIGCHLD) {
    // A CMD that stops itself alone is left so, as time(1) and perf leave it. To stop with it would
    // undo what somebody wants who pauses and continues CMD by its pid: gputrace would stay
    // stopped. Ctrl-Z stops both.
    return;
  }
  if (child_runs()) {
    if (!signal.from_terminal) {
      ::kill(child_.pid, signal.number);
    }
  } else if (asks_to_end(signal)) {
    interrupted_ = interrupted_.value_or(signal.number);
  } else if (options_->command && child_.pid < 0 && !signal.from_terminal) {
    keep_for_start(signal.number);
  }
}

/// CMD would have got it, had it been there. Signals below SIGRTMIN do not queue: one is enough.
void Workload::keep_for_start(int number) {
  if (std::find(before_start_.begin(), before_start_.end(), number) == before_start_.end()) {
    before_start_.push_back(number);
  }
}

void Workload::reap() {
  if (child_.pid < 0) {
    return;
  }
  if (options_->wait == WaitFor::kTree) {
    reap_tree();
  } else if (child_runs()) {
    reap_child();
  }
  if (child_end_ && child_.exec_status) {
    take_exec_status();
  }
}

void Workload::reap_child() {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG) == 0 &&
      info.si_pid == child_.pid) {
    child_end_ = end_of(info);
  }
}

/// Descendants that were left behind may end before CMD does, and after it.
void Workload::reap_tree() {
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0) {
    if (info.si_pid == child_.pid) {
      child_end_ = end_of(info);
    }
    info = {};
  }
  if (child_end_) {
    const std::vector<pid_t> children = list_children();
    tree_gone_ = std::all_of(children.begin(), children.end(), [this](pid_t pid) {
      return std::find(not_of_the_tree_.begin(), not_of_the_tree_.end(), pid) !=
             not_of_the_tree_.end();
    });
  }
}

void Workload::take_exec_status() {
  exec_error_ = take_exec_error(child_.exec_status);
  child_.exec_status.reset();
}

}  // namespace gputrace::commands
