#include "daemon/os/runtime_status.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "daemon/os/gpu_device.h"

namespace gputrace::os {

RuntimeStatus::RuntimeStatus(const std::filesystem::path& device_dir)
    : file_(::open((device_dir / "power" / "runtime_status").c_str(), O_RDONLY | O_CLOEXEC)) {}

PowerState RuntimeStatus::look() const noexcept {
  std::array<char, 16> text{};
  const ssize_t size = file_ ? ::pread(file_.get(), text.data(), text.size(), 0) : -1;
  if (size <= 0) {
    return PowerState::kUnclear;
  }
  std::string_view status(text.data(), static_cast<std::size_t>(size));
  status = status.substr(0, status.find('\n'));
  if (is_asleep(status)) {
    return PowerState::kAsleep;
  }
  return status == "active" ? PowerState::kActive : PowerState::kUnclear;
}

}  // namespace gputrace::os
