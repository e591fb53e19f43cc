// The recorder as its parent sees it: a process and a socket. Made before anything else happens, so
// that the supervisor never opens the GPU and has no thread when it forks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cli/commands/record/recorder_link.h"
#include "daemon/base/result.h"
#include "daemon/ipc/message_socket.h"
#include "daemon/recorder/recorder.h"

namespace gputrace::commands {

class RecorderProcess final : public RecorderLink {
 public:
  /// Forks the recorder, which waits for its order and ends when this object does.
  [[nodiscard]] static Result<std::unique_ptr<RecorderProcess>> fork(
      const recorder::RecorderOptions& options);

  RecorderProcess(pid_t pid, ipc::MessageSocket socket) : pid_(pid), socket_(std::move(socket)) {}

  /// Once. Its answers come later.
  [[nodiscard]] Status start(const ipc::StartOrder& order);

  [[nodiscard]] int fd() const override { return socket_.fd(); }
  [[nodiscard]] Result<std::optional<ipc::Answer>> receive() override;
  [[nodiscard]] Status stop(const ipc::StopOrder& order) override { return send(order); }
  [[nodiscard]] Status processes(const ipc::ProcessesOrder& order) override { return send(order); }
  [[nodiscard]] Status switch_gpu(const ipc::SwitchOrder& order) override { return send(order); }
  [[nodiscard]] Status point(const ipc::PointOrder& order) override { return send(order); }
  [[nodiscard]] Delivery deliver(const RecordingEnd& end) override;

 private:
  [[nodiscard]] Status send(const ipc::Order& order) const { return socket_.send(order); }
  [[nodiscard]] bool wait_until_gone(std::int64_t timeout_ns) const;

  pid_t pid_;
  ipc::MessageSocket socket_;
  std::string file_;
};

}  // namespace gputrace::commands
