#include "kernels/vulkan/acceleration_structure.h"

#include <doctest/doctest.h>

#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

TEST_CASE("triangles are searched where ray queries are offered, and refused by name elsewhere") {
  auto device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const TriangleMesh one{.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .indices = {0, 1, 2}};
  const auto made = device->create_acceleration_structure(one);
  if (!device->facts().ray_query) {
    REQUIRE_FALSE(made);
    CHECK(made.error().code == ErrorCode::kUnsupported);
    CHECK(made.error().message.find("VK_KHR_ray_query") != std::string::npos);
    MESSAGE("building not run: ", made.error().message);
    return;
  }
  REQUIRE_MESSAGE(made, made.error().message);
  CHECK(made->bytes() > 0);
  for (const TriangleMesh& broken :
       {TriangleMesh{}, TriangleMesh{.vertices = one.vertices, .indices = {0, 1, 3}},
        TriangleMesh{.vertices = one.vertices, .indices = {0, 1}},
        TriangleMesh{.vertices = {0, 0, 0, 1}, .indices = {0, 1, 1}}}) {
    const auto refused = device->create_acceleration_structure(broken);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::kInvalidArgument);
  }
}

}  // namespace gputrace::vulkan
