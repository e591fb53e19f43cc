#include "kernels/bench/tests/latency.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "kernels/bench/tests/latency_cases.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

constexpr ChaseShape kPlain{};

std::vector<ChaseShape> all_shapes() {
  return {{.chains = 1},
          {.chains = 3},
          {.chains = 8},
          {.full_wave = true},
          {.scalar = true, .chains = 1},
          {.scalar = true, .chains = 8}};
}

const analysis::BenchSeries& series_of(const analysis::TestResult& test, std::string_view name) {
  const auto place = std::find_if(test.series.begin(), test.series.end(),
                                  [&](const auto& series) { return series.name == name; });
  REQUIRE_MESSAGE(place != test.series.end(), test.id, " has no series ", std::string(name));
  return *place;
}

/// 10 ns a hop up to 64 KiB, 100 ns above; and 30 us of launch.
double two_levels(const KernelCase& kernel, const Launch& launch) {
  const bool small = kernel.buffers[1].bytes <= 65536;
  return 30e3 + kHopsPerTrip * static_cast<double>(launch.trips) * (small ? 10 : 100);
}

}  // namespace

TEST_CASE("a random cycle visits every node once before it returns") {
  const RandomCycle cycle(1000, 7);
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    seen.insert(cycle.at(i));
    CHECK(cycle.position_of(cycle.at(i)) == i);
  }
  CHECK(seen.size() == 1000);
  CHECK(cycle.at(1000) == cycle.at(0));
  CHECK(RandomCycle(1000, 8).at(0) != cycle.at(0));
}

TEST_CASE("nodes in memory lead along the cycle, by address and by index") {
  const RandomCycle cycle(64, 3);
  std::vector<std::byte> memory(cycle.bytes());
  constexpr std::uint64_t kBase = 0x7fff'0000'1000;
  cycle.write_addresses(memory, kBase);
  std::uint64_t address = kBase + std::uint64_t{cycle.at(0)} * kNodeBytes;
  for (std::uint64_t hop = 1; hop <= 64; ++hop) {
    std::memcpy(&address, &memory[address - kBase], sizeof(address));
    CHECK(address == kBase + std::uint64_t{cycle.at(hop)} * kNodeBytes);
  }
  cycle.write_indices(memory);
  std::uint32_t word = cycle.at(0) * (kNodeBytes / 4);
  for (std::uint64_t hop = 1; hop <= 64; ++hop) {
    std::memcpy(&word, &memory[std::size_t{word} * 4], sizeof(word));
    CHECK(word == cycle.at(hop) * (kNodeBytes / 4));
  }
}

TEST_CASE("chases end where the CPU says, over several dispatches") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto cycle = std::make_shared<RandomCycle>(1024, 5);
  for (const bool addresses : {true, false}) {
    vulkan::DeviceFacts facts = runner->facts();
    facts.buffer_addresses = facts.buffer_addresses && addresses;
    for (const ChaseShape& shape : all_shapes()) {
      const KernelCase kernel = chase_case(shape, facts, cycle);
      CAPTURE(kernel.id);
      CAPTURE(addresses);
      const auto prepared = runner->prepare(kernel);
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status exact = (*prepared)->check_result({.groups = 1, .trips = 333, .repeats = 3});
      CHECK_MESSAGE(exact, test::error_text(exact));
    }
  }
}

TEST_CASE("a chase that ends one hop early is found") {
  const auto cycle = std::make_shared<RandomCycle>(256, 5);
  vulkan::DeviceFacts facts;
  const KernelCase kernel = chase_case(kPlain, facts, cycle);
  const Launch launch{.groups = 1, .trips = 10, .repeats = 2};
  const auto ends_after = [&](std::uint64_t hops) {
    Outputs outputs;
    outputs.buffers.emplace_back(4);
    const std::uint32_t offset = cycle->at(hops) * kNodeBytes;
    std::memcpy(outputs.buffers[0].data(), &offset, sizeof(offset));
    return kernel.check(launch, outputs);
  };
  CHECK(ends_after(320));
  const Status wrong = ends_after(319);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::kCorrupt);
  CHECK(wrong.error().message.find("after 320 hops") != std::string::npos);
}

TEST_CASE("the launch is subtracted and levels are told apart") {
  test::FakeRunner runner;
  runner.dispatch_ns = two_levels;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  REQUIRE(results.size() == 2);
  for (const analysis::TestResult& test : results) {
    CHECK(test.status == analysis::TestStatus::kOk);
    CHECK(test.result == analysis::Proof::kPassed);
    CHECK(test.rate == analysis::Proof::kPassed);
    const auto& plain = series_of(test, "1 chain");
    REQUIRE(plain.points.size() == 15);  // 4 KiB to 64 MiB
    for (const analysis::BenchPoint& point : plain.points) {
      CAPTURE(point.x);
      CHECK(point.median.value_or(0) ==
            doctest::Approx(point.x <= 65536 ? 10 : 100).epsilon(0.0001));
    }
    CHECK(series_of(test, "1 chain, minimum").points.size() == plain.points.size());
    CHECK(series_of(test, "8 chains").points.size() == 3);
  }
  CHECK(series_of(results[0], "full wave").points.size() == 3);
}

TEST_CASE("hops faster than any cache are suspect: the loads were left out") {
  test::FakeRunner runner;
  runner.dispatch_ns = [](const KernelCase&, const Launch& launch) {
    return 30e3 + 0.1 * launch.trips;
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  CHECK(results[0].status == analysis::TestStatus::kSuspect);
  CHECK(results[0].rate == analysis::Proof::kFailed);
}

TEST_CASE("a wrong result fails the point and is never measured") {
  test::FakeRunner runner;
  runner.dispatch_ns = two_levels;
  runner.result = [](const KernelCase& kernel, const Launch&) -> Status {
    return kernel.id == "latency.vector.c1.64KiB" ? fail(ErrorCode::kCorrupt, "off by one")
                                                  : Status();
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  CHECK(results[0].status == analysis::TestStatus::kFailed);
  CHECK(results[0].result == analysis::Proof::kFailed);
  CHECK(results[0].why == "off by one");
  for (const analysis::BenchPoint& point : series_of(results[0], "1 chain").points) {
    CHECK(point.median.has_value() == (point.x != 65536));
  }
  CHECK(results[1].status == analysis::TestStatus::kOk);
}

TEST_CASE("a lost device ends the test, and what was measured before stays") {
  test::FakeRunner runner;
  int runs = 0;
  runner.dispatch_ns = [&](const KernelCase& kernel, const Launch& launch) {
    if (++runs == 400) {
      runner.broken = Error{ErrorCode::kIo, "the device was lost"};
    }
    return two_levels(kernel, launch);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  REQUIRE(results.size() == 1);
  CHECK(results[0].status == analysis::TestStatus::kFailed);
  CHECK(results[0].why.find("the device was lost") != std::string::npos);
  std::size_t measured = 0;
  for (const analysis::BenchSeries& series : results[0].series) {
    for (const analysis::BenchPoint& point : series.points) {
      measured += point.median ? 1 : 0;
      CHECK((point.median || point.status == analysis::TestStatus::kFailed));
    }
  }
  CHECK(measured > 0);
}

TEST_CASE("Ctrl-C keeps the points that are done") {
  test::FakeRunner runner;
  runner.dispatch_ns = two_levels;
  MeasurementOptions options = runner.options();
  std::size_t done = 0;
  options.progress = [&](std::size_t now, std::size_t, double) { done = now; };
  options.cancelled = [&] { return done >= 3; };
  TestContext context{.runner = runner, .options = options, .quick = true};
  const auto results = run_latency(context);
  REQUIRE(results.size() == 1);
  CHECK(results[0].status == analysis::TestStatus::kOk);
  std::size_t measured = 0;
  for (const analysis::BenchSeries& series : results[0].series) {
    measured += series.name.ends_with("minimum") ? 0 : series.points.size();
  }
  CHECK(measured == 3);
}

TEST_CASE("working sets stay within an eighth of the memory and within ranges") {
  vulkan::DeviceFacts facts;
  facts.max_storage_range = 128ULL << 20U;
  facts.memory_bytes = 1ULL << 30U;
  CHECK(chase_sizes(facts, false).front() == 4096);
  CHECK(chase_sizes(facts, false).back() == 128ULL << 20U);
  CHECK(chase_sizes(facts, true).back() == 64ULL << 20U);
  facts.memory_bytes = 1ULL << 20U;
  CHECK(chase_sizes(facts, true).back() == 128ULL << 10U);
  facts.memory_bytes = 0;
  CHECK(chase_sizes(facts, true) == std::vector<std::uint64_t>{4096});
  facts.memory_bytes = 1ULL << 34U;
  facts.is_cpu = true;
  CHECK(chase_sizes(facts, true).back() == 16ULL << 20U);
  for (const std::uint64_t bytes : chase_sizes(facts, false)) {
    CHECK(bytes % kNodeBytes == 0);
  }
}

TEST_CASE("latency on a real device is measured and proven") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  MeasurementOptions options = test::brief_options();
  std::size_t done = 0;
  options.progress = [&](std::size_t now, std::size_t, double) { done = now; };
  options.cancelled = [&] { return done >= 4; };
  TestContext context{.runner = *runner, .options = options, .quick = true};
  const auto results = run_latency(context);
  REQUIRE(results.size() == 1);
  CHECK_MESSAGE(results[0].status == analysis::TestStatus::kOk, results[0].why);
  CHECK(results[0].result == analysis::Proof::kPassed);
  REQUIRE_FALSE(results[0].series.empty());
  for (const analysis::BenchPoint& point : results[0].series[0].points) {
    CHECK(point.median.value_or(0) > 0.5);
  }
}
