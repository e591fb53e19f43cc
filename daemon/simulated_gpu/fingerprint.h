// Names a signal by everything it was computed from, so that a kept tape is used only for the same
// model, GPU, workload and options.
#pragma once

#include <cstdint>

#include "daemon/simulated_gpu/steady_signal.h"

namespace gputrace::simulated_gpu {

/// Raise when the network's rules change: tapes computed by the old ones are then not used.
inline constexpr std::uint64_t kModelVersion = 5;

[[nodiscard]] std::uint64_t fingerprint(const GpuDescription& gpu, const Workload& workload,
                                        const SignalOptions& options);

}  // namespace gputrace::simulated_gpu
