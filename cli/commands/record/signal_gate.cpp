#include "cli/commands/record/signal_gate.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gputrace::commands {

namespace {
constexpr std::array<int, 8> kAccepted{SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                       SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE};
}  // namespace

Result<SignalGate> SignalGate::close_gate() {
  SignalGate gate;
  sigset_t accepted;
  ::sigemptyset(&accepted);
  ::sigemptyset(&gate.ignored_at_start_);
  for (const int number : kAccepted) {
    ::sigaddset(&accepted, number);
    struct sigaction inherited{};
    if (::sigaction(number, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) {
      ::sigaddset(&gate.ignored_at_start_, number);
    }
  }
  // Blocked signals are queued even where they are ignored (sig_ignored() in kernel/signal.c), so
  // this works under nohup too. The mask must be in place before any child exists.
  if (::sigprocmask(SIG_BLOCK, &accepted, &gate.inherited_mask_) != 0) {
    return fail_errno(errno, "cannot block signals");
  }
  // With SIGCHLD ignored, which is inherited from some parents, the kernel would throw away the
  // exit status of CMD.
  struct sigaction default_action{};
  default_action.sa_handler = SIG_DFL;
  if (::sigaction(SIGCHLD, &default_action, &gate.inherited_child_action_) != 0) {
    return fail_errno(errno, "cannot accept SIGCHLD");
  }
  // A write to a closed pipe must not end gputrace before CMD; SIGPIPE is never taken out.
  ::sigdelset(&accepted, SIGPIPE);
  gate.fd_ = UniqueFd(::signalfd(-1, &accepted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!gate.fd_) {
    return fail_errno(errno, "cannot accept signals");
  }
  return gate;
}

std::optional<ReceivedSignal> SignalGate::take() const noexcept {
  signalfd_siginfo info{};
  ssize_t got = 0;
  do {
    got = ::read(fd_.get(), &info, sizeof info);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof info)) {
    return std::nullopt;
  }
  const int number = static_cast<int>(info.ssi_signo);
  return ReceivedSignal{number, info.ssi_code == SI_KERNEL,
                        ::sigismember(&ignored_at_start_, number) == 1};
}

void SignalGate::restore() const noexcept {
  ::sigaction(SIGCHLD, &inherited_child_action_, nullptr);
  ::sigprocmask(SIG_SETMASK, &inherited_mask_, nullptr);
}

}  // namespace gputrace::commands
