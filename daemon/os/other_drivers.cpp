#include "daemon/os/other_drivers.h"

#include <system_error>

#include "daemon/os/sysfs.h"

namespace gputrace::os {

std::vector<OtherDriver> amd_gpus_of_other_drivers(const SystemRoots& roots) {
  constexpr std::uint64_t kAmd = 0x1002;
  constexpr std::uint64_t kDisplay = 0x03;  // PCI class code, first byte
  std::vector<OtherDriver> found;
  const std::filesystem::path devices = roots.sys / "bus/pci/devices";
  for (const std::string& name : list_folder(devices)) {
    if (read_number(devices / name / "vendor", 0xffff) != kAmd ||
        read_number(devices / name / "class", 0xff'ffff).value_or(0) >> 16U != kDisplay) {
      continue;
    }
    std::error_code none;
    const std::string driver =
        std::filesystem::read_symlink(devices / name / "driver", none).filename().string();
    if (driver != "amdgpu") {
      found.push_back({name, driver});
    }
  }
  return found;
}

}  // namespace gputrace::os
