#include "kernels/bench/tests/stride/stride.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/latency/chase_point.h"
#include "kernels/bench/tests/latency/latency_cases.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchSeries;
using analysis::Proof;
using analysis::TestResult;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kSmallestStride = 16;
constexpr std::uint64_t kLargestStride = 2 * kMiB;
constexpr std::uint64_t kSmallestSet = 16 * kKiB;
constexpr std::uint64_t kLargestSet = 64 * kMiB;
constexpr std::uint64_t kLargestQuickCpuSet = 16 * kMiB;
/// Several places a line: what they show of memory is what lines show.
constexpr std::uint64_t kLargestSetOfParts = 4 * kMiB;
/// Fewer places say nothing of any cache.
constexpr std::uint64_t kFewestNodes = 8;
/// Up to nine buffers of the largest set are held.
constexpr std::uint64_t kMemoryShare = 32;
constexpr std::uint64_t kPage = 4 * kKiB;
constexpr std::uint64_t kSetOfCases = 256 * kKiB;

/// Steps of powers of 2 from `first`.
bool is_step(std::uint64_t value, std::uint64_t first, int bits) {
  return (std::countr_zero(value) - std::countr_zero(first)) % bits == 0;
}

unsigned rank_of(const StridePoint& point) {
  const bool in_factors_of_4 =
      is_step(point.stride_bytes, kSmallestStride, 2) && is_step(point.bytes, kSmallestSet, 2);
  if (!in_factors_of_4) {
    return point.jittered ? 3 : 2;
  }
  // Lines, pages and what is far larger than pages.
  const bool tells_most = point.jittered ? point.stride_bytes == kPage
                                         : is_step(point.stride_bytes, kNodeBytes, 6) &&
                                               point.stride_bytes >= kNodeBytes;
  return tells_most ? 0 : 1;
}

std::string name_of_stride(std::uint64_t bytes) {
  if (bytes >= kMiB) {
    return fmt::format("{} MiB", bytes / kMiB);
  }
  return bytes >= kKiB ? fmt::format("{} KiB", bytes / kKiB) : fmt::format("{} B", bytes);
}

KernelCase stride_case(const StridePoint& point, const vulkan::DeviceFacts& facts,
                       const ChaseTrack& track) {
  KernelCase kernel =
      chase_case(fmt::format("stride.{}.{}.{}", point.jittered ? "jittered" : "plain",
                             size_in_id(point.stride_bytes), size_in_id(point.bytes)),
                 {}, facts, track);
  kernel.description = fmt::format("chase through {} KiB, a place in {}{}", point.bytes / kKiB,
                                   name_of_stride(point.stride_bytes),
                                   point.jittered ? ", in a line that is drawn" : "");
  return kernel;
}

std::vector<ChaseTrack> tracks_of(const std::vector<StridePoint>& points,
                                  const vulkan::DeviceFacts& facts) {
  const ChaseLinks links = facts.buffer_addresses ? ChaseLinks::kAddresses : ChaseLinks::kWords;
  std::vector<ChaseTrack> tracks(points.size());
  // Strides below a line have buffers of their own: there a line has no room for others.
  const auto lay = [&](const auto& is_here) {
    std::vector<TrackWish> wishes;
    std::vector<std::size_t> of_point;
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (is_here(points[i].stride_bytes)) {
        wishes.push_back({.bytes = points[i].bytes,
                          .stride_bytes = points[i].stride_bytes,
                          .jittered = points[i].jittered});
        of_point.push_back(i);
        largest = std::max(largest, points[i].bytes);
      }
    }
    auto laid = lay_tracks(wishes, links, 1, largest);
    for (std::size_t i = 0; i < laid.size(); ++i) {
      tracks[of_point[i]] = std::move(laid[i]);
    }
  };
  for (std::uint64_t stride = kSmallestStride; stride < kNodeBytes; stride *= 2) {
    lay([stride](std::uint64_t of_point) { return of_point == stride; });
  }
  lay([](std::uint64_t of_point) { return of_point >= kNodeBytes; });
  return tracks;
}

TestResult head_of(bool jittered) {
  TestResult test;
  test.id = jittered ? "stride.jittered" : "stride.plain";
  test.unit = "ns a hop";
  test.axis = "working set";
  test.axis_unit = "B";
  return test;
}

struct Planned {
  StridePoint point;
  ChasePoint chase;
};

TestResult finish(std::vector<Planned>& all, bool jittered, TestResult test,
                  const PointLoop& loop) {
  PointLoop part{.lost = std::nullopt, .left_out = 0, .points = 0};
  std::size_t left = 0;
  for (Planned& planned : all) {
    if (planned.point.jittered != jittered) {
      continue;
    }
    ++part.points;
    left += planned.chase.is_done ? 0 : 1;
    const std::string name = name_of_stride(planned.point.stride_bytes);
    if (test.series.empty() || test.series.back().name != name) {
      test.series.push_back(BenchSeries{.name = name, .points = {}});
    }
    if (planned.chase.median.median) {
      test.rate = combine(
          test.rate, *planned.chase.median.median < kLeastHopNs ? Proof::kFailed : Proof::kPassed);
    }
    test.series.back().points.push_back(std::move(planned.chase.median));
  }
  part.left_out = loop.left_out > 0 ? left : 0;
  if (left > 0) {
    part.lost = loop.lost;
  }
  finish_test(test, part);
  return test;
}

}  // namespace

std::vector<StridePoint> stride_points(const vulkan::DeviceFacts& facts, bool quick) {
  std::uint64_t largest = facts.is_cpu && quick ? kLargestQuickCpuSet : kLargestSet;
  largest = std::min({largest, facts.max_storage_range,
                      std::max(facts.memory_bytes / kMemoryShare, kSmallestSet)});
  std::vector<StridePoint> points;
  for (const bool jittered : {false, true}) {
    const std::uint64_t first = jittered ? std::uint64_t{2} * kNodeBytes : kSmallestStride;
    for (std::uint64_t stride = first; stride <= kLargestStride; stride *= 2) {
      for (std::uint64_t bytes = kSmallestSet; bytes <= largest; bytes *= 2) {
        StridePoint point{.stride_bytes = stride, .bytes = bytes, .jittered = jittered, .rank = 0};
        point.rank = rank_of(point);
        const bool too_much = stride < kNodeBytes && bytes > kLargestSetOfParts;
        if (bytes / stride >= kFewestNodes && !too_much && (!quick || point.rank <= 1)) {
          points.push_back(point);
        }
      }
    }
  }
  return points;
}

std::vector<TestResult> run_stride(TestContext& context) {
  const vulkan::DeviceFacts& facts = context.runner.facts();
  const std::vector<StridePoint> points = stride_points(facts, context.quick);
  std::vector<Planned> all;
  std::vector<unsigned> ranks;
  {
    const std::vector<ChaseTrack> tracks = tracks_of(points, facts);
    for (std::size_t i = 0; i < points.size(); ++i) {
      all.push_back(
          {.point = points[i],
           .chase = chase_point({}, stride_case(points[i], facts, tracks[i]), facts, tracks[i])});
      ranks.push_back(points[i].rank);
    }
  }
  std::array<TestResult, 2> tests{head_of(false), head_of(true)};
  const MeasurementOptions own = chase_options(context.options, context.quick);
  const PointLoop loop =
      for_each_point(own, ranks, [&](std::size_t index, const MeasurementOptions& options) {
        Planned& planned = all[index];
        return measure_chase(context, options, planned.chase,
                             tests.at(planned.point.jittered ? 1 : 0));
      });
  std::vector<TestResult> results;
  const bool stopped = loop.lost || (own.cancelled && own.cancelled());
  for (const bool jittered : {false, true}) {
    const bool any_done = std::any_of(all.begin(), all.end(), [&](const Planned& planned) {
      return planned.point.jittered == jittered && planned.chase.is_done;
    });
    if (any_done || !stopped) {
      results.push_back(finish(all, jittered, std::move(tests.at(jittered ? 1 : 0)), loop));
    }
  }
  return results;
}

std::vector<KernelCase> stride_cases(const vulkan::DeviceFacts& facts) {
  std::vector<StridePoint> points{
      {.stride_bytes = kPage, .bytes = kSetOfCases, .jittered = false, .rank = 0},
      {.stride_bytes = kPage, .bytes = kSetOfCases, .jittered = true, .rank = 0}};
  std::vector<KernelCase> cases;
  cases.reserve(points.size());
  const std::vector<ChaseTrack> tracks = tracks_of(points, facts);
  for (std::size_t i = 0; i < points.size(); ++i) {
    cases.push_back(stride_case(points[i], facts, tracks[i]));
  }
  return cases;
}

}  // namespace gputrace::bench
