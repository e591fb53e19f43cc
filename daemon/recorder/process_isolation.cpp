#include "daemon/recorder/process_isolation.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <limits>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::recorder {

namespace {

// The recorder ends when it is told to or its socket closes, never by one of these: a Ctrl-C meant
// for the workload would cut the file. So would a limit meant for the workload; with SIGXFSZ
// ignored a write over RLIMIT_FSIZE fails with EFBIG, and the recording ends as on a full disk.
constexpr std::array<int, 12> kIgnored{SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1, SIGUSR2,
                                       SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ, SIGXCPU};

void close_range(unsigned first, unsigned last) {
  if (first > last) {
    return;
  }
  if (::syscall(SYS_close_range, first, last, 0U) == 0) {
    return;
  }
  const long limit = ::sysconf(_SC_OPEN_MAX);  // kernels before 5.9
  for (unsigned fd = first; fd <= last && static_cast<long>(fd) < limit; ++fd) {
    ::close(static_cast<int>(fd));
  }
}

}  // namespace

void isolate_process(int keep_fd) {
  for (const int number : kIgnored) {
    ::signal(number, SIG_IGN);
  }
  // A stop or kill of the whole process group is meant for the workload. Fails only for a group
  // leader, which a forked process is not.
  ::setsid();
  ::prctl(PR_SET_NAME, "gputrace-record");
  GPUTRACE_CHECK(keep_fd > STDERR_FILENO);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null) {
      ::dup2(null.get(), fd);
    } else {
      ::close(fd);
    }
  }
  const auto keep = static_cast<unsigned>(keep_fd);
  close_range(STDERR_FILENO + 1, keep - 1);
  close_range(keep + 1, std::numeric_limits<unsigned>::max());
}

}  // namespace gputrace::recorder
