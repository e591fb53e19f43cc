// Which of the listed devices a person means.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "daemon/base/result.h"
#include "kernels/vulkan/device_list.h"

namespace gputrace::vulkan {

/// The place in `devices`. `choice` as in Device::open. kNotFound and kInvalidArgument (two names
/// fit) list the devices.
[[nodiscard]] Result<std::size_t> choose_device(std::span<const ListedDevice> devices,
                                                std::string_view choice);

}  // namespace gputrace::vulkan
