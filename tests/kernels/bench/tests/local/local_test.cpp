#include "kernels/bench/tests/local/local.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "kernels/bench/tests/local/local_cases.h"
#include "kernels/bench/tests/local/local_parts.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

/// A device of 10 cores with 128 KiB each, rounded up to 1 KiB, and 32 groups a core at most.
std::uint32_t groups_in_flight(std::uint32_t bytes) {
  const std::uint32_t rounded = (bytes + 1023) / 1024 * 1024;
  return 10 * std::min(32U, 131072 / rounded);
}

std::uint32_t shared_bytes_of(const KernelCase& kernel) {
  return kernel.constants.at(2) * 4;
}

void imitate(test::FakeRunner& runner) {
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    if (kernel.id.starts_with("local.read")) {
      return 1e3 + threads_of(kernel, launch) * launch.trips * 1e-3;
    }
    const std::uint32_t fits = groups_in_flight(shared_bytes_of(kernel));
    return 5e3 + 1e3 * launch.trips * ((launch.groups + fits - 1) / fits);
  };
  runner.result = [](const KernelCase& kernel, const Launch& launch) -> Status {
    if (kernel.id.starts_with("local.read")) {
      return {};
    }
    Outputs outputs;
    outputs.buffers.resize(4);
    const std::array<std::uint32_t, 3> census{
        0, std::min(groups_in_flight(shared_bytes_of(kernel)), launch.groups), launch.groups};
    outputs.buffers[0].resize(16);
    std::memcpy(outputs.buffers[0].data(), census.data(), sizeof(census));
    outputs.buffers[3].resize(std::size_t{kernel.group_threads} * 4);
    // No lane has its result here: what counts is that the census was read before.
    const Status lanes = kernel.check(launch, outputs);
    static_cast<void>(lanes);
    return {};
  };
}

}  // namespace

TEST_CASE("every width and stride is read as the CPU does it, on a real device") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const std::uint32_t words : {1U, 2U, 4U}) {
    for (const std::uint32_t stride : {1U, 3U, 32U}) {
      const LocalRead read{.words = words, .stride = stride};
      if (fits(read, runner->facts())) {
        test::check_on_device(*runner, local_read_case(read, runner->facts()),
                              {.groups = 3, .trips = 41});
      }
    }
  }
}

TEST_CASE("a sum that lacks one read is wrong") {
  const KernelCase kernel = local_read_case({.words = 1, .stride = 1}, test::integrated_gpu());
  CHECK_FALSE(kernel.check({.groups = 1, .trips = 5}, test::fresh_buffers(kernel)));
}

TEST_CASE("strides at which lanes would share a place are left out, not measured too fast") {
  auto facts = test::integrated_gpu();
  facts.max_shared_bytes = 65536;
  CHECK(fits({.words = 1, .stride = 64}, facts));
  CHECK(fits({.words = 4, .stride = 32}, facts));
  CHECK_FALSE(fits({.words = 4, .stride = 64}, facts));
  facts.max_shared_bytes = 4096;
  CHECK(fits({.words = 1, .stride = 1}, facts));
  CHECK_FALSE(fits({.words = 1, .stride = 32}, facts));
  facts.max_shared_bytes = 64;
  CHECK_FALSE(fits({.words = 1, .stride = 1}, facts));
}

TEST_CASE("lanes that meet at a bank are said to the model") {
  CHECK(lanes_at_one_bank({.words = 1, .stride = 1}) == 1);
  CHECK(lanes_at_one_bank({.words = 1, .stride = 32}) == 32);
  CHECK(lanes_at_one_bank({.words = 1, .stride = 33}) == 1);
  CHECK(lanes_at_one_bank({.words = 2, .stride = 16}) == 16);
  CHECK(lanes_at_one_bank({.words = 4, .stride = 4}) == 4);
  auto facts = test::integrated_gpu();
  facts.max_shared_bytes = 65536;
  const KernelCase kernel = local_read_case({.words = 2, .stride = 4}, facts);
  const Stimulus stimulus = kernel.stimulus({.groups = 2, .trips = 10, .repeats = 3});
  CHECK(stimulus.sharers == 4);
  CHECK(stimulus.local_bytes == 8 * 8 * 10);
  CHECK(stimulus.group_local_bytes > 0);
  CHECK(stimulus.access == Access::kNone);
}

TEST_CASE("sizes to allocate are powers of two and their neighbours, within the limit") {
  vulkan::DeviceFacts facts;
  facts.max_shared_bytes = 32768;
  const auto sizes = allocation_sizes(facts);
  for (const std::uint32_t bytes : {1024U, 1025U, 1280U, 1536U, 16384U, 16385U, 20480U, 32768U}) {
    CHECK(std::ranges::find(sizes, bytes) != sizes.end());
  }
  CHECK(std::is_sorted(sizes.begin(), sizes.end()));
  CHECK(std::ranges::adjacent_find(sizes) == sizes.end());
  CHECK(sizes.back() == 32768);
  facts.max_shared_bytes = 512;
  CHECK(allocation_sizes(facts).empty());
}

TEST_CASE("groups in flight by size come from the census, and a share without time keeps four") {
  test::FakeRunner runner;
  imitate(runner);
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  SUBCASE("all") {
    const auto results = run_local(context);
    REQUIRE(results.size() == 2);
    CHECK(results[0].id == "local.bandwidth");
    CHECK_MESSAGE(results[0].status == analysis::TestStatus::kOk, results[0].why);
    REQUIRE(results[0].series.size() == 3);
    CHECK(results[0].series[2].name == "vec4");
    CHECK(results[1].id == "local.allocation");
    CHECK_MESSAGE(results[1].status == analysis::TestStatus::kOk, results[1].why);
    REQUIRE(results[1].series.size() == 1);
    CHECK(results[1].series[0].name == "census");
    for (const analysis::BenchPoint& point : results[1].series[0].points) {
      CHECK(point.median.value_or(0) == groups_in_flight(static_cast<std::uint32_t>(point.x)));
    }
  }
  SUBCASE("no time") {
    context.options.share_end_ns = runner.clock.now_ns();
    const auto results = run_local(context);
    CHECK(results[0].why.find("of 36 points left out") != std::string::npos);
    CHECK(results[1].series[0].points.size() == 4);
  }
  SUBCASE("a simulated GPU is read by its times") {
    runner.is_simulated = true;
    const auto results = run_local(context);
    REQUIRE(results[1].series.size() == 1);
    CHECK(results[1].series[0].name == "steps");
    for (const analysis::BenchPoint& point : results[1].series[0].points) {
      const double truth = groups_in_flight(static_cast<std::uint32_t>(point.x));
      CHECK(point.p5.value_or(0) <= truth);
      CHECK(point.p95.value_or(0) >= truth);
    }
  }
}

TEST_CASE("a device without local memory is skipped by name") {
  test::FakeRunner runner;
  runner.device.max_shared_bytes = 0;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_local(context);
  REQUIRE(results.size() == 1);
  CHECK(results[0].status == analysis::TestStatus::kSkipped);
  CHECK(results[0].why.find("maxComputeSharedMemorySize") != std::string::npos);
}
