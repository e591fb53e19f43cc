// Who samples: gputraced where it runs and lets us, else a process of gputrace's own.
#pragma once

#include <memory>

#include "cli/commands/record/record_options.h"
#include "cli/commands/record/recorder_link.h"
#include "cli/commands/record/recording_target.h"
#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/recorder/reader_factory.h"

namespace gputrace::commands {

/// Asks gputraced for the recording. Null: gputrace shall sample by itself, and has said why where
/// that is news. An error: the file cannot be written where the user wants it.
[[nodiscard]] Result<std::unique_ptr<RecorderLink>> ask_daemon(const RecordOptions& options,
                                                               const RecordingTarget& target,
                                                               const LogSink& log);

/// What the recorder process is to do.
[[nodiscard]] ipc::StartOrder start_order(const RecordOptions& options,
                                          const RecordingTarget& target);
/// Starts the recorder process. Call it while the process has one thread.
[[nodiscard]] Result<std::unique_ptr<RecorderLink>> start_recorder(
    const RecordOptions& options, const RecordingTarget& target,
    const recorder::ReaderFactory& open_gpu);

}  // namespace gputrace::commands
