#include "tests/rig/rig_sensors.h"

#include <string>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/simulation.h"

namespace gputrace::rig {

Result<std::shared_ptr<RigSensors>> idle_sensors(const GpuModel& gpu) {
  const std::string kind = gpu.apu ? "780m" : "rx7600";
  const bool is_simulated = simulated_gpu::find_simulated_model(gpu.key) != nullptr;
  auto simulation = simulated_gpu::Simulation::open(
      "sim:" + (is_simulated ? std::string(gpu.key) : kind) + ":idle",
      regdb::RegisterDatabase::built_in(), {});
  if (!simulation) {
    return tl::unexpected(simulation.error());
  }
  auto sensors = std::make_shared<RigSensors>();
  sensors->model = std::make_shared<const simulated_gpu::SimulatedSensors>(
      std::make_shared<const simulated_gpu::Simulation>(std::move(*simulation)));
  sensors->begin_ns = monotonic_now_ns();
  return sensors;
}

}  // namespace gputrace::rig
