// Runs kernels on a Vulkan device.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/bench/runner.h"

namespace gputrace::bench {

/// `device` and `validate` as vulkan::Device::open() takes them.
[[nodiscard]] Result<std::unique_ptr<Runner>> open_vulkan_runner(std::string_view device,
                                                                 bool validate);

}  // namespace gputrace::bench
