// AMD's GPUs that amdgpu does not drive: why `gputrace gpus` may be empty.
#pragma once

#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"

namespace gputrace::os {

struct OtherDriver {
  std::string pci;     ///< "0000:03:00.0"
  std::string driver;  ///< "radeon", "vfio-pci"; empty = none
};
/// Display controllers of vendor 0x1002 on the PCI bus with another driver than amdgpu.
[[nodiscard]] std::vector<OtherDriver> amd_gpus_of_other_drivers(const SystemRoots& roots);

}  // namespace gputrace::os
