// What the sensors of the rig's GPU show: those of the simulated GPU, on CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/simulated_sensors.h"
#include "tests/rig/gpu_model.h"

namespace gputrace::rig {

struct RigSensors {
  std::shared_ptr<const simulated_gpu::SimulatedSensors> model;
  std::int64_t begin_ns = 0;  ///< of the scenario
  /// Share of [begin_ns, end_ns) in which GUI_ACTIVE is set, where the words are not the model's.
  std::function<double(std::int64_t begin_ns, std::int64_t end_ns)> activity;

  [[nodiscard]] simulated_gpu::SensorValues at(std::int64_t now_ns) const {
    simulated_gpu::SensorValues values = model->at(now_ns - begin_ns);
    if (activity) {
      values.gfx_activity = activity(now_ns - simulated_gpu::kFirmwareWindowNs, now_ns);
    }
    return values;
  }
};

/// A GPU at rest: of the simulated model of that name, else of one that is as this one an APU or a
/// card.
[[nodiscard]] Result<std::shared_ptr<RigSensors>> idle_sensors(const GpuModel& gpu);

}  // namespace gputrace::rig
