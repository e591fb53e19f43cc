#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/support/hierarchy_cases.h"
#include "tests/support/inference_score.h"

namespace gputrace::test {
namespace {

constexpr double kMiB = 1024.0 * 1024;

TEST_CASE(
    "levels of hierarchies that no constant was set with are found, and none is sure wrongly") {
  constexpr std::uint64_t kSeed = 31;
  const auto cases = judging_hierarchies(5, 2 * kMiB, kSeed);
  std::array<InferenceScore, 2> scores;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const MeasuredHierarchy measured = measure_hierarchy(cases[i], 2, kSeed + i);
    scores[0].add(cases[i], measured, {.relative = 0.01, .outliers = 0.04}, true, kSeed + 5 * i);
    scores[1].add(cases[i], measured, {.relative = 0.03, .outliers = 0.04}, true, kSeed + 5 * i);
  }
  for (const InferenceScore& score : scores) {
    REQUIRE(score.levels >= 10);
    CAPTURE(score.levels);
    CAPTURE(score.within_2);
    CAPTURE(score.false_levels);
    CAPTURE(score.sure);
    CAPTURE(score.hop_within);
    CAPTURE(score.hop_levels);
    CHECK(score.within_2 * 100 >= score.levels * 85);
    CHECK(score.false_levels * 8 <= score.levels);
    CHECK(score.wrong_sure == 0);
    CHECK(score.sure > 0);
    CHECK(score.hop_within * 100 >= score.hop_levels * 88);
  }
}

}  // namespace
}  // namespace gputrace::test
