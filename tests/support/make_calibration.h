// Session files with known workloads in them: marks, samples and results that belong together. Link
// gputrace_store.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/make_results.h"
#include "tests/support/make_session.h"

namespace gputrace::test {

/// A second of one workload. GUI_ACTIVE is busy all the time, EA_BUSY for a share of it.
struct WorkloadRecipe {
  std::string test = "calibration.sweep";
  std::string unit = "GFLOPS";
  std::string label = "sweep.n4.g256";
  double median = 73;
  double flops = 128;  ///< a thread
  std::optional<double> dram_bytes = 128;
  double footprint_bytes = 1 << 30;
  double ea_busy = 0.9;
  store::ResultStatus status = store::ResultStatus::kOk;
  std::optional<std::string> stimulus = std::nullopt;  ///< in place of one made of the above
};

struct CalibrationRecipe {
  store::SessionKind kind = store::SessionKind::kCalibration;
  std::vector<WorkloadRecipe> workloads = {};
  std::int64_t started_realtime_ns = 1'790'000'000'000'000'000;
  std::string gpu_name = "AMD Radeon 780M";
  std::uint16_t device_id = 0x15bf;
  std::optional<double> clock_mhz = 2600;
  std::optional<double> power_w = 35;
  std::string driver = "radv";
  /// Of a recording: what `record` found; absent = nothing.
  std::optional<std::string> driver_info = "Mesa 24.2.8";
  bool samples = true;
  bool marks = true;
};

inline constexpr std::int64_t kCalibrationStartNs = 1'000'000'000'000;

/// Of a sweep of two points, one at each ceiling, and a chase: the ridge is at 64 FLOP/B.
inline std::vector<WorkloadRecipe> some_workloads() {
  WorkloadRecipe chase;
  chase.test = "calibration.chase";
  chase.unit = "GB/s";
  chase.label = "latency.vector.c1.65536KiB";
  chase.median = 0.3;
  chase.flops = 0;
  chase.ea_busy = 0.6;
  WorkloadRecipe compute;
  compute.label = "sweep.n1024.g64";
  compute.median = 4672;
  compute.flops = 32768;
  compute.ea_busy = 0.4;
  return {WorkloadRecipe{}, compute, chase};
}

namespace calibration {

inline std::string begin_text(const WorkloadRecipe& workload) {
  const std::string dram =
      workload.dram_bytes ? ",\"dram_bytes\":" + std::to_string(*workload.dram_bytes) : "";
  const std::string stimulus = workload.stimulus.value_or(
      "{\"kernel\":\"k\",\"threads\":1000,\"group_threads\":256,\"flops\":" +
      std::to_string(workload.flops) +
      ",\"footprint_bytes\":" + std::to_string(workload.footprint_bytes) + dram + "}");
  return "{\"label\":\"" + workload.label + "\",\"stimulus\":" + stimulus + "}";
}

inline store::ResultRun results_of(const CalibrationRecipe& recipe) {
  store::ResultRun run;
  run.device = recipe.gpu_name;
  run.driver = recipe.driver;
  run.driver_info = recipe.driver_info.value_or("");
  run.started_at = "2026-09-21T14:13:20Z";
  for (std::size_t i = 0; i < recipe.workloads.size(); ++i) {
    const WorkloadRecipe& workload = recipe.workloads[i];
    store::ResultPoint point = point_of(1, workload.median);
    point.status = workload.status;
    point.start_ns = kCalibrationStartNs + static_cast<std::int64_t>(i) * kNsPerSecond + 1000;
    point.end_ns = *point.start_ns + kNsPerSecond - 2000;
    if (workload.status == store::ResultStatus::kSkipped) {
      point.median = point.p5 = point.p95 = std::nullopt;
    }
    store::ResultTest& test = run.tests.emplace_back();
    test.name = workload.test;
    test.unit = workload.unit;
    test.series = {{"series", {point}}};
  }
  return run;
}

inline Status write_samples(const CalibrationRecipe& recipe, store::SessionWriter& writer) {
  SessionRecipe samples;
  samples.registers = {"GRBM_STATUS", "GRBM_STATUS2"};
  samples.start_ns = kCalibrationStartNs;
  samples.gpu_name = recipe.gpu_name;
  samples.simulated = false;
  samples.word = [&](std::size_t reg, std::size_t tick) -> std::uint32_t {
    constexpr std::uint32_t kGuiActive = 1U << 31U;
    constexpr std::uint32_t kEaBusy = 1U << 16U;
    const double busy = recipe.workloads[tick / 1000].ea_busy;
    return reg == 0 ? kGuiActive : static_cast<double>(tick % 100) < 100 * busy ? kEaBusy : 0;
  };
  store::SegmentDescription segment = segment_of(samples);
  segment.gpu.pci = "0000:c4:00.0";
  segment.gpu.vendor_id = 0x1002;
  segment.gpu.device_id = recipe.device_id;
  Status status = writer.begin_segment(segment);
  for (std::size_t i = 0; status && i < recipe.workloads.size(); ++i) {
    status = writer.write_block(block_of(samples, i * 1000, (i + 1) * 1000));
  }
  return status;
}

inline Status write_sensor(store::SessionWriter& writer, const std::string& name,
                           const std::string& unit, const std::optional<double>& value,
                           std::size_t seconds) {
  if (!value) {
    return {};
  }
  store::SensorSource source;
  source.name = "hwmon " + name;
  source.gpu_pci = "0000:c4:00.0";
  sampler::SensorDescription sensor;
  sensor.name = name;
  sensor.unit = unit;
  source.sensors = {sensor};
  const auto defined = writer.define_sensor_source(source);
  if (!defined) {
    return tl::unexpected<Error>(defined.error());
  }
  const std::int64_t end_ns =
      kCalibrationStartNs + static_cast<std::int64_t>(seconds) * kNsPerSecond;
  return writer.write_sensor_run(
      defined->series[0],
      {kCalibrationStartNs, end_ns, static_cast<std::uint32_t>(10 * seconds), *value});
}

inline Status write_marks(const CalibrationRecipe& recipe, store::SessionWriter& writer) {
  Status status;
  for (std::size_t i = 0; status && recipe.marks && i < recipe.workloads.size(); ++i) {
    const std::int64_t begin_ns = kCalibrationStartNs + static_cast<std::int64_t>(i) * kNsPerSecond;
    status = writer.write_event({begin_ns, "point_begin", begin_text(recipe.workloads[i])});
    if (status) {
      status = writer.write_event({begin_ns + kNsPerSecond - 500, "point_end",
                                   "{\"label\":\"" + recipe.workloads[i].label + "\"}"});
    }
  }
  return status;
}

}  // namespace calibration

/// Writes the whole file and returns what the first failing step says.
inline Status make_calibration(const std::filesystem::path& path, const CalibrationRecipe& recipe) {
  store::SessionDescription description;
  description.kind = recipe.kind;
  description.started =
      TimeAnchor{kCalibrationStartNs, kCalibrationStartNs, recipe.started_realtime_ns};
  {
    auto writer = store::SessionWriter::create(path, store::OnExisting::kReplace, description);
    if (!writer) {
      return tl::unexpected<Error>(writer.error());
    }
    const std::size_t seconds = recipe.workloads.size();
    Status status = recipe.samples ? calibration::write_samples(recipe, *writer) : Status();
    status = status ? calibration::write_marks(recipe, *writer) : status;
    status = status
                 ? calibration::write_sensor(*writer, "gfx_clock", "MHz", recipe.clock_mhz, seconds)
                 : status;
    status = status
                 ? calibration::write_sensor(*writer, "package_power", "W", recipe.power_w, seconds)
                 : status;
    if (!status) {
      return status;
    }
    const std::int64_t end_ns =
        kCalibrationStartNs + static_cast<std::int64_t>(seconds) * kNsPerSecond;
    if (const auto finished = writer->finish({end_ns, std::nullopt, std::nullopt}); !finished) {
      return tl::unexpected<Error>(finished.error());
    }
  }
  std::array runs{calibration::results_of(recipe)};
  if (recipe.kind == store::SessionKind::kRecording) {
    runs.front().tests.clear();
  }
  return recipe.kind == store::SessionKind::kRecording && !recipe.driver_info
             ? Status()
             : store::append_results(path, runs);
}

}  // namespace gputrace::test
