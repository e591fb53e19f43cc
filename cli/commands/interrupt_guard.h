// Notes SIGINT, SIGTERM and SIGHUP instead of dying of them, so that a command can tidy up first.
#pragma once

#include <array>
#include <csignal>
#include <optional>

namespace gputrace::commands {

/// One at a time. Blocking system calls return EINTR. Ignored signals (nohup) stay ignored.
class InterruptGuard {
 public:
  /// The first `tolerated_sigints` SIGINTs are passed over: Ctrl-C ends the other programs of a
  /// pipeline too, and whoever reads their output wants its end.
  explicit InterruptGuard(int tolerated_sigints);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// The signal that came, if one did.
  [[nodiscard]] std::optional<int> signal() const;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_{};
};

}  // namespace gputrace::commands
