#include "daemon/service/child_process.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>

namespace gputrace::service {

Result<ChildProcess> fork_child(const std::function<void()>& body) {
  ChildProcess child;
  child.pid = ::fork();
  if (child.pid < 0) {
    return fail_errno(errno, "cannot start a process");
  }
  if (child.pid == 0) {
    sigset_t none{};
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // An exception must not unwind into the daemon's frames, whose work is not the child's.
    [&body]() noexcept { body(); }();
    ::_exit(0);
  }
  // Not pidfd_open(3): the header of glibc 2.36 does not say extern "C".
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  if (!child.pidfd) {
    const int error_number = errno;
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    return fail_errno(error_number, "cannot watch a process (pidfd_open needs Linux 5.3)");
  }
  return child;
}

std::optional<std::string> how_it_ended(const ChildProcess& child) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG) != 0) {
    return errno == EINTR ? std::nullopt : std::optional<std::string>("is gone");
  }
  if (info.si_pid == 0) {
    return std::nullopt;
  }
  return info.si_code == CLD_EXITED ? fmt::format("ended with status {}", info.si_status)
                                    : fmt::format("was killed by signal {}", info.si_status);
}

void keep_only_standard_descriptors() {
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, std::numeric_limits<unsigned>::max(), 0U) ==
      0) {
    return;
  }
  const long limit = ::sysconf(_SC_OPEN_MAX);  // kernels before 5.9
  for (int fd = STDERR_FILENO + 1; fd < limit; ++fd) {
    ::close(fd);
  }
}

}  // namespace gputrace::service
