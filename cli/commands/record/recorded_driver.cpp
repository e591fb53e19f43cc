#include "cli/commands/record/recorded_driver.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/bench/simulated_runner.h"
#include "cli/commands/calibration/vulkan_driver.h"
#include "cli/commands/doctor/isolated_call.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kFound = "+";

bool is_device(const vulkan::ListedDevice& listed, const sampler::GpuIdentity& gpu) {
  return listed.pci ? *listed.pci == gpu.pci
                    : listed.vendor_id == gpu.vendor_id && listed.device_id == gpu.device_id;
}

/// Empty where no driver offers the GPU.
std::string driver_among(const std::vector<vulkan::ListedDevice>& devices,
                         const sampler::GpuIdentity& gpu,
                         const std::optional<std::string>& calibrated) {
  const std::string wanted = calibrated.value_or("");
  std::string best;
  int best_rank = 0;
  for (const vulkan::ListedDevice& device : devices) {
    const std::string text = driver_text(device.driver, device.driver_info).value_or("");
    if (!is_device(device, gpu) || text.empty()) {
      continue;
    }
    const int rank = text == wanted ? 3 : wanted.starts_with(device.driver + ", ") ? 2 : 1;
    if (rank > best_rank) {
      best = text;
      best_rank = rank;
    }
  }
  return best;
}

Status no_gpu_sleeps(const os::SystemRoots& roots) {
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots);
  for (const os::GpuDevice& each : gpus.value_or(std::vector<os::GpuDevice>())) {
    if (os::is_asleep(each.runtime_status)) {
      return fail(ErrorCode::kBusy,
                  fmt::format("Vulkan opens every GPU, and that would wake {} ({})",
                              each.identity.name, each.identity.pci));
    }
  }
  return {};
}

}  // namespace

Result<std::string> recorded_driver(const sampler::GpuIdentity& gpu,
                                    const std::optional<std::string>& calibrated,
                                    const MachineDrivers& machine) {
  if (gpu.simulated) {
    return driver_text(kSimulatedDriver, kSimulatedDriverInfo).value_or("");
  }
  if (const Status awake = no_gpu_sleeps(machine.roots); !awake) {
    return tl::unexpected<Error>(awake.error());
  }
  const Result<std::string> answer = call_isolated(machine.deadline, [&]() -> std::string {
    const Result<std::vector<vulkan::ListedDevice>> devices = machine.list();
    if (!devices) {
      return devices.error().message;
    }
    const std::string driver = driver_among(*devices, gpu, calibrated);
    return driver.empty() ? fmt::format("no Vulkan driver offers {}", gpu.pci)
                          : std::string(kFound) + driver;
  });
  if (!answer) {
    return tl::unexpected<Error>(answer.error());
  }
  if (!answer->starts_with(kFound)) {
    return fail(ErrorCode::kNotFound, *answer);
  }
  return answer->substr(kFound.size());
}

}  // namespace gputrace::commands
