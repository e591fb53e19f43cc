// Runs kernels on a Vulkan device.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/bench/runner.h"

namespace gputrace::bench {

/// `device` and `validate` as vulkan::Device::open() takes them.
[[nodiscard]] Result<std::unique_ptr<Runner>> open_vulkan_runner(std::string_view device,
                                                                 bool validate);

/// Compiles a case without its memory, for devices that only compile. Errors as of
/// Runner::prepare(); kUnsupported also where the driver does not show its code.
[[nodiscard]] Result<std::vector<vulkan::Executable>> compile(vulkan::Device& device,
                                                              const KernelCase& kernel);

}  // namespace gputrace::bench
