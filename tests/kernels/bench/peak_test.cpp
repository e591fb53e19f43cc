#include "kernels/bench/cases/peak.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/turning_pairs.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kPairs = 8;
constexpr std::uint32_t kRounds = 10;

/// What a device leaves of peak.fp32. `lost_fmas`: of each round of the last pair's second step.
Outputs run_fp32(const KernelCase& kernel, const Launch& launch, float (*fma)(float, float, float),
                 bool lost_fma = false) {
  Outputs outputs = test::fresh_buffers(kernel);
  const auto x = static_cast<float>(kTurnX);
  const auto y = static_cast<float>(kTurnY);
  const std::uint64_t threads = std::uint64_t{launch.groups} * kernel.group_threads;
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    const std::uint64_t begun = thread % kernel.group_threads * 2 * kPairs;
    const std::uint64_t ended = thread * 2 * kPairs;
    for (std::uint64_t pair = 0; pair < kPairs; ++pair) {
      auto p = read_at<float>(outputs.buffers[0], begun + pair);
      auto q = read_at<float>(outputs.buffers[0], begun + kPairs + pair);
      for (std::uint32_t round = 0; round < launch.trips * kRounds; ++round) {
        p = fma(x, q, p);
        const bool is_lost = lost_fma && pair == kPairs - 1 && round % kRounds == kRounds - 1;
        q = is_lost ? q : fma(y, p, q);
      }
      write_at(outputs.buffers[1], ended + pair, p);
      write_at(outputs.buffers[1], ended + kPairs + pair, q);
    }
  }
  return outputs;
}

float fused(float a, float b, float sum) {
  return std::fma(a, b, sum);
}

float split(float a, float b, float sum) {
  const float product = a * b;
  return product + sum;
}

/// As no device should round, and some may: towards zero.
float truncated(float a, float b, float sum) {
  const double exact = static_cast<double>(a) * b + sum;
  const auto nearest = static_cast<float>(exact);
  return std::abs(nearest) > std::abs(exact) ? std::nextafter(nearest, 0.0F) : nearest;
}

KernelCase fp32_case() {
  return peak_case(test::rasteriser(), Arithmetic::kFp32, std::nullopt).kernel;
}

TEST_CASE("a peak is right whether the device fuses its FMAs or not") {
  const KernelCase kernel = fp32_case();
  const Launch launch{.groups = 2, .trips = 50};
  CHECK(kernel.check(launch, run_fp32(kernel, launch, fused)));
  CHECK(kernel.check(launch, run_fp32(kernel, launch, split)));
}

TEST_CASE("a peak that is rounded otherwise is right within the bound of rounding") {
  const KernelCase kernel = fp32_case();
  const Launch launch{.groups = 1, .trips = 50};
  CHECK(kernel.check(launch, run_fp32(kernel, launch, truncated)));
}

TEST_CASE("a bound of rounding that tells no trips apart proves nothing") {
  const Turning<float> turning{.x = static_cast<float>(kTurnX),
                               .y = static_cast<float>(kTurnY),
                               .rounds = 2'000'000,
                               .rounds_of_a_trip = kRounds,
                               .rounding_unit = 0x1p-24};
  TurnedPair<float> pair{.name = "pair 0", .p = 0.7F, .q = 1.1F};
  pair.got_p = pair.p;
  pair.got_q = pair.q;
  const std::vector<TurnedPair<float>> pairs{pair};
  const Status status = check_turned<float>("peak", turning, fp32_multiply_adds(), pairs);
  REQUIRE_FALSE(status);
  CHECK(status.error().message.find("does not tell a trip more or less") != std::string::npos);
}

TEST_CASE("a peak with a trip too few or too many is wrong, however the device rounds") {
  const KernelCase kernel = fp32_case();
  const Launch launch{.groups = 1, .trips = 50};
  for (const auto fma : {fused, split, truncated}) {
    for (const std::uint32_t trips : {49U, 51U}) {
      const Status status =
          kernel.check(launch, run_fp32(kernel, {.groups = 1, .trips = trips}, fma));
      REQUIRE_FALSE(status);
      CHECK(status.error().message.find("the CPU has") != std::string::npos);
    }
  }
}

TEST_CASE("a peak that lacks one FMA of its 160 is wrong") {
  const KernelCase kernel = fp32_case();
  const Launch launch{.groups = 1, .trips = 50};
  for (const auto fma : {fused, split, truncated}) {
    CHECK_FALSE(kernel.check(launch, run_fp32(kernel, launch, fma, true)));
  }
}

TEST_CASE("peaks count what their bodies do") {
  const auto facts = test::integrated_gpu();
  const auto flops = [&](Arithmetic arithmetic) {
    return peak_case(facts, arithmetic, 32).kernel.flops_per_trip;
  };
  CHECK(flops(Arithmetic::kFp32) == 2 * 160);
  CHECK(flops(Arithmetic::kFp64) == 2 * 80);
  CHECK(flops(Arithmetic::kInt32) == 2 * 160);
  CHECK(flops(Arithmetic::kFp16Packed) == 2 * 2 * 272);
  CHECK(flops(Arithmetic::kInt8Dot) == 8 * 160);
}

TEST_CASE("peaks are made for the types and subgroup sizes that a device has") {
  auto facts = test::integrated_gpu();
  const auto ids = [&] {
    std::vector<std::string> all;
    for (const SizedCase& sized : peak_cases(facts)) {
      all.push_back(sized.kernel.id);
    }
    return all;
  };
  const auto all = ids();
  CHECK(std::ranges::count(all, "peak.fp32.wave32") == 1);
  CHECK(std::ranges::count(all, "peak.fp32.wave64") == 1);
  CHECK(std::ranges::count(all, "peak.fp64.wave64") == 1);
  facts.fp16 = false;
  facts.fp64 = false;
  facts.int8_dot = false;
  facts.subgroup_sizes = {};
  CHECK(ids() == std::vector<std::string>{"peak.fp32", "peak.int32"});
}

TEST_CASE("peaks of all types run on a device and leave what the CPU calculates") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const Arithmetic arithmetic : {Arithmetic::kFp32, Arithmetic::kFp16Packed, Arithmetic::kFp64,
                                      Arithmetic::kInt32, Arithmetic::kInt8Dot}) {
    const SizedCase sized = peak_case(runner->facts(), arithmetic, std::nullopt);
    test::check_on_device(*runner, sized.kernel, {.groups = 3, .trips = 7});
  }
}

TEST_CASE("a peak of as many trips as any device makes loses none") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const SizedCase sized = peak_case(runner->facts(), Arithmetic::kFp32, std::nullopt);
  test::check_on_device(*runner, sized.kernel, {.groups = 1, .trips = kMaxTrips - 1});
}

}  // namespace
}  // namespace gputrace::bench
