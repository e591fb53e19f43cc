// Which devices Vulkan offers on this machine, and through which drivers. Plain data: who includes
// this needs no Vulkan header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::vulkan {

struct ListedDevice {
  std::string name;         ///< "AMD Radeon 780M (RADV GFX1103_R1)"
  std::string type;         ///< "integrated GPU", "discrete GPU", "virtual GPU", "CPU", "other"
  std::string driver;       ///< "radv"; empty where the driver does not say
  std::string driver_info;  ///< "Mesa 24.2.8"; likewise
  std::string api_version;  ///< "1.3.289"
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::optional<std::string> pci;  ///< "0000:c4:00.0", where VK_EXT_pci_bus_info is offered
};

/// In the loader's order; empty when drivers load and find no device. Runs the drivers' code in
/// this process and may wake every GPU.
[[nodiscard]] Result<std::vector<ListedDevice>> list_devices();

}  // namespace gputrace::vulkan
