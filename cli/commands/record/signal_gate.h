// The signals that the supervisor of `gputrace record` accepts through a descriptor, and the way
// back to the signal state that gputrace was started with, which is what CMD must get.
#pragma once

#include <csignal>
#include <optional>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

struct ReceivedSignal {
  int number = 0;
  /// Sent by the kernel on behalf of the terminal: CMD, which is in the same process group, has
  /// got it already (SI_KERNEL; drivers/tty and kernel/signal.c use SEND_SIG_PRIV).
  bool from_terminal = false;
  /// gputrace was started with this signal ignored: by nohup, or as a job in the background.
  bool ignored_at_start = false;
};

class SignalGate {
 public:
  /// Blocks INT, QUIT, TERM, HUP, USR1, USR2, CHLD and PIPE in this process. Stop signals keep
  /// their effect: Ctrl-Z stops gputrace together with CMD.
  [[nodiscard]] static Result<SignalGate> close_gate();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next signal that has arrived; never blocks.
  [[nodiscard]] std::optional<ReceivedSignal> take() const noexcept;

  /// In a child, before exec: mask and dispositions as gputrace was started with.
  /// Async-signal-safe.
  void restore() const noexcept;

 private:
  SignalGate() = default;

  UniqueFd fd_;
  sigset_t ignored_at_start_{};
  sigset_t inherited_mask_{};
  struct sigaction inherited_child_action_{};
};

}  // namespace gputrace::commands
