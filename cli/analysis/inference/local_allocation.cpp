#include "cli/analysis/inference/local_allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace gputrace::analysis {

namespace {

/// 0 = to powers of two. Hardware that is known rounds to 128 to 1,024 bytes, or to powers of two.
constexpr std::array<std::uint32_t, 9> kRoundings{0, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
/// Of NVIDIA since compute capability 8.0 a group takes 1 KiB for itself.
constexpr std::array<std::uint32_t, 2> kReserved{0, 1024};
constexpr std::uint32_t kMostCores = 1024;
/// The smallest power of two that is given away where sizes are rounded so.
constexpr std::uint64_t kLeastPower = 256;
constexpr std::size_t kFewestSizes = 4;
/// Sizes that must limit: of a single one any capacity follows.
constexpr std::size_t kFewestLimited = 2;
constexpr double kKiB = 1024;
constexpr double kMiB = kKiB * kKiB;

std::uint64_t taken(std::uint32_t bytes, std::uint32_t rounding, std::uint32_t reserved) {
  const std::uint64_t wanted = std::uint64_t{bytes} + reserved;
  if (rounding == 0) {
    return std::max(kLeastPower, std::bit_ceil(wanted));
  }
  return (wanted + rounding - 1) / rounding * rounding;
}

/// The largest number of groups that is certain: at it something else may limit.
std::uint32_t largest_count(std::span<const LocalPoint> points) {
  std::uint32_t most = 0;
  for (const LocalPoint& point : points) {
    most = std::max(most, point.groups);
  }
  return most;
}

/// Bounds of a core's bytes that all points leave; empty when below <= from.
LocalExplanation fit(std::span<const LocalPoint> points, std::uint32_t cores,
                     std::uint32_t rounding, std::uint32_t reserved, std::uint32_t most) {
  LocalExplanation bounds{.cores = cores,
                          .core_bytes = 0,
                          .below_bytes = std::numeric_limits<std::uint64_t>::max(),
                          .rounding = rounding,
                          .reserved = reserved};
  for (const LocalPoint& point : points) {
    const std::uint64_t least = (point.groups + cores - 1) / cores;
    const std::uint64_t largest = point.most_groups / cores;
    if (least > largest || largest == 0) {
      bounds.below_bytes = 0;  // each core has as many
      break;
    }
    const std::uint64_t bytes = taken(point.bytes, rounding, reserved);
    bounds.core_bytes = std::max(bounds.core_bytes, least * bytes);
    if (point.most_groups < most) {
      bounds.below_bytes = std::min(bounds.below_bytes, (largest + 1) * bytes);
    }
  }
  return bounds;
}

std::string size_text(double bytes) {
  return bytes >= kMiB ? fmt::format("{:g} MiB", bytes / kMiB)
                       : fmt::format("{:g} KiB", bytes / kKiB);
}

std::vector<LocalPoint> points_of(const TestResult& test) {
  std::vector<LocalPoint> points;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      if (point.status != TestStatus::kOk || !point.median || !(*point.median >= 1) ||
          !(point.x >= 1)) {
        continue;
      }
      // A census is exact, and its largest count the one that counts; times leave a gap.
      const bool is_census = series.name == "census";
      const double least = is_census ? *point.median : point.p5.value_or(*point.median);
      const double most = is_census ? *point.median : point.p95.value_or(*point.median);
      points.push_back({.bytes = static_cast<std::uint32_t>(point.x),
                        .groups = static_cast<std::uint32_t>(least),
                        .most_groups = static_cast<std::uint32_t>(std::max(least, most))});
    }
  }
  return points;
}

/// Of all explanations the fewest and the most of something.
template <class Function>
std::pair<double, double> range_of(const std::vector<LocalExplanation>& all, Function value) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const LocalExplanation& each : all) {
    least = std::min(least, static_cast<double>(value(each)));
    most = std::max(most, static_cast<double>(value(each)));
  }
  return {least, most};
}

void add(TestResult& test, std::string what, double value, double lower, double upper,
         std::string unit, std::string confidence, std::string by) {
  test.derived.push_back({.what = std::move(what),
                          .value = value,
                          .lower = lower,
                          .upper = upper,
                          .unit = std::move(unit),
                          .confidence = std::move(confidence),
                          .by = std::move(by)});
}

/// No explanation: groups that were in flight held what they held all the same.
void add_least_total(const std::vector<LocalPoint>& points, TestResult& test) {
  double most = 0;
  for (const LocalPoint& point : points) {
    most = std::max(most, static_cast<double>(point.bytes) * point.groups);
  }
  test.derived.push_back({.what = "local.total",
                          .value = most,
                          .lower = most,
                          .upper = std::nullopt,
                          .unit = "B",
                          .confidence = "a guess",
                          .by = "no split into cores explains every count; at least this much was "
                                "in use at once"});
}

}  // namespace

std::vector<LocalExplanation> explain_local_allocation(std::span<const LocalPoint> points) {
  const std::uint32_t most = largest_count(points);
  const auto limited = static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(),
                    [&](const LocalPoint& point) { return point.most_groups < most; }));
  std::vector<LocalExplanation> all;
  if (limited < kFewestLimited || points.size() < kFewestSizes) {
    return all;
  }
  for (std::uint32_t cores = 1; cores <= std::min(kMostCores, most); ++cores) {
    for (const std::uint32_t rounding : kRoundings) {
      for (const std::uint32_t reserved : kReserved) {
        const LocalExplanation found = fit(points, cores, rounding, reserved, most);
        if (found.core_bytes < found.below_bytes) {
          all.push_back(found);
        }
      }
    }
  }
  return all;
}

void infer_local_allocation(TestResult& test) {
  const std::vector<LocalPoint> points = points_of(test);
  const std::uint32_t most_groups = largest_count(points);
  const bool limits = std::any_of(points.begin(), points.end(), [&](const LocalPoint& point) {
    return point.most_groups < most_groups;
  });
  if (!limits) {
    return;
  }
  const std::vector<LocalExplanation> all = explain_local_allocation(points);
  if (all.empty()) {
    add_least_total(points, test);
    return;
  }
  const auto [total, most_total] =
      range_of(all, [](const LocalExplanation& each) { return each.total_bytes(); });
  const auto [cores, most_cores] =
      range_of(all, [](const LocalExplanation& each) { return each.cores; });
  const auto [core, most_core] =
      range_of(all, [](const LocalExplanation& each) { return each.core_bytes; });
  const auto [below, most_below] =
      range_of(all, [](const LocalExplanation& each) { return each.cores * each.below_bytes; });
  const bool one_split = cores == most_cores;
  const std::string totals = total == most_total
                                 ? size_text(total)
                                 : fmt::format("{} to {}", size_text(total), size_text(most_total));
  const std::string by = all.size() == 1
                             ? "one explanation fits all counts"
                             : fmt::format("{} explanations, total {}", all.size(), totals);
  // Bytes that no size could show may be there above the total.
  add(test, "local.total", total, total, std::max(most_below - 1, most_total), "B",
      one_split && total == most_total ? "sure" : (total == most_total ? "likely" : "a guess"), by);
  if (!one_split) {
    return;
  }
  static_cast<void>(below);
  const std::string confidence = core == most_core ? "sure" : "a guess";
  add(test, "local.cores", cores, cores, cores, "", confidence, by);
  add(test, "local.core", core, core, std::max(most_below / cores - 1, most_core), "B", confidence,
      by);
  const auto [rounding, most_rounding] =
      range_of(all, [](const LocalExplanation& each) { return each.rounding; });
  if (rounding > 0) {
    add(test, "local.rounding", rounding, rounding, most_rounding, "B",
        rounding == most_rounding       ? "sure"
        : most_rounding <= 2 * rounding ? "likely"
                                        : "a guess",
        by);
  }
}

}  // namespace gputrace::analysis
