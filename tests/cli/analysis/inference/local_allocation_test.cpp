#include "cli/analysis/inference/local_allocation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string>

using namespace gputrace::analysis;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint32_t kKiB = 1024;

/// A device as it is said to be.
struct Truth {
  std::uint32_t cores = 0;
  std::uint32_t core_bytes = 0;
  std::uint32_t rounding = 0;  ///< 0 = to powers of two
  std::uint32_t most_groups = 0;
  std::uint32_t largest = 0;
  std::uint32_t reserved = 0;
};

std::uint32_t count(const Truth& truth, std::uint32_t bytes) {
  const std::uint32_t wanted = bytes + truth.reserved;
  const std::uint32_t taken = truth.rounding == 0
                                  ? std::max(256U, std::bit_ceil(wanted))
                                  : (wanted + truth.rounding - 1) / truth.rounding * truth.rounding;
  return truth.cores * std::min(truth.most_groups, truth.core_bytes / taken);
}

TestResult measured(const Truth& truth) {
  TestResult test;
  test.id = "local.allocation";
  BenchSeries census{.name = "census", .points = {}};
  for (std::uint32_t power = kKiB; power <= truth.largest; power *= 2) {
    for (const std::uint32_t bytes : {power / 8 * 5, power / 8 * 6, power, power + 1}) {
      if (bytes >= kKiB && bytes <= truth.largest && count(truth, bytes) > 0) {
        BenchPoint& point = census.points.emplace_back();
        point.x = bytes;
        point.median = count(truth, bytes);
      }
    }
  }
  test.series.push_back(std::move(census));
  return test;
}

const DerivedValue* find(const TestResult& test, const std::string& what) {
  const auto found = std::ranges::find(test.derived, what, &DerivedValue::what);
  return found == test.derived.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("cores, bytes and rounding follow where sizes are rounded finely") {
  const Truth rdna3{.cores = 20,
                    .core_bytes = 128 * kKiB,
                    .rounding = 1024,
                    .most_groups = 32,
                    .largest = 64 * kKiB};
  const Truth half = {.cores = 20,
                      .core_bytes = 128 * kKiB,
                      .rounding = 1024,
                      .most_groups = 32,
                      .largest = 32 * kKiB};
  const Truth turing{.cores = 16,
                     .core_bytes = 64 * kKiB,
                     .rounding = 256,
                     .most_groups = 16,
                     .largest = 32 * kKiB};
  const Truth xe{.cores = 8,
                 .core_bytes = 128 * kKiB,
                 .rounding = 1024,
                 .most_groups = 64,
                 .largest = 64 * kKiB};
  for (const Truth& truth : {rdna3, half, turing, xe}) {
    CAPTURE(truth.cores);
    CAPTURE(truth.largest);
    TestResult test = measured(truth);
    infer_local_allocation(test);
    const DerivedValue* const total = find(test, "local.total");
    REQUIRE(total != nullptr);
    CHECK(total->value == double{1} * truth.cores * truth.core_bytes);
    const DerivedValue* const cores = find(test, "local.cores");
    REQUIRE(cores != nullptr);
    CHECK(cores->value == truth.cores);
    const DerivedValue* const core = find(test, "local.core");
    REQUIRE(core != nullptr);
    CHECK(core->value == truth.core_bytes);
    const DerivedValue* const rounding = find(test, "local.rounding");
    REQUIRE(rounding != nullptr);
    CHECK(rounding->lower.value_or(0) <= truth.rounding);
    CHECK(rounding->upper.value_or(0) >= truth.rounding);
  }
}

TEST_CASE("powers of two leave the split open: the total is said, and how many ways fit") {
  TestResult test = measured({.cores = 8,
                              .core_bytes = 128 * kKiB,
                              .rounding = 0,
                              .most_groups = 16,
                              .largest = 32 * kKiB});
  infer_local_allocation(test);
  const DerivedValue* const total = find(test, "local.total");
  REQUIRE(total != nullptr);
  CHECK(total->value == 1024.0 * kKiB);
  CHECK(total->confidence != "sure");
  CHECK(total->by.find("explanations, total 1 MiB") != std::string::npos);
  CHECK(find(test, "local.cores") == nullptr);
}

TEST_CASE("what a driver takes beside the group's own is seen") {
  const Truth truth{.cores = 4,
                    .core_bytes = 100 * kKiB,
                    .rounding = 128,
                    .most_groups = 24,
                    .largest = 48 * kKiB,
                    .reserved = 1024};
  TestResult test = measured(truth);
  infer_local_allocation(test);
  const DerivedValue* const total = find(test, "local.total");
  REQUIRE(total != nullptr);
  CHECK(total->lower.value_or(0) <= double{1} * truth.cores * truth.core_bytes);
  CHECK(total->upper.value_or(0) >= double{1} * truth.cores * truth.core_bytes);
}

TEST_CASE("where local memory never limits, nothing follows") {
  TestResult test = measured({.cores = 2,
                              .core_bytes = 1024 * kKiB,
                              .rounding = 256,
                              .most_groups = 1,
                              .largest = 32 * kKiB});
  infer_local_allocation(test);
  CHECK(test.derived.empty());
  TestResult empty;
  infer_local_allocation(empty);
  CHECK(empty.derived.empty());
}

TEST_CASE("a count that no core explains leaves what was in use at once, as a guess") {
  TestResult test = measured({.cores = 20,
                              .core_bytes = 128 * kKiB,
                              .rounding = 1024,
                              .most_groups = 32,
                              .largest = 64 * kKiB});
  BenchPoint& wrong = test.series[0].points.back();
  wrong.median = wrong.median.value_or(0) - 1;
  infer_local_allocation(test);
  const DerivedValue* const total = find(test, "local.total");
  REQUIRE(total != nullptr);
  CHECK(total->confidence == "a guess");
  CHECK_FALSE(total->upper.has_value());
}

TEST_CASE("points that are suspect, skipped or impossible say nothing") {
  TestResult test = measured({.cores = 20,
                              .core_bytes = 128 * kKiB,
                              .rounding = 1024,
                              .most_groups = 32,
                              .largest = 64 * kKiB});
  BenchPoint wrong;
  wrong.x = 4096;
  wrong.median = 3;
  wrong.status = TestStatus::kSuspect;
  test.series[0].points.push_back(wrong);
  wrong.status = TestStatus::kOk;
  wrong.median = 0;
  test.series[0].points.push_back(wrong);
  infer_local_allocation(test);
  const DerivedValue* const total = find(test, "local.total");
  REQUIRE(total != nullptr);
  CHECK(total->value == 20.0 * 128 * kKiB);
}
