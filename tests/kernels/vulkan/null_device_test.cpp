#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/in_child.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

namespace {

/// The first thing that is not as it should be, else "good: " and some of the listing.
std::string look_at_null_device() {
  Result<Device> device = Device::open("", true);
  if (!device) {
    return "cannot open: " + device.error().message;
  }
  const DeviceFacts& facts = device->facts();
  if (!facts.is_null_device || facts.timestamp_period_ns || facts.memory_bytes != 0 ||
      !facts.executable_properties || !facts.graphics || facts.subgroup_size != 64 ||
      facts.subgroup_sizes != std::vector<std::uint32_t>{32, 64}) {
    return "other facts than a null device of RADV has: " + facts.listed.name;
  }
  const auto buffer = device->create_buffer(16, MemoryUse::kDevice);
  if (buffer || buffer.error().code != ErrorCode::kUnsupported) {
    return "it made a buffer";
  }
  const auto target = device->create_target({.width = 4, .height = 4});
  if (target || target.error().code != ErrorCode::kUnsupported) {
    return "it made a target";
  }
  const auto ran = device->run({}, 1);
  if (ran || ran.error().code != ErrorCode::kUnsupported) {
    return "it ran";
  }
  for (const std::uint32_t size : facts.subgroup_sizes) {
    const auto compute = device->create_pipeline(ComputeShader{
        .spirv = test_shader("count.comp"), .constants = {kThreads}, .subgroup_size = size});
    if (!compute) {
      return compute.error().message;
    }
    const auto shown = compute->executables();
    if (!shown) {
      return shown.error().message;
    }
    if (shown->size() != 1 || shown->front().subgroup_size != size ||
        !shown->front().statistic("VGPRs") || !shown->front().statistic("Code size") ||
        shown->front().statistic("nonsense") ||
        shown->front().assembly.find("s_endpgm") == std::string::npos) {
      return "other executables than expected: " + shown->front().assembly;
    }
  }
  const auto pixels = device->create_pipeline(PixelShader{
      .vertex_spirv = test_shader("triangle.vert"), .fragment_spirv = test_shader("paint.frag")});
  if (!pixels) {
    return pixels.error().message;
  }
  const auto stages = pixels->executables();
  if (!stages) {
    return stages.error().message;
  }
  std::string names;
  for (const Executable& stage : *stages) {
    names +=
        stage.name + ": " + (stage.assembly.find("exp") != std::string::npos ? "exports. " : "");
  }
  return "good: " + names;
}

}  // namespace

TEST_CASE("RADV's null device compiles for a GPU that is not there, and says so of the rest") {
  if (!test::why_no_driver().empty() || test::find_driver("radeon_icd").empty()) {
    MESSAGE("skipped: RADV (mesa-vulkan-drivers) is not installed, or no driver may run here");
    return;
  }
  // RADV aborts the process for a family that it does not know; newer ones name this one phoenix.
  std::string found;
  for (const char* family : {"gfx1103_r1", "phoenix"}) {
    found = test::in_child([&] {
      test::use_driver("radeon_icd");
      ::setenv("RADV_FORCE_FAMILY", family, 1);
      // No shader of this is for the user's caches, nor from them.
      ::setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
      ::setenv("XDG_CACHE_HOME", "/nonexistent", 1);
      return look_at_null_device();
    });
    if (found.find("the child ended") == std::string::npos) {
      break;
    }
  }
  CHECK_MESSAGE(found.starts_with("good: "), found);
  CHECK_MESSAGE(found.find("exports. ") != std::string::npos, found);
}

}  // namespace gputrace::vulkan
