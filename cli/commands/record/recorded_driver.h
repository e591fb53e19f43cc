// Which Vulkan driver this machine has for the GPU of a recording: what a calibration is held
// against.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/sampler/gpu_identity.h"
#include "kernels/vulkan/device_list.h"

namespace gputrace::commands {

struct MachineDrivers {
  os::SystemRoots roots;
  std::function<Result<std::vector<vulkan::ListedDevice>>()> list = vulkan::list_devices;
  std::chrono::milliseconds deadline{700};  ///< drivers load in some tens of ms
};

/// "radv, Mesa 24.2.8". Vulkan's drivers run in a process of their own with the deadline. Where
/// several drivers offer the GPU it is the one that was `calibrated`, else one of its name, else
/// the first. kBusy: a GPU sleeps, which the question would wake, or no answer came in time. Call
/// it while the process has one thread.
[[nodiscard]] Result<std::string> recorded_driver(const sampler::GpuIdentity& gpu,
                                                  const std::optional<std::string>& calibrated,
                                                  const MachineDrivers& machine);

}  // namespace gputrace::commands
