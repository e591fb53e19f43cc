#include "daemon/service/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace gputrace::service {

Result<Signals> Signals::block() {
  sigset_t wanted{};
  sigset_t before{};
  ::sigemptyset(&wanted);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&wanted, signal);
  }
  if (::sigprocmask(SIG_BLOCK, &wanted, &before) != 0) {
    return fail_errno(errno, "cannot block signals");
  }
  UniqueFd fd(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd) {
    const int error_number = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return fail_errno(error_number, "cannot receive signals");
  }
  return Signals(std::move(fd), before);
}

Signals::Signals(Signals&& other) noexcept = default;

Signals::~Signals() {
  if (fd_) {
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
}

std::optional<int> Signals::next() const {
  signalfd_siginfo info{};
  return ::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)
             ? std::optional(static_cast<int>(info.ssi_signo))
             : std::nullopt;
}

}  // namespace gputrace::service
