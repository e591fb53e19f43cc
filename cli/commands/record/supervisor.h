// The supervisor of `gputrace record`: parent of CMD and of the recorder. It passes signals on,
// keeps CMD's exit status, and never ends before CMD. It never opens the GPU.
#pragma once

#include "cli/commands/record/record_options.h"
#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/recorder/reader_factory.h"

namespace gputrace::commands {

/// Runs one recording from start to summary. Returns the exit status; an Error means that CMD was
/// not started. Call it while the process has one thread. `roots`: where to look for the processes
/// of the workload and the GPUs that they use.
[[nodiscard]] Result<int> record(const RecordOptions& options,
                                 const recorder::ReaderFactory& open_gpu, const LogSink& log,
                                 const os::SystemRoots& roots = {});

}  // namespace gputrace::commands
