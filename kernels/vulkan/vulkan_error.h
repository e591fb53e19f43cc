// The only place where a VkResult becomes an Error.
#pragma once

#include <volk.h>

#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::vulkan {

/// "`what`: VK_ERROR_... (what that means)".
[[nodiscard]] tl::unexpected<Error> fail_vulkan(VkResult result, std::string_view what);

}  // namespace gputrace::vulkan
