// How the recorder gets its GPU: main passes this in, so that gputraced links no simulation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/sampler/gpu_identity.h"
#include "daemon/sampler/register_reader.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::recorder {

struct GpuRequest {
  std::string gpu;     ///< argument of --gpu; empty = the default GPU
  std::string source;  ///< "auto", "drm", "debugfs" or "bar"
};

struct OpenedGpu {
  sampler::GpuIdentity identity;
  std::string regdb_table;
  std::unique_ptr<sampler::RegisterReader> reader;
  std::vector<std::unique_ptr<sampler::SensorReader>> sensors;          ///< of this GPU
  std::vector<std::unique_ptr<sampler::SensorReader>> machine_sensors;  ///< of the whole machine
  /// False while the GPU sleeps; asking wakes nothing. Empty = it is always awake.
  std::function<bool()> is_awake;
  /// It sleeps, and nothing of it was opened: the reader is over once somebody has woken it.
  bool is_asleep = false;
  /// Of a simulated GPU: makes it do what the JSON of a bench mark describes (docs/protocol.md),
  /// from the return of the call on; an empty text ends it. Empty for a real GPU.
  std::function<Status(std::string_view stimulus)> play;
  std::vector<std::string> notes;  ///< worth telling the user: what a better source would add
  double load_seconds = 0;         ///< of a simulated GPU
};

using ReaderFactory = std::function<Result<OpenedGpu>(const GpuRequest&)>;

}  // namespace gputrace::recorder
