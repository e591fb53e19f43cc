#include "kernels/bench/cases/sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/turning_pairs.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"

namespace gputrace::bench {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

double intensity_of(const SizedCase& sized) {
  return flops_of(sized.kernel, sized.launch) /
         (read_bytes_of(sized.kernel, sized.launch) + written_bytes_of(sized.kernel, sized.launch));
}

TEST_CASE("a sweep goes from 0.25 to 512 FLOP/B in steps of two") {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t trips = 1; trips <= 2048; trips *= 2) {
    wanted.push_back(trips);
  }
  CHECK(sweep_trips(std::nullopt) == wanted);
  CHECK(intensity_of(sweep_case(test::integrated_gpu(), wanted.front(), kMiB)) == 0.25);
  CHECK(intensity_of(sweep_case(test::integrated_gpu(), wanted.back(), kMiB)) == 512);
}

TEST_CASE("a sweep takes half steps where ridges are expected") {
  const auto trips = sweep_trips(std::pair{40.0, 60.0});
  CHECK(std::ranges::is_sorted(trips));
  // 22.6, 45.3 and 90.5 FLOP/B, between 32/2 and 64*2.
  CHECK(std::ranges::count(trips, 91U) == 1);
  CHECK(std::ranges::count(trips, 181U) == 1);
  CHECK(std::ranges::count(trips, 362U) == 1);
  CHECK(trips.size() == 12 + 3);
}

TEST_CASE("half steps below the finest are left out") {
  const auto trips = sweep_trips(std::pair{0.2, 0.6});
  CHECK(std::ranges::adjacent_find(trips) == trips.end());
  CHECK(trips.size() == 12 + 1);  // 0.75 FLOP/B; nothing lies between 0.25 and 0.5
}

TEST_CASE("all points of a sweep have one formula and one shader") {
  const auto facts = test::integrated_gpu();
  const KernelCase low = sweep_case(facts, 1, kMiB).kernel;
  const KernelCase high = sweep_case(facts, 2048, kMiB).kernel;
  CHECK(low.shader == high.shader);
  CHECK(low.constants == high.constants);
  CHECK(low.flops_per_trip == high.flops_per_trip);
}

TEST_CASE("a sweep's sizes keep to the device's limits and to a short dispatch") {
  auto facts = test::rasteriser();
  const SizedCase low = sweep_case(facts, 1, 256 * kMiB);
  CHECK(low.launch.groups <= facts.max_groups_x);
  CHECK(low.kernel.buffers[0].bytes <= facts.max_storage_range);
  const SizedCase high = sweep_case(facts, 2048, 256 * kMiB);
  CHECK(flops_of(high.kernel, high.launch) <= 0.5e9);
  CHECK(intensity_of(high) == 512);
  facts.memory_bytes = 8 * kMiB;
  CHECK(sweep_bytes(facts, false) == kMiB);
}

TEST_CASE("a point with a trip too few, a trip too many or a number not touched is wrong") {
  const SizedCase sized = sweep_case(test::rasteriser(), 16, 64 * kKiB);
  const KernelCase& kernel = sized.kernel;
  const auto run = [&](std::uint32_t trips) {
    Outputs outputs = test::fresh_buffers(kernel);
    const std::uint64_t lanes = std::uint64_t{kernel.group_threads} * 4;  // floats of a vector each
    const auto x = static_cast<float>(kTurnX);
    const auto y = static_cast<float>(kTurnY);
    for (std::uint64_t group = 0; group < sized.launch.groups; ++group) {
      for (std::uint64_t i = 0; i < 2 * lanes; ++i) {
        const std::uint64_t at_p = group * 4 * lanes + i;
        const std::uint64_t at_q = at_p + 2 * lanes;
        auto p = read_at<float>(outputs.buffers[0], at_p);
        auto q = read_at<float>(outputs.buffers[0], at_q);
        for (std::uint32_t trip = 0; trip < trips; ++trip) {
          p = std::fma(x, q, p);
          q = std::fma(y, p, q);
        }
        write_at(outputs.buffers[1], at_p, p);
        write_at(outputs.buffers[1], at_q, q);
      }
    }
    return outputs;
  };
  CHECK(kernel.check(sized.launch, run(16)));
  CHECK_FALSE(kernel.check(sized.launch, run(15)));
  CHECK_FALSE(kernel.check(sized.launch, run(17)));
  Outputs last_is_lost = run(16);
  write_at(last_is_lost.buffers[1], last_is_lost.buffers[1].size() / 4 - 1, 0.0F);
  const Status status = kernel.check(sized.launch, last_is_lost);
  REQUIRE_FALSE(status);
  CHECK(status.error().message.find("sweep.n16: thread 1023, vector 1, component 3") !=
        std::string::npos);
}

TEST_CASE("points of a sweep run on a device and leave what the CPU calculates") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const std::uint32_t trips : {1U, 3U, 64U, 2048U}) {
    const SizedCase sized = sweep_case(runner->facts(), trips, 64 * kKiB);
    test::check_on_device(*runner, sized.kernel, sized.launch);
  }
}

}  // namespace
}  // namespace gputrace::bench
