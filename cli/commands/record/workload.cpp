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

#include "cli/commands/record/descendants.h"

namespace gputrace::commands {

namespace {

bool asks_to_end(int signal) {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
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
  if (options.pid) {
    workload.watched_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, *options.pid, 0U)));
    if (!workload.watched_) {
      return fail_errno(errno, fmt::format("cannot wait for process {}", *options.pid));
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
    become_user = [&user] { return become(*user) ? 0 : EPERM; };
  }
  Result<ChildProcess> child = start_child(command, signals, become_user);
  if (!child) {
    return tl::unexpected(child.error());
  }
  child_ = std::move(*child);
  return {};
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
    return;
  }
  if (child_runs()) {
    if (!signal.from_terminal) {
      ::kill(child_.pid, signal.number);
    }
  } else if (asks_to_end(signal.number) && !interrupted_) {
    interrupted_ = signal.number;
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
