// The simulated GPU as the rest of the program sees it: a RegisterReader on a queueing model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/sampler/gpu_identity.h"
#include "daemon/sampler/register_reader.h"
#include "daemon/sampler/sensor_reader.h"
#include "daemon/simulated_gpu/simulated_sensors.h"
#include "regdb/register_database.h"

namespace gputrace::simulated_gpu {

struct OpenedSimulation {
  sampler::GpuIdentity identity;
  std::unique_ptr<sampler::RegisterReader> reader;
  std::vector<std::unique_ptr<sampler::SensorReader>> sensors;          ///< of the GPU
  std::vector<std::unique_ptr<sampler::SensorReader>> machine_sensors;  ///< of the whole machine
  std::shared_ptr<const SimulatedSensors> truth;  ///< what the sensors show, exactly
  /// From the call's return on the GPU runs what the stimulus (stimulus.h) says, again and again;
  /// an empty text gives it back to its scenario. A stimulus that is refused changes nothing. May
  /// take 0.3 s; from one thread at a time, beside those that read.
  std::function<Status(std::string_view stimulus)> play;
  double load_seconds = 0;  ///< building the tapes, or reading them from the cache
  bool loaded_from_cache = false;
};

/// `argument` is what follows `--gpu`: "sim:780m", "sim:780m:game", "sim:780m:FILE.json".
/// `cache_folder` empty = no cache. `start_ns`: CLOCK_MONOTONIC at which the scenario begins,
/// absent = with the first read, however long loading took; it repeats from its start when it has
/// ended.
[[nodiscard]] Result<OpenedSimulation> open_simulated_gpu(std::string_view argument,
                                                          const regdb::RegisterDatabase& regdb,
                                                          const std::filesystem::path& cache_folder,
                                                          std::optional<std::int64_t> start_ns);

[[nodiscard]] bool is_simulated_argument(std::string_view argument);
/// "sim:780m:bench" for "sim:780m": idle but for what is played. One that names a scenario stays.
[[nodiscard]] std::string with_bench_scenario(std::string_view argument);

struct SimulatedGpuListing {
  std::string argument;  ///< "sim:780m:demo"
  std::string gpu_name;
  std::string description;  ///< of the scenario, one line
  double length_s = 0;
};
[[nodiscard]] std::vector<SimulatedGpuListing> list_simulated_gpus();

}  // namespace gputrace::simulated_gpu
