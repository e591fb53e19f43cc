// The sensors of the simulated GPU and its machine as the slow loop reads them, under the names
// that the real ones have.
#pragma once

#include <memory>
#include <vector>

#include "daemon/sampler/sensor_reader.h"
#include "daemon/simulated_gpu/scenario_clock.h"
#include "daemon/simulated_gpu/simulated_sensors.h"

namespace gputrace::simulated_gpu {

using SensorReaders = std::vector<std::unique_ptr<sampler::SensorReader>>;

/// gpu_metrics, and the files of hwmon and of the device.
[[nodiscard]] SensorReaders make_gpu_sensor_readers(
    const std::shared_ptr<const SimulatedSensors>& sensors,
    const std::shared_ptr<const ScenarioClock>& clock);

/// Of an APU's machine: temperature and energy of the processor, DRAM traffic. None for a card:
/// what it does is not the processor's.
[[nodiscard]] SensorReaders make_machine_sensor_readers(
    const std::shared_ptr<const SimulatedSensors>& sensors,
    const std::shared_ptr<const ScenarioClock>& clock);

}  // namespace gputrace::simulated_gpu
