#include "kernels/bench/tests/latency/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/latency/chase_point.h"
#include "kernels/bench/tests/latency/hops.h"
#include "kernels/bench/tests/latency/latency_cases.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchSeries;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kSmallestSet = kKiB;
/// From where the first sizes are counted, in factors of 4.
constexpr std::uint64_t kFirstSet = 4 * kKiB;
/// Caches up to 96 MiB are known; host memory behind a software rasteriser is slow to fill.
constexpr std::uint64_t kLargestSet = 256 * kMiB;
constexpr std::uint64_t kLargestQuickSet = 64 * kMiB;
constexpr std::uint64_t kLargestCpuSet = 64 * kMiB;
constexpr std::uint64_t kLargestQuickCpuSet = 16 * kMiB;
/// The kernels that are shown and verified.
constexpr std::uint64_t kSetOfCases = 64 * kKiB;
/// Ranks of points. The vector path tells the caches: it has its octaves (1) before other paths
/// have more than a few sizes.
constexpr unsigned kRankOfVectorOctaves = 1;
constexpr unsigned kRankOfFactors4 = 2;
constexpr unsigned kRankOfOctaves = 3;
constexpr unsigned kRankOfChains = 4;
constexpr unsigned kRankOfDenser = 5;
constexpr std::size_t kHops = 16'384;
constexpr std::size_t kQuickHops = kKeptHops - 1;

unsigned rank_of(bool is_vector, std::uint64_t bytes, bool is_octave) {
  if (!is_octave) {
    return kRankOfDenser;
  }
  const int octaves = std::countr_zero(bytes) - std::countr_zero(kFirstSet);
  const bool in_factors_of_4 = octaves >= 0 && octaves % 2 == 0;
  if (is_vector) {
    return in_factors_of_4 ? 0 : kRankOfVectorOctaves;
  }
  if (in_factors_of_4) {
    return octaves % 4 == 0 ? 0 : kRankOfFactors4;
  }
  return kRankOfOctaves;
}

/// Series beside the plain chase.
std::vector<ChaseShape> more_shapes(Path path) {
  if (path != Path::kVector && path != Path::kScalar) {
    return {};
  }
  std::vector<ChaseShape> shapes{{.path = path, .chains = 2},
                                 {.path = path, .chains = 4},
                                 {.path = path, .chains = kMaxChains}};
  if (!is_uniform(path)) {
    shapes.push_back({.path = path, .chains = 1, .full_wave = true});
  }
  return shapes;
}

/// Of series other than the plain one: a near cache, one farther, and memory; in full runs octaves.
bool has_more_shapes(const ChaseSize& size, std::uint64_t largest, bool quick) {
  if (size.rank == kRankOfDenser || size.bytes < kFirstSet) {
    return false;  // a full wave needs a node a lane
  }
  return !quick || size.bytes == 16 * kKiB || size.bytes == 512 * kKiB || size.bytes == largest;
}

/// Why a path has no sizes.
std::string why_skipped(Path path, const vulkan::DeviceFacts& facts) {
  return fmt::format("{} lets a shader read {} bytes on this path, {} are needed",
                     facts.listed.name, chase_range(path, facts), kSmallestSet);
}

struct PathPlan {
  TestResult test;
  std::vector<ChasePoint> points;
  std::vector<std::string> series;  ///< of each point
  std::vector<unsigned> ranks;
};

TestResult head_of(std::string_view name) {
  TestResult test;
  test.id = fmt::format("latency.{}", name);
  test.unit = "ns a hop";
  test.axis = "working set";
  test.axis_unit = "B";
  return test;
}

PathPlan plan_path(Path path, const vulkan::DeviceFacts& facts, bool quick,
                   const std::vector<ChaseSize>& sizes, const std::vector<ChaseTrack>& tracks) {
  PathPlan plan;
  plan.test = head_of(name_of(path));
  if (sizes.empty()) {
    plan.test.status = TestStatus::kSkipped;
    plan.test.why = why_skipped(path, facts);
    return plan;
  }
  const auto add = [&](const ChaseShape& shape, std::size_t i, unsigned rank) {
    plan.points.push_back(
        chase_point(shape, chase_case(shape, facts, tracks[i]), facts, tracks[i]));
    plan.series.push_back(name_of(shape));
    plan.ranks.push_back(rank);
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    add({.path = path}, i, sizes[i].rank);
  }
  for (const ChaseShape& shape : more_shapes(path)) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (has_more_shapes(sizes[i], sizes.back().bytes, quick)) {
        add(shape, i, kRankOfChains);
      }
    }
  }
  return plan;
}

/// What points of all paths read from: the vector path, the uniform one and the timed hops have
/// tracks in common.
struct Plan {
  std::vector<PathPlan> paths;
  TestResult hops;
  std::vector<HopPoint> hop_points;
  std::vector<unsigned> hop_ranks;
};

void plan_hops(const Runner& runner, const std::vector<ChaseSize>& sizes,
               const std::vector<ChaseTrack>& tracks, Plan& plan) {
  plan.hops = head_of("hops");
  plan.hops.unit = "share of hops";
  plan.hops.axis = "clocks";
  plan.hops.axis_unit = "";
  if (std::string missing = missing_for_hops(runner); !missing.empty()) {
    plan.hops.status = TestStatus::kSkipped;
    plan.hops.why = std::move(missing);
    return;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].rank != kRankOfDenser && sizes[i].bytes >= kFirstSet) {
      plan.hop_points.push_back(hop_point(runner.facts(), tracks[i]));
      plan.hop_ranks.push_back(rank_of(false, sizes[i].bytes, true));
    }
  }
}

Plan make_plan(const TestContext& context) {
  const vulkan::DeviceFacts& facts = context.runner.facts();
  Plan plan;
  std::vector<ChaseTrack> of_vector;
  for (const Path path : kChasePaths) {
    const auto sizes = chase_sizes(path, facts, context.quick);
    std::vector<std::uint64_t> bytes;
    std::transform(sizes.begin(), sizes.end(), std::back_inserter(bytes),
                   [](const ChaseSize& size) { return size.bytes; });
    auto tracks = path == Path::kScalar ? of_vector : chase_tracks(path, facts, bytes);
    plan.paths.push_back(plan_path(path, facts, context.quick, sizes, tracks));
    if (path == Path::kVector) {
      of_vector = std::move(tracks);
      plan_hops(context.runner, sizes, of_vector, plan);
    }
  }
  return plan;
}

void collect(PathPlan& plan) {
  const auto series = [&](const std::string& name) -> BenchSeries& {
    auto& all = plan.test.series;
    const auto place = std::find_if(all.begin(), all.end(),
                                    [&](const BenchSeries& each) { return each.name == name; });
    return place != all.end() ? *place : all.emplace_back(BenchSeries{name, {}});
  };
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const ChasePoint& point = plan.points[i];
    series(plan.series[i]).points.push_back(point.median);
    const bool is_plain = plan.series[i] == name_of(ChaseShape{});
    if (is_plain && point.minimum) {
      series(plan.series[i] + ", minimum").points.push_back(*point.minimum);
    }
    if (point.median.median) {
      plan.test.rate = combine(
          plan.test.rate, *point.median.median < kLeastHopNs ? Proof::kFailed : Proof::kPassed);
    }
    // Clocks, where a sensor tells the clock.
    const auto mhz =
        point.median.clock_after_mhz ? point.median.clock_after_mhz : point.median.clock_before_mhz;
    if (is_plain && point.median.median && mhz) {
      plan.test.derived.push_back({.what = fmt::format("{:.0f} KiB", point.median.x / kKiB),
                                   .value = *point.median.median * *mhz / 1000,
                                   .lower = std::nullopt,
                                   .upper = std::nullopt,
                                   .unit = "clk",
                                   .confidence = "",
                                   .by = fmt::format("{:.0f} MHz", *mhz)});
    }
  }
}

/// Of a part of the points of a loop.
template <class Points>
PointLoop part_of(const PointLoop& loop, const Points& points) {
  const auto left = static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const auto& each) { return !each.is_done; }));
  return {.lost = left > 0 || points.empty() ? loop.lost : std::nullopt,
          .left_out = loop.left_out > 0 ? left : 0,
          .points = points.size()};
}

std::vector<TestResult> finish(Plan& plan, const PointLoop& loop, bool cancelled) {
  std::vector<TestResult> results;
  const auto add = [&](TestResult& test, const PointLoop& part, bool any_done) {
    const bool was_skipped = test.status == TestStatus::kSkipped;
    if (was_skipped || any_done || (!cancelled && !loop.lost)) {
      if (!was_skipped) {
        finish_test(test, part);
      }
      results.push_back(std::move(test));
    }
  };
  const auto any_done = [](const auto& points) {
    return std::any_of(points.begin(), points.end(), [](const auto& each) { return each.is_done; });
  };
  for (PathPlan& path : plan.paths) {
    collect(path);
    add(path.test, part_of(loop, path.points), any_done(path.points));
  }
  enter_hops(plan.hop_points, plan.hops);
  add(plan.hops, part_of(loop, plan.hop_points), any_done(plan.hop_points));
  return results;
}

}  // namespace

std::vector<ChaseSize> chase_sizes(Path path, const vulkan::DeviceFacts& facts, bool quick) {
  std::uint64_t largest = 0;
  if (facts.is_cpu) {
    largest = quick ? kLargestQuickCpuSet : kLargestCpuSet;
  } else {
    largest = quick ? kLargestQuickSet : kLargestSet;
  }
  largest = std::min(largest, largest_chase(path, facts));
  const bool octaves = quick || path == Path::kImage || path == Path::kSampled;
  std::uint64_t smallest = kSmallestSet;
  if (path == Path::kSampled) {
    smallest *= 2;  // an image has 16 texels to a side
  }
  std::vector<ChaseSize> sizes;
  for (int quarter = 0;; ++quarter) {
    const double exact = static_cast<double>(kSmallestSet) * std::exp2(quarter / 4.0);
    const auto bytes = static_cast<std::uint64_t>(std::round(exact / kNodeBytes)) * kNodeBytes;
    if (bytes > largest) {
      return sizes;
    }
    const bool is_octave = quarter % 4 == 0;
    if (bytes < smallest || (octaves && !is_octave)) {
      continue;
    }
    sizes.push_back({bytes, rank_of(path == Path::kVector, bytes, is_octave)});
  }
}

std::vector<TestResult> run_latency(TestContext& context) {
  Plan plan = make_plan(context);
  struct Place {
    PathPlan* path = nullptr;  ///< null = of the hops
    std::size_t index = 0;
  };
  std::vector<Place> places;
  std::vector<unsigned> ranks;
  for (PathPlan& path : plan.paths) {
    for (std::size_t i = 0; i < path.points.size(); ++i) {
      places.push_back({&path, i});
      ranks.push_back(path.ranks[i]);
    }
  }
  for (std::size_t i = 0; i < plan.hop_points.size(); ++i) {
    places.push_back({nullptr, i});
    ranks.push_back(plan.hop_ranks[i]);
  }
  const MeasurementOptions own = chase_options(context.options, context.quick);
  const PointLoop loop =
      for_each_point(own, ranks, [&](std::size_t index, const MeasurementOptions& options) {
        const Place& place = places[index];
        return place.path != nullptr
                   ? measure_chase(context, options, place.path->points[place.index],
                                   place.path->test)
                   : measure_hops(context, options, context.quick ? kQuickHops : kHops,
                                  plan.hop_points[place.index], plan.hops);
      });
  return finish(plan, loop, own.cancelled && own.cancelled());
}

std::vector<KernelCase> latency_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  for (const Path path : kChasePaths) {
    const std::uint64_t range = std::min(chase_range(path, facts), kSetOfCases);
    if (range < 2 * kSmallestSet) {
      continue;
    }
    const auto tracks = chase_tracks(path, facts, {std::bit_floor(range)});
    std::vector<ChaseShape> shapes = more_shapes(path);
    shapes.insert(shapes.begin(), {.path = path});
    for (const ChaseShape& shape : shapes) {
      cases.push_back(chase_case(shape, facts, tracks.front()));
    }
    if (path == Path::kVector && facts.buffer_addresses) {
      cases.push_back(hop_case(tracks.front(), std::make_shared<HopLog>()));
    }
  }
  return cases;
}

}  // namespace gputrace::bench
