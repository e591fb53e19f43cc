#include "kernels/bench/tests/direct_timing.h"

#include <doctest/doctest.h>

#include "tests/support/fake_clock.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

constexpr double kLaunchNs = 20e3;
constexpr double kEachNs = 3000;

/// A submission of `repeats`, with timestamps or without.
vulkan::RunTime run_on(test::FakeClock& clock, std::uint32_t repeats, bool timestamps) {
  const double work_ns = kEachNs * repeats;
  clock.advance(static_cast<std::int64_t>(work_ns + kLaunchNs));
  vulkan::RunTime time;
  time.wall_ns = work_ns + kLaunchNs;
  if (timestamps) {
    time.gpu_ns = work_ns;
    time.ticks = static_cast<std::uint64_t>(work_ns / 10);
  }
  return time;
}

}  // namespace

TEST_CASE("calls are timed many at a time when one is short, and fewer when time is up") {
  test::FakeClock clock;
  const DirectOptions options;
  std::uint64_t calls = 0;
  const auto quick = time_calls(options, clock, [&]() -> Status {
    ++calls;
    clock.advance(500);
    return {};
  });
  REQUIRE(quick);
  REQUIRE(*quick);
  CHECK((*quick)->median_ns == doctest::Approx(500));
  CHECK((*quick)->samples == kMinSamples);
  CHECK(calls > kMinSamples * 100);
  const auto slow = time_calls(options, clock, [&]() -> Status {
    clock.advance(20'000'000);
    return {};
  });
  REQUIRE(slow);
  REQUIRE(*slow);
  CHECK((*slow)->samples == kFewestSamples);
}

TEST_CASE("the launch is no part of a repeat, with timestamps and without") {
  DirectOptions options;
  options.point_limit_ns = 1e9;
  for (const bool timestamps : {true, false}) {
    test::FakeClock clock;
    const auto timing = time_repeats(options, clock, [&](std::uint32_t repeats) {
      return Result<vulkan::RunTime>(run_on(clock, repeats, timestamps));
    });
    REQUIRE(timing);
    REQUIRE(*timing);
    CHECK((*timing)->median_ns == doctest::Approx(kEachNs));
    CHECK((*timing)->from_timestamps == timestamps);
    CHECK((*timing)->samples == kMinSamples);
  }
}

TEST_CASE("a run that no clock can time is an error, not an infinite rate") {
  test::FakeClock clock;
  const auto few_ticks = time_repeats({}, clock, [&](std::uint32_t) {
    vulkan::RunTime time;
    time.gpu_ns = 50;
    time.ticks = 5;
    return Result<vulkan::RunTime>(time);
  });
  REQUIRE(!few_ticks);
  CHECK(few_ticks.error().code == ErrorCode::kCorrupt);
  CHECK(few_ticks.error().message.find("5 ticks") != std::string::npos);
  const auto same_length = time_repeats({}, clock, [&](std::uint32_t) {
    vulkan::RunTime time;
    time.wall_ns = 3e6;
    return Result<vulkan::RunTime>(time);
  });
  REQUIRE(!same_length);
  CHECK(same_length.error().code == ErrorCode::kUnsupported);
  CHECK(same_length.error().message.find("no time of one follows") != std::string::npos);
  const auto no_time = time_calls({}, clock, [] { return Status(); });
  REQUIRE(!no_time);
  CHECK(no_time.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("errors end the timing, and a signal leaves it without a figure") {
  test::FakeClock clock;
  const auto lost = time_repeats({}, clock, [&](std::uint32_t) -> Result<vulkan::RunTime> {
    return fail(ErrorCode::kIo, "the device was lost");
  });
  REQUIRE(!lost);
  CHECK(lost.error().code == ErrorCode::kIo);
  const auto failed =
      time_calls({}, clock, []() -> Status { return fail(ErrorCode::kIo, "cannot flush"); });
  REQUIRE(!failed);
  CHECK(failed.error().message == "cannot flush");
  DirectOptions options;
  options.cancelled = [] { return true; };
  const auto stopped = time_repeats(options, clock, [&](std::uint32_t repeats) {
    return Result<vulkan::RunTime>(run_on(clock, repeats, true));
  });
  REQUIRE(stopped);
  CHECK_FALSE(*stopped);
}
