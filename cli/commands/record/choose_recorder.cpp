#include "cli/commands/record/choose_recorder.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/commands/daemon_connection.h"
#include "cli/commands/record/daemon_recorder.h"
#include "cli/commands/record/recorder_process.h"
#include "cli/commands/session_copy.h"
#include "cli/report/terminal_text.h"
#include "daemon/simulated_gpu/simulated_gpu.h"

namespace gputrace::commands {

namespace {

/// A name that we made up may be taken by a recording that begins at the same time.
ipc::OnExisting on_existing(const RecordOptions& options) {
  if (!options.output) {
    return ipc::OnExisting::kNumber;
  }
  return options.force ? ipc::OnExisting::kReplace : ipc::OnExisting::kRefuse;
}

std::string without_daemon(const Error& error) {
  // That it is not installed needs no explanation each time.
  const std::string why = error.code == ErrorCode::kNotFound && !daemon_is_installed()
                              ? "it is not installed"
                              : error.message;
  return fmt::format("recording without gputraced: {}", report::escape_for_terminal(why, false));
}

}  // namespace

Result<std::unique_ptr<RecorderLink>> ask_daemon(const RecordOptions& options,
                                                 const RecordingTarget& target,
                                                 const LogSink& log) {
  // Under sudo the file and CMD are another user's than the one that the daemon would see.
  if (options.no_daemon || target.user || simulated_gpu::is_simulated_argument(options.gpu)) {
    return std::unique_ptr<RecorderLink>();
  }
  Result<ipc::ControlClient> daemon = connect_to_daemon();
  if (!daemon) {
    if (!options.quiet) {
      log(LogLevel::kInfo, without_daemon(daemon.error()));
    }
    return std::unique_ptr<RecorderLink>();
  }
  if (const Status status = target.before_file(); !status) {
    return tl::unexpected(status.error());
  }
  Result<SessionCopy> copy = SessionCopy::prepare(target.file, on_existing(options));
  if (!copy) {
    return tl::unexpected(copy.error());
  }
  Result<std::unique_ptr<RecorderLink>> link =
      DaemonRecorder::start(std::move(*daemon), options, std::move(*copy));
  if (!link) {
    log(LogLevel::kWarning, without_daemon(link.error()));
    return std::unique_ptr<RecorderLink>();
  }
  return link;
}

ipc::StartOrder start_order(const RecordOptions& options, const RecordingTarget& target) {
  ipc::StartOrder order;
  order.gpu = options.gpu;
  order.source = options.source;
  order.rate_hz = options.rate_hz;
  order.sensor_rate_hz = options.sensor_rate_hz;
  order.purpose = options.purpose;
  order.file = target.file.string();
  order.on_existing = on_existing(options);
  order.label = options.label;
  if (options.command) {
    order.command = ipc::shorten_command(*options.command);
  }
  return order;
}

Result<std::unique_ptr<RecorderLink>> start_recorder(const RecordOptions& options,
                                                     const RecordingTarget& target,
                                                     const recorder::ReaderFactory& open_gpu) {
  Result<std::unique_ptr<RecorderProcess>> process =
      RecorderProcess::fork({open_gpu, target.before_file});
  if (!process) {
    return tl::unexpected(process.error());
  }
  if (const Status started = (*process)->start(start_order(options, target)); !started) {
    return tl::unexpected(started.error());
  }
  return std::unique_ptr<RecorderLink>(std::move(*process));
}

}  // namespace gputrace::commands
