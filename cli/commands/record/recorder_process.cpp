#include "cli/commands/record/recorder_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <variant>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

namespace {

constexpr std::int64_t kGoneNs = 40 * kNsPerMs;

}  // namespace

Result<std::unique_ptr<RecorderProcess>> RecorderProcess::fork(
    const recorder::RecorderOptions& options) {
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
  return std::make_unique<RecorderProcess>(pid, std::move(here));
}

Status RecorderProcess::start(const ipc::StartOrder& order) {
  file_ = order.file;
  return send(order);
}

Result<std::optional<ipc::Answer>> RecorderProcess::receive() {
  Result<std::optional<ipc::Answer>> answer = socket_.receive_answer();
  if (!answer) {
    return answer;
  }
  const std::optional<ipc::Answer>& received = *answer;
  if (received) {
    if (const auto* ready = std::get_if<ipc::ReadyAnswer>(&*received)) {
      file_ = ready->file;
    }
  }
  return answer;
}

Delivery RecorderProcess::deliver(const RecordingEnd& end) {
  Delivery delivery;
  if (const auto& closed = end.closed) {
    delivery.file = closed->file;
    delivery.still_wal = closed->still_wal;
    // Nobody should find a recorder running after gputrace has ended, unless it hangs.
    [[maybe_unused]] const bool gone = wait_until_gone(kGoneNs);
  } else if (!end.open) {
    delivery.warnings.push_back(
        fmt::format("the recorder process was ended by something else; {} holds all but the last "
                    "seconds before that",
                    file_));
  } else {
    delivery.warnings.push_back(
        fmt::format("the recorder has not closed {} within 3 s; it is left to do so alone", file_));
  }
  return delivery;
}

/// Waits for the end of the process, which cannot come while one of its threads hangs in the
/// driver. False: it is left behind.
bool RecorderProcess::wait_until_gone(std::int64_t timeout_ns) const {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
  if (process) {
    pollfd ended{process.get(), POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(timeout_ns / kNsPerMs));
  }
  return ::waitpid(pid_, nullptr, WNOHANG) == pid_;
}

}  // namespace gputrace::commands
