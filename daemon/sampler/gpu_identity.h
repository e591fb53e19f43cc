// Which GPU a recording speaks of. Plain data, filled by daemon/os or daemon/simulated_gpu.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "regdb/gc_version.h"

namespace gputrace::sampler {

/// A GPU is told from another by PCI address and ids, never by card number: those swap at boot.
struct GpuIdentity {
  std::string name;                        ///< "AMD Radeon 780M Graphics", else "AMD GPU (Phoenix)"
  std::optional<regdb::GcVersion> gc;      ///< absent for imports that do not say
  std::string pci;                         ///< "0000:c4:00.0"; empty for simulated and imported
  std::optional<std::uint16_t> vendor_id;  ///< 0x1002
  std::optional<std::uint16_t> device_id;
  std::optional<std::uint8_t> revision_id;
  std::string driver;  ///< kernel driver and version where known
  bool simulated = false;
  std::string scenario;  ///< of a simulated GPU
};

}  // namespace gputrace::sampler
