#include "cli/analysis/inference/code_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/inference/confidence.h"
#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/level_fit.h"

namespace gputrace::analysis::inference {

namespace {

/// A fall by less is one of clocks, or of a loop that ends seldom.
constexpr double kLeastFall = 0.08;
constexpr double kSureGain = 20;
/// Bytes of an instruction of one test over those of the other.
constexpr double kEncodings = 2;

struct Limit {
  Reading bytes;
  double gain = 0;
};

TestResult* find_test(BenchRun& run, std::string_view id) {
  const auto found = std::ranges::find(run.tests, id, &TestResult::id);
  return found == run.tests.end() ? nullptr : &*found;
}

std::vector<Limit> limits_of(const TestResult* test) {
  std::vector<Limit> limits;
  if (test == nullptr) {
    return limits;
  }
  Curve cost = usable_curve(*test, "1 wave");
  if (cost.empty() && !test->series.empty()) {
    cost = usable_curve(test->series.front());
  }
  for (CurvePoint& point : cost) {
    point.y = 1 / point.y;
  }
  for (const FittedLevel& level : fit_levels(cost).levels) {
    if (level.added >= kLeastFall * level.cost) {
      limits.push_back({{level.size, level.lower, level.upper}, level.gain});
    }
  }
  return limits;
}

Reading scaled(const Reading& reading, double by) {
  return {reading.value * by, reading.lower * by, reading.upper * by};
}

const Limit* overlapping(const std::vector<Limit>& limits, const Reading& bytes) {
  const auto found = std::ranges::find_if(
      limits, [&bytes](const Limit& limit) { return overlap(limit.bytes, bytes); });
  return found == limits.end() ? nullptr : &*found;
}

/// `to_other`: what the same number of instructions takes in the other encoding.
void append_limits(TestResult& test, const std::vector<Limit>& limits,
                   const std::vector<Limit>& other, std::string_view other_id, double to_other) {
  std::size_t number = 0;
  for (const Limit& limit : limits) {
    Reading size = limit.bytes;
    const Limit* const same_bytes = overlapping(other, size);
    const Limit* const same_count = overlapping(other, scaled(size, to_other));
    const bool narrow = octaves(size) <= 1;
    std::string_view confidence = narrow ? kLikely : kGuess;
    std::string by = "where the rate falls";
    if (same_bytes != nullptr && same_count == nullptr) {
      confidence = narrow && limit.gain > kSureGain && same_bytes->gain > kSureGain &&
                           octaves(same_bytes->bytes) <= 1
                       ? kSure
                       : confidence;
      by += fmt::format("; {} agrees in bytes", other_id);
      size.lower = std::max(size.lower, same_bytes->bytes.lower);
      size.upper = std::min(size.upper, same_bytes->bytes.upper);
      size.value = std::clamp(size.value, size.lower, size.upper);
    } else if (same_bytes != nullptr) {
      by += fmt::format("; {} agrees in bytes and in instructions, which cannot be told apart",
                        other_id);
    } else if (same_count != nullptr) {
      confidence = kGuess;
      by += fmt::format(
          "; {} falls at the same number of instructions, not of bytes: the limit is "
          "not a cache",
          other_id);
    } else if (!other.empty()) {
      confidence = kGuess;
      by += fmt::format("; {} does not fall there", other_id);
    }
    if (const auto nominal = nominal_size(size)) {
      size.value = *nominal;
    }
    test.derived.push_back(derived_value(fmt::format("icache.{}.size", ++number), size, "B",
                                         confidence, std::move(by)));
  }
}

}  // namespace

void read_code_caches(BenchRun& run) {
  TestResult* const four = find_test(run, "icache.4B");
  TestResult* const eight = find_test(run, "icache.8B");
  const std::vector<Limit> of_four = limits_of(four);
  const std::vector<Limit> of_eight = limits_of(eight);
  if (four != nullptr) {
    append_limits(*four, of_four, of_eight, "icache.8B", kEncodings);
  }
  if (eight != nullptr) {
    append_limits(*eight, of_eight, of_four, "icache.4B", 1 / kEncodings);
  }
}

}  // namespace gputrace::analysis::inference
