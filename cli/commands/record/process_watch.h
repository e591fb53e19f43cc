// The process that reads fdinfo of the workload, about twice a second. Reading it asks the driver,
// which answers late or never while a GPU hangs: so the supervisor, which passes signals on and
// ends with CMD, leaves it to this one and never waits for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/commands/record/process_tree.h"
#include "daemon/base/result.h"
#include "daemon/ipc/message.h"
#include "daemon/ipc/message_socket.h"

namespace gputrace::commands {

class ProcessWatch {
 public:
  /// Forks it. It ends with the calling process, or when this object does. Call it while the
  /// process has one thread. What the workload does in its last half second is not seen: a process
  /// that has ended has no descriptors left, and nobody is told before.
  [[nodiscard]] static Result<ProcessWatch> start(const std::filesystem::path& proc,
                                                  const TreeRoots& roots);

  [[nodiscard]] int fd() const { return socket_.fd(); }  ///< for poll(2)
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Call it when fd() is readable: processes, or a mark with the name of another driver than
  /// amdgpu that the workload uses. Absent: the process is gone.
  [[nodiscard]] std::optional<ipc::Order> receive() const;

 private:
  ProcessWatch(pid_t pid, ipc::MessageSocket socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  ipc::MessageSocket socket_;
};

/// How long to wait until the next look, the `count`th (from 1), when the last one cost `cost_ns`
/// of CPU time: half a second, less at first for commands that end soon, more when looks are dear
/// (1 % of a core at most).
[[nodiscard]] std::int64_t next_look_ns(unsigned count, std::int64_t cost_ns);

}  // namespace gputrace::commands
