#include "kernels/bench/vulkan_runner.h"

#include <doctest/doctest.h>

#include "kernels/bench/cases/additions.h"
#include "tests/support/error_text.h"
#include "tests/support/vulkan_device.h"

namespace gputrace {
namespace {

using bench::Launch;

std::unique_ptr<bench::Runner> runner_or_skip() {
  if (!test::lavapipe_or_skip()) {
    return nullptr;
  }
  auto runner = bench::open_vulkan_runner("", true);
  REQUIRE_MESSAGE(runner, test::error_text(runner));
  return std::move(*runner);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a case runs, takes time, and leaves what the CPU calculates") {
  const auto runner = runner_or_skip();
  if (!runner) {
    return;
  }
  CHECK_FALSE(runner->simulated());
  const auto sized = bench::additions_case(runner->facts());
  const auto kernel = runner->prepare(sized.kernel);
  REQUIRE_MESSAGE(kernel, test::error_text(kernel));
  const Launch launch{.groups = 3, .trips = 5, .repeats = 2};
  const auto time = (*kernel)->run(launch);
  REQUIRE_MESSAGE(time, test::error_text(time));
  CHECK(time->wall_ns > 0);
  // One run: the starts lie in a buffer that it does not change, so repeats leave the same.
  const Status right = (*kernel)->check_result(launch);
  CHECK_MESSAGE(right, test::error_text(right));
}

TEST_CASE("a result that is not the CPU's is an error, and one of each buffer is looked at") {
  const auto runner = runner_or_skip();
  if (!runner) {
    return;
  }
  auto sized = bench::additions_case(runner->facts());
  const auto check = sized.kernel.check;
  sized.kernel.check = [&](const Launch& launch, const bench::Outputs& outputs) {
    CHECK(outputs.buffers.size() == 2);
    // As if a trip had been lost.
    return check({.groups = launch.groups, .trips = launch.trips + 1}, outputs);
  };
  const auto kernel = runner->prepare(sized.kernel);
  REQUIRE_MESSAGE(kernel, test::error_text(kernel));
  const Status wrong = (*kernel)->check_result({.groups = 3, .trips = 5});
  REQUIRE_FALSE(wrong);
  CHECK(contains(wrong.error().message, "additions.fp32"));
  CHECK(contains(wrong.error().message, "the CPU has"));
}

TEST_CASE("what a device lacks is named before anything is made") {
  const auto runner = runner_or_skip();
  if (!runner) {
    return;
  }
  const auto sized = bench::additions_case(runner->facts());
  const auto refusal = [&](const bench::KernelCase& kernel) {
    const auto prepared = runner->prepare(kernel);
    REQUIRE_FALSE(prepared);
    CHECK(prepared.error().code == ErrorCode::kUnsupported);
    return prepared.error().message;
  };
  auto odd_subgroup = sized.kernel;
  odd_subgroup.subgroup_size = 1024;
  CHECK(contains(refusal(odd_subgroup), "VK_EXT_subgroup_size_control"));
  auto wide = sized.kernel;
  wide.group_threads = runner->facts().max_group_threads + 1;
  CHECK(contains(refusal(wide), "threads at most"));
  auto large = sized.kernel;
  large.buffers.front().bytes = runner->facts().max_storage_range + 1;
  CHECK(contains(refusal(large), "KiB of a buffer"));
  if (runner->facts().matrix_shapes.empty()) {
    auto matrix = sized.kernel;
    matrix.needs = {bench::Requirement::kMatrix};
    CHECK(contains(refusal(matrix), "VK_KHR_cooperative_matrix"));
  }
  auto unknown = sized.kernel;
  unknown.shader = "nothing.comp";
  CHECK_FALSE(runner->prepare(unknown).has_value());
}

TEST_CASE("more groups than the device runs are refused, not cut") {
  const auto runner = runner_or_skip();
  if (!runner || runner->facts().max_groups_x == UINT32_MAX) {
    return;
  }
  const auto kernel = runner->prepare(bench::additions_case(runner->facts()).kernel);
  REQUIRE_MESSAGE(kernel, test::error_text(kernel));
  const auto refused = (*kernel)->run({.groups = runner->facts().max_groups_x + 1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kUnsupported);
}

TEST_CASE("a runner that is opened again is the same device and runs as before") {
  const auto runner = runner_or_skip();
  if (!runner) {
    return;
  }
  const std::string name = runner->facts().listed.name;
  const auto sized = bench::additions_case(runner->facts());
  {
    CHECK(runner->prepare(sized.kernel).has_value());
  }
  const Status opened = runner->reopen();
  REQUIRE_MESSAGE(opened, test::error_text(opened));
  CHECK(runner->facts().listed.name == name);
  const auto kernel = runner->prepare(sized.kernel);
  REQUIRE_MESSAGE(kernel, test::error_text(kernel));
  CHECK((*kernel)->check_result({.groups = 1, .trips = 3}).has_value());
}

TEST_CASE("a device that is not there is refused with the list of those that are") {
  auto runner = runner_or_skip();
  if (!runner) {
    return;
  }
  const std::string name = runner->facts().listed.name;
  runner.reset();  // volk's functions are those of one instance at a time
  const auto missing = bench::open_vulkan_runner("GeForce 256", false);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
  CHECK(contains(missing.error().message, name));
}

}  // namespace
}  // namespace gputrace
