// A recording that gputraced makes: its answers, and the way of the file from its shelf to the
// user. Should the daemon end meanwhile, the file is asked for again when the command has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands/record/record_options.h"
#include "cli/commands/record/recorder_link.h"
#include "cli/commands/session_copy.h"
#include "daemon/base/result.h"
#include "daemon/ipc/control_client.h"

namespace gputrace::commands {

class DaemonRecorder final : public RecorderLink {
 public:
  /// Asks for the recording; its answers come later.
  [[nodiscard]] static Result<std::unique_ptr<RecorderLink>> start(ipc::ControlClient daemon,
                                                                   const RecordOptions& options,
                                                                   SessionCopy copy);

  DaemonRecorder(ipc::ControlClient daemon, double rate_hz, SessionCopy copy)
      : daemon_(std::move(daemon)), rate_hz_(rate_hz), copy_(std::move(copy)) {}

  [[nodiscard]] int fd() const override { return daemon_.fd(); }
  [[nodiscard]] Result<std::optional<ipc::Answer>> receive() override;
  [[nodiscard]] Status stop(const ipc::StopOrder& order) override { return send(order); }
  [[nodiscard]] Status processes(const ipc::ProcessesOrder& order) override { return send(order); }
  [[nodiscard]] Status switch_gpu(const ipc::SwitchOrder& order) override { return send(order); }
  [[nodiscard]] Status point(const ipc::PointOrder& order) override { return send(order); }
  [[nodiscard]] Delivery deliver(const RecordingEnd& end) override;

 private:
  [[nodiscard]] Status send(const ipc::Request& request) const { return daemon_.send(request); }
  /// After the daemon's end: from the one that systemd has started since.
  [[nodiscard]] Result<std::filesystem::path> fetch_from_next(std::int64_t deadline_ns);
  void describe_file(const std::filesystem::path& file, Delivery& delivery) const;

  ipc::ControlClient daemon_;
  double rate_hz_;
  SessionCopy copy_;
  std::string name_;                              ///< of the session, once it is ready
  std::optional<std::int64_t> lost_realtime_ns_;  ///< when the daemon went away
};

}  // namespace gputrace::commands
