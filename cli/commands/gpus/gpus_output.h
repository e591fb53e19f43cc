// What `gputrace gpus` prints, as plain data and as text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/sampler/register_reader.h"
#include "daemon/simulated_gpu/simulated_gpu.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

struct ListedGpu {
  os::GpuDevice device;
  std::optional<std::string> table;  ///< of the register database
  std::string unsupported;           ///< why there is none; empty where the GC version is unknown
  /// What a recording by this user reads now, with sources; absent when the GPU was not opened.
  std::optional<std::vector<sampler::OfferedRegister>> readable;
  std::string not_opened;               ///< why, then
  std::vector<std::string> needs_root;  ///< in the table, but not for unprivileged programs
  std::vector<std::string> notes;
};

/// Opens the GPU as a recording would, unless it is asleep, to learn what sysfs does not say.
[[nodiscard]] ListedGpu inspect_gpu(os::GpuDevice device, const regdb::RegisterDatabase& regdb,
                                    const os::SystemRoots& roots);

[[nodiscard]] std::string gpus_to_text(std::span<const ListedGpu> gpus);
[[nodiscard]] std::string gpus_to_json(std::span<const ListedGpu> gpus);

using SimulatedGpus = std::span<const simulated_gpu::SimulatedGpuListing>;
[[nodiscard]] std::string simulated_gpus_to_text(SimulatedGpus gpus);
[[nodiscard]] std::string simulated_gpus_to_json(SimulatedGpus gpus);

}  // namespace gputrace::commands
