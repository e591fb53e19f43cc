#include "cli/analysis/inference/level_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/level_fit.h"

namespace gputrace::analysis::inference {

namespace {

constexpr std::string_view kPrefix = "bandwidth.";
/// Away from both ends of a level, where it serves a part only.
constexpr double kBehindEnd = 1.5;
constexpr double kBeforeEnd = 0.85;
/// Where random replacement lets the last level serve its share of what is larger, a working set so
/// many times its size still has an eighth of its bytes from there.
constexpr double kMostlyMemory = 8;
/// A plateau of memory has at least so many sizes.
constexpr std::size_t kFewestOfMemory = 2;
/// Rates of one plateau are this near to each other, as a share, for its figure to be "likely".
constexpr double kFlat = 0.25;

Reading median_reading(std::vector<double> rates) {
  std::ranges::sort(rates);
  return {rates[(rates.size() - 1) / 2], rates.front(), rates.back()};
}

std::vector<double> rates_between(const Curve& curve, double above, double up_to) {
  std::vector<double> rates;
  for (const CurvePoint& point : curve) {
    if (point.x > above && point.x <= up_to) {
      rates.push_back(point.y);
    }
  }
  return rates;
}

std::vector<LevelRead> own_levels(TestResult& test, const Curve& shared) {
  Curve cost = shared;
  for (CurvePoint& point : cost) {
    point.y = 1 / point.y;
  }
  std::vector<LevelRead> levels;
  for (const FittedLevel& level : fit_levels(cost).levels) {
    levels.push_back({{level.size, level.lower, level.upper}});
    test.derived.push_back(derived_value(fmt::format("level.{}.size", levels.size()),
                                         levels.back().size, "B",
                                         octaves(levels.back().size) <= 1 ? kLikely : kGuess,
                                         "where rates fall; no latencies were measured"));
  }
  return levels;
}

void append_rate(std::string what, const std::vector<double>& rates, std::string by,
                 TestResult& test) {
  const Reading rate = median_reading(rates);
  const bool flat = rates.size() > 1 && rate.upper - rate.lower <= kFlat * rate.value;
  test.derived.push_back(
      derived_value(std::move(what), rate, test.unit, flat ? kLikely : kGuess, std::move(by)));
}

}  // namespace

void read_rates(TestResult& bandwidth, std::span<const LevelRead> levels) {
  const Curve shared = usable_curve(bandwidth, "shared");
  const Curve own = usable_curve(bandwidth, "own");
  if (shared.empty() && own.empty()) {
    return;
  }
  const std::string stream = bandwidth.id.substr(kPrefix.size());
  std::vector<LevelRead> found;
  if (levels.empty()) {
    found = own_levels(bandwidth, shared);
    levels = found;
  }
  double above = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Reading& size = levels[i].size;
    // The first level is the group's own; what it reads from a shared region is in it as well.
    std::vector<double> rates;
    std::string by = "the middle of its sizes";
    if (i == 0) {
      rates = rates_between(own, 0, kBeforeEnd * size.value);
      by.insert(0, "regions of groups, ");
    }
    if (rates.empty()) {
      rates = rates_between(shared, above, kBeforeEnd * size.value);
    }
    above = kBehindEnd * size.value;
    if (!rates.empty()) {
      append_rate(fmt::format("level.{}.{}", i + 1, stream), rates, by, bandwidth);
    }
  }
  if (shared.empty()) {
    return;
  }
  std::vector<double> memory = rates_between(shared, above, shared.back().x);
  if (!levels.empty()) {
    const double mostly = kMostlyMemory * levels.back().size.value;
    const std::vector<double> far = rates_between(shared, mostly, shared.back().x);
    if (far.size() >= kFewestOfMemory) {
      memory = far;
      above = mostly;
    }
  }
  if (!levels.empty() && memory.size() >= kFewestOfMemory) {
    append_rate("dram." + stream, memory,
                fmt::format("{} .. {}, which no level holds", bytes_text(above),
                            bytes_text(shared.back().x)),
                bandwidth);
  }
}

}  // namespace gputrace::analysis::inference
