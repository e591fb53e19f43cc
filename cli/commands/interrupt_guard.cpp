#include "cli/commands/interrupt_guard.h"

namespace gputrace::commands {

namespace {
// A handler has no other way to say anything.
volatile std::sig_atomic_t received_signal = 0;
volatile std::sig_atomic_t sigints_to_pass_over = 0;

void note_signal(int signal) {
  if (signal == SIGINT && sigints_to_pass_over > 0) {
    sigints_to_pass_over = sigints_to_pass_over - 1;
    return;
  }
  received_signal = signal;
}
}  // namespace

InterruptGuard::InterruptGuard(int tolerated_sigints) {
  received_signal = 0;
  sigints_to_pass_over = tolerated_sigints;
  struct sigaction action{};
  action.sa_handler = note_signal;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      ::sigaction(kSignals[i], &action, nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

std::optional<int> InterruptGuard::signal() const {
  const int signal = received_signal;
  return signal == 0 ? std::nullopt : std::optional(signal);
}

}  // namespace gputrace::commands
