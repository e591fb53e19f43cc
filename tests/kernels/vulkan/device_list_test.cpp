#include "kernels/vulkan/device_list.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/in_child.h"

namespace gputrace::vulkan {

namespace {

/// In a child: drivers leave threads and memory behind that are not ours. "none: REASON" without a
/// loader or driver, else the first device that misses something, else "complete".
std::string look() {
  const auto devices = list_devices();
  if (!devices) {
    return (devices.error().code == ErrorCode::kNotFound ? "none: " : "failed: ") +
           devices.error().message;
  }
  for (const ListedDevice& device : *devices) {
    const bool has_version = device.api_version.starts_with("1.");
    if (device.name.empty() || device.type.empty() || !has_version || device.vendor_id == 0) {
      return "incomplete: " + device.name;
    }
  }
  return "complete";
}

}  // namespace

TEST_CASE("Vulkan devices have a name, a kind, a version and a vendor") {
  const std::string found = test::in_child(look);
  if (found.starts_with("none: ")) {
    MESSAGE("skipped: ", found);
    return;
  }
  CHECK(found == "complete");
}

TEST_CASE("without a driver there are no Vulkan devices, and the reason is told") {
  const std::string found = test::in_child([] {
    for (const char* name : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"}) {
      ::setenv(name, "/nonexistent/driver.json", 1);
    }
    return look();
  });
  const bool is_told = found.find("no Vulkan driver is installed") != std::string::npos ||
                       found.find("the Vulkan loader (libvulkan.so.1)") != std::string::npos;
  CHECK_MESSAGE(is_told, found);
  CHECK(found.starts_with("none: "));
}

}  // namespace gputrace::vulkan
