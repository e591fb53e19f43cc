// power/runtime_status of a device, kept open: a look costs one pread and never wakes the device.
#pragma once

#include <filesystem>

#include "daemon/base/unique_fd.h"

namespace gputrace::os {

enum class PowerState {
  kActive,
  kAsleep,   ///< suspended, or on the way there or back
  kUnclear,  ///< unreadable ("the kernel has no runtime power management") or another word
};

class RuntimeStatus {
 public:
  explicit RuntimeStatus(const std::filesystem::path& device_dir);
  [[nodiscard]] PowerState look() const noexcept;

 private:
  UniqueFd file_;
};

}  // namespace gputrace::os
