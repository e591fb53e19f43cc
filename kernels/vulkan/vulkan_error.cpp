#include "kernels/vulkan/vulkan_error.h"

#include <fmt/format.h>

namespace gputrace::vulkan {

tl::unexpected<Error> fail_vulkan(VkResult result, std::string_view what) {
  const auto because = [&](ErrorCode code, std::string_view why) {
    return fail(code, fmt::format("{}: {}", what, why));
  };
  switch (result) {
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return because(ErrorCode::kNotFound,
                     "no Vulkan driver is installed, or none loads "
                     "(VK_ERROR_INCOMPATIBLE_DRIVER)");
    case VK_ERROR_INITIALIZATION_FAILED:
      return because(ErrorCode::kIo, "a driver could not start (VK_ERROR_INITIALIZATION_FAILED)");
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return because(ErrorCode::kNoSpace, "out of memory (VK_ERROR_OUT_OF_HOST_MEMORY)");
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return because(ErrorCode::kNoSpace, "out of GPU memory (VK_ERROR_OUT_OF_DEVICE_MEMORY)");
    case VK_ERROR_DEVICE_LOST:
      return because(ErrorCode::kIo, "the GPU was reset or is gone (VK_ERROR_DEVICE_LOST)");
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return because(ErrorCode::kUnsupported,
                     "an extension is missing (VK_ERROR_EXTENSION_NOT_PRESENT)");
    case VK_ERROR_LAYER_NOT_PRESENT:
      return because(ErrorCode::kUnsupported, "a layer is missing (VK_ERROR_LAYER_NOT_PRESENT)");
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return because(ErrorCode::kUnsupported,
                     "a feature is missing (VK_ERROR_FEATURE_NOT_PRESENT)");
    case VK_ERROR_FORMAT_NOT_SUPPORTED:
      return because(ErrorCode::kUnsupported,
                     "the format is not supported (VK_ERROR_FORMAT_NOT_SUPPORTED)");
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
      return because(ErrorCode::kUnsupported,
                     "the driver takes no such memory (VK_ERROR_INVALID_EXTERNAL_HANDLE)");
    case VK_ERROR_TOO_MANY_OBJECTS:
      return because(ErrorCode::kNoSpace, "too many objects (VK_ERROR_TOO_MANY_OBJECTS)");
    case VK_ERROR_MEMORY_MAP_FAILED:
      return because(ErrorCode::kNoSpace, "memory cannot be mapped (VK_ERROR_MEMORY_MAP_FAILED)");
    default:
      return because(ErrorCode::kIo, fmt::format("VkResult {}", static_cast<int>(result)));
  }
}

}  // namespace gputrace::vulkan
