// The recorder as its parent sees it: a process and a socket. Made before anything else happens, so
// that the supervisor never opens the GPU and has no thread when it forks.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "daemon/base/result.h"
#include "daemon/ipc/message_socket.h"
#include "daemon/recorder/recorder.h"

namespace gputrace::commands {

class RecorderProcess {
 public:
  [[nodiscard]] static Result<RecorderProcess> fork_recorder(
      const recorder::RecorderOptions& options);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] const ipc::MessageSocket& socket() const noexcept { return socket_; }

  /// Waits for the end of the process, which cannot come while one of its threads hangs in the
  /// driver. False: it is left behind.
  [[nodiscard]] bool wait_until_gone(std::int64_t timeout_ns) const;

 private:
  RecorderProcess(pid_t pid, ipc::MessageSocket socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  ipc::MessageSocket socket_;
};

}  // namespace gputrace::commands
