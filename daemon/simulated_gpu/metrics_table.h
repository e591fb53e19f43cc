// The firmware's metrics table (gpu_metrics) of the simulated GPU, byte for byte as its driver
// would give it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/simulated_gpu/simulated_sensors.h"
#include "regdb/gpu_metrics.h"

namespace gputrace::simulated_gpu {

/// 2.1 of an APU (smu_v13_0_4_ppt.c), 1.3 of a card (smu_v13_0_7_ppt.c).
[[nodiscard]] const regdb::MetricsLayout& metrics_layout_of(const SimulatedModel& model);

/// Fills layout.size bytes; fields that the driver leaves out are all ones. `boot_ns` is
/// CLOCK_BOOTTIME. Any layout of format 1 to 3. Allocates nothing.
void write_metrics_table(const regdb::MetricsLayout& layout, const SensorValues& values,
                         std::int64_t boot_ns, std::span<std::byte> table) noexcept;

}  // namespace gputrace::simulated_gpu
