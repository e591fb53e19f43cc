// The firmware's metrics table (device/gpu_metrics): all of it in one pread a sample.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "daemon/os/sensors/sensors.h"
#include "daemon/sampler/sensor_reader.h"
#include "regdb/gc_version.h"

namespace gputrace::os {

/// What a recording lacks without the table.
inline constexpr std::string_view kGpuMetricsLoss =
    "the firmware's averages: power of the rails, temperatures, clocks, activity; throttle bits";

struct OpenedGpuMetrics {
  std::unique_ptr<sampler::SensorReader> reader;  ///< null where the file can never give a table
  SourceFinding finding;
  bool is_apu = false;  ///< by the revision of the table
};

/// Reads the table once, to know its revision, units and series; so the GPU must be awake. The
/// units of a table that says nothing about them yet (an idle GPU) are decided by chip and
/// revision. After an error that may pass the reader is one for later.
[[nodiscard]] OpenedGpuMetrics open_gpu_metrics_reader(const std::filesystem::path& device_dir,
                                                       const std::optional<regdb::GcVersion>& gc);

/// Touches nothing. Its first whole table decides the series; until then it has none.
[[nodiscard]] std::unique_ptr<sampler::SensorReader> gpu_metrics_reader_for_later(
    const std::filesystem::path& device_dir, const std::optional<regdb::GcVersion>& gc);

}  // namespace gputrace::os
