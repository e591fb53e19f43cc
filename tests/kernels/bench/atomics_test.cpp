#include "kernels/bench/tests/atomics/atomics.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <utility>

#include "kernels/bench/tests/atomics/atomics_cases.h"
#include "kernels/bench/tests/atomics/atomics_expected.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

/// Words of a global kernel after additions that all happened: four threads, two words.
AtomicRun small_run(AtomicOperation operation) {
  return {.id = "atomics.global.test",
          .local = false,
          .operation = operation,
          .word_bytes = 4,
          .words = 2,
          .table = {0, 1}};
}

void put(std::vector<std::byte>& bytes, std::size_t index, std::uint32_t value) {
  bytes.resize(std::max(bytes.size(), (index + 1) * 4));
  std::memcpy(&bytes[index * 4], &value, sizeof(value));
}

}  // namespace

TEST_CASE("every atomic operation of every pattern is counted exactly") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const KernelCase& kernel : atomics_cases(runner->facts())) {
    CAPTURE(kernel.id);
    const auto prepared = runner->prepare(kernel);
    if (!prepared && prepared.error().code == ErrorCode::kUnsupported) {
      MESSAGE("skipped: ", prepared.error().message);
      continue;
    }
    REQUIRE_MESSAGE(prepared, test::error_text(prepared));
    const Status exact = (*prepared)->check_result({.groups = 16, .trips = 5, .repeats = 1});
    CHECK_MESSAGE(exact, test::error_text(exact));
  }
}

TEST_CASE("one addition too few is found") {
  const Launch launch{.groups = 1, .trips = 2, .repeats = 3};
  const std::uint32_t per_lane = 2 * (16 * kAtomicValue + 120);
  const std::uint32_t per_word = per_lane * (kAtomicGroupThreads / 2) * 3;
  Outputs outputs;
  outputs.buffers.resize(3);
  put(outputs.buffers[0], 0, per_word);
  put(outputs.buffers[0], 1, per_word);
  const AtomicRun run = small_run(AtomicOperation::kAdd);
  CHECK(check_atomics(run, launch, outputs));
  put(outputs.buffers[0], 1, per_word - kAtomicValue);
  const Status lost = check_atomics(run, launch, outputs);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == ErrorCode::kCorrupt);
  CHECK(lost.error().message.find("word 1") != std::string::npos);
}

TEST_CASE("swaps that were counted and not done are found") {
  const Launch launch{.groups = 1, .trips = 1, .repeats = 1};
  const AtomicRun run = small_run(AtomicOperation::kCompareSwap);
  Outputs outputs;
  outputs.buffers.resize(3);
  for (std::size_t thread = 0; thread < kAtomicGroupThreads; ++thread) {
    put(outputs.buffers[1], thread, 1);
  }
  put(outputs.buffers[0], 0, kAtomicValue * kAtomicGroupThreads / 2);
  put(outputs.buffers[0], 1, kAtomicValue * kAtomicGroupThreads / 2);
  CHECK(check_atomics(run, launch, outputs));
  SUBCASE("a word lacks one") {
    put(outputs.buffers[0], 0, kAtomicValue * (kAtomicGroupThreads / 2 - 1));
    CHECK_FALSE(check_atomics(run, launch, outputs));
  }
  SUBCASE("a lane claims more than it tried") {
    put(outputs.buffers[1], 0, 17);
    put(outputs.buffers[0], 0, kAtomicValue * (kAtomicGroupThreads / 2 + 16));
    CHECK_FALSE(check_atomics(run, launch, outputs));
  }
  SUBCASE("none succeeded") {
    for (std::size_t thread = 0; thread < kAtomicGroupThreads; ++thread) {
      put(outputs.buffers[1], thread, 0);
    }
    put(outputs.buffers[0], 0, 0);
    put(outputs.buffers[0], 1, 0);
    CHECK_FALSE(check_atomics(run, launch, outputs));
  }
}

TEST_CASE("operations a second are counted a lane, and a known word is explained") {
  test::FakeRunner runner;
  runner.device.float_atomics = true;
  runner.device.shared_float_atomics = true;
  runner.dispatch_ns = [](const KernelCase&, const Launch& launch) {
    return 0.01 * atomics_of({.groups = launch.groups, .trips = launch.trips, .repeats = 1});
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_atomics(context);
  REQUIRE(results.size() == 5);
  CHECK(results[3].id == "atomics.global_float");
  CHECK(results[4].id == "atomics.local_float");
  for (const analysis::TestResult& test : results) {
    CAPTURE(test.id);
    CHECK(test.status == analysis::TestStatus::kOk);
    for (const analysis::BenchSeries& series : test.series) {
      REQUIRE(series.points.size() == 1);
      CHECK(series.points[0].median.value_or(0) == doctest::Approx(100).epsilon(0.001));
    }
  }
  bool explained = false;
  bool published = false;
  for (const analysis::DerivedValue& derived : results[0].derived) {
    explained = explained || (derived.what.starts_with("add, one known word") &&
                              derived.value == 64 && derived.confidence == "a guess");
    published = published ||
                (derived.what == "add, word a lane: memory traffic" && derived.unit == "GB/s" &&
                 derived.value == doctest::Approx(800).epsilon(0.001));
  }
  CHECK(explained);
  CHECK(published);
}

TEST_CASE("a spent share leaves each kind of word its first points, the trap among them") {
  test::FakeRunner runner;
  runner.device.float_atomics = true;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  const auto results = run_atomics(context);
  REQUIRE(results.size() == 5);
  std::vector<std::string> names;
  for (const analysis::BenchSeries& series : results[0].series) {
    names.push_back(series.name);
  }
  CHECK(names == std::vector<std::string>{"add, one word", "add, word a lane",
                                          "add, one known word", "cmpxchg, one word"});
  CHECK(results[1].series.size() == 2);
  CHECK(results[2].series.size() == 1);
  CHECK(results[3].series.size() == 1);
  CHECK(results[0].why.find("left out") != std::string::npos);
}

TEST_CASE("atomics of kinds that the device lacks are skipped by name") {
  test::FakeRunner runner;
  runner.device.int64_atomics = false;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_atomics(context);
  REQUIRE(results.size() == 5);
  CHECK(results[0].status == analysis::TestStatus::kOk);
  for (const auto& [place, feature] :
       {std::pair(2, "shaderBufferInt64Atomics"), std::pair(3, "shaderBufferFloat32AtomicAdd"),
        std::pair(4, "shaderSharedFloat32AtomicAdd")}) {
    const analysis::TestResult& test = results.at(static_cast<std::size_t>(place));
    CHECK(test.status == analysis::TestStatus::kSkipped);
    CHECK(test.why.find(feature) != std::string::npos);
  }
}

TEST_CASE("a model is told how many lanes meet at a word") {
  const test::FakeRunner runner;
  const auto sharers = [&](AtomicPlace place, AtomicPattern pattern) {
    const KernelCase kernel = atomic_case(
        {.place = place, .operation = AtomicOperation::kAdd, .pattern = pattern}, runner.facts());
    return kernel.stimulus({.groups = 512, .trips = 1, .repeats = 2}).sharers;
  };
  CHECK(sharers(AtomicPlace::kGlobal, AtomicPattern::kOneWord) == 512 * 256);
  // 16,384 words for all.
  CHECK(sharers(AtomicPlace::kGlobal, AtomicPattern::kWordALane) == 8);
  CHECK(sharers(AtomicPlace::kGlobal, AtomicPattern::kWordAGroup) == 512 * 256 / 64);
  CHECK(sharers(AtomicPlace::kLocal, AtomicPattern::kOneWord) == 256);
  CHECK(sharers(AtomicPlace::kLocal, AtomicPattern::kWordALane) == 1);
}

TEST_CASE("float additions of 1.0 are exact, and one too few is found") {
  const Launch launch{.groups = 1, .trips = 2, .repeats = 1};
  AtomicRun run = small_run(AtomicOperation::kAdd);
  run.is_float = true;
  Outputs outputs;
  outputs.buffers.resize(3);
  const float per_word = 2 * 16 * kAtomicGroupThreads / 2;
  put(outputs.buffers[0], 0, std::bit_cast<std::uint32_t>(per_word));
  put(outputs.buffers[0], 1, std::bit_cast<std::uint32_t>(per_word));
  CHECK(check_atomics(run, launch, outputs));
  put(outputs.buffers[0], 1, std::bit_cast<std::uint32_t>(per_word - 1));
  CHECK_FALSE(check_atomics(run, launch, outputs));
}
