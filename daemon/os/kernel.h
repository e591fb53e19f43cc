// What the running kernel allows: its version and its lockdown mode.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"

namespace gputrace::os {

struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};

/// "6.12.9-amd64" gives 6.12; absent for what does not begin with two numbers.
[[nodiscard]] std::optional<KernelVersion> parse_kernel_release(std::string_view release);
/// From uname(2).
[[nodiscard]] Result<KernelVersion> running_kernel();

/// "integrity" or "confidentiality"; absent when the kernel is not locked down, or does not say.
[[nodiscard]] std::optional<std::string> lockdown_mode(const SystemRoots& roots);

}  // namespace gputrace::os
