#include "cli/commands/record/recorder_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

Result<RecorderProcess> RecorderProcess::fork_recorder(const recorder::RecorderOptions& options) {
  Result<std::pair<ipc::MessageSocket, ipc::MessageSocket>> ends = ipc::MessageSocket::make_pair();
  if (!ends) {
    return tl::unexpected(ends.error());
  }
  auto& [here, there] = *ends;
  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno(errno, "cannot start the recorder process");
  }
  if (pid == 0) {
    // The other copies of both ends are closed with all else in there.
    UniqueFd socket(::fcntl(there.fd(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    recorder::run_recorder(std::move(socket), options);
  }
  return RecorderProcess(pid, std::move(here));
}

bool RecorderProcess::wait_until_gone(std::int64_t timeout_ns) const {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
  if (process) {
    pollfd ended{process.get(), POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(timeout_ns / kNsPerMs));
  }
  return ::waitpid(pid_, nullptr, WNOHANG) == pid_;
}

}  // namespace gputrace::commands
