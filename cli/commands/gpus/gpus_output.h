// What `gputrace gpus` prints, as plain data and as text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/simulated_gpu/simulated_gpu.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

struct ListedGpu {
  os::GpuDevice device;
  std::optional<std::string> table;  ///< of the register database
  std::string unsupported;           ///< why there is none; empty where the GC version is unknown
  /// What a recording reads now; absent when the render node was not opened.
  std::optional<std::vector<std::string>> readable;
  std::string not_opened;               ///< why, then
  std::vector<std::string> needs_root;  ///< in the table, but not for unprivileged programs
  std::vector<std::string> notes;
};

/// Opens the render node, unless the device is asleep, to learn what sysfs does not say.
[[nodiscard]] ListedGpu inspect_gpu(os::GpuDevice device, const regdb::RegisterDatabase& regdb);

[[nodiscard]] std::string gpus_to_text(std::span<const ListedGpu> gpus);
[[nodiscard]] std::string gpus_to_json(std::span<const ListedGpu> gpus);

using SimulatedGpus = std::span<const simulated_gpu::SimulatedGpuListing>;
[[nodiscard]] std::string simulated_gpus_to_text(SimulatedGpus gpus);
[[nodiscard]] std::string simulated_gpus_to_json(SimulatedGpus gpus);

}  // namespace gputrace::commands
