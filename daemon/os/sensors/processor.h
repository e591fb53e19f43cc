// Which processor the machine has: what its counters mean hangs on that.
#pragma once

#include <optional>
#include <string>

#include "daemon/os/gpu_device.h"

namespace gputrace::os {

struct Processor {
  std::string vendor;  ///< "AuthenticAMD"
  std::string name;    ///< "AMD Ryzen 7 7840HS w/ Radeon 780M Graphics"; may be empty
  unsigned family = 0;
  unsigned model = 0;
};

/// Of the first CPU, from <proc>/cpuinfo, else <sys>/devices/system/cpu/modalias; absent when
/// neither can be read and understood.
[[nodiscard]] std::optional<Processor> read_processor(const SystemRoots& roots);

}  // namespace gputrace::os
