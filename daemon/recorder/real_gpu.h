// The way from a request to a real GPU's registers: the same for gputrace and for gputraced.
#pragma once

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/recorder/reader_factory.h"

namespace gputrace::recorder {

/// Finds the GPU that the request selects and opens the best of its sources; of one that sleeps
/// nothing is opened. kNotFound without a GPU; may be called again after an unplug or a sleep.
[[nodiscard]] Result<OpenedGpu> open_real_gpu(const GpuRequest& request,
                                              const os::SystemRoots& roots);

}  // namespace gputrace::recorder
