#include "kernels/bench/tests/fill/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "kernels/bench/roofline_part.h"
#include "kernels/bench/tests/fill/fill_cases.h"
#include "kernels/bench/tests/pixel_tables.h"
#include "kernels/bench/tests/texel_formats.h"

namespace gputrace::bench {

namespace {

using analysis::TestResult;
using vulkan::Format;

constexpr std::array kFormats{Format::kRgba8, Format::kR8, Format::kRgba16f, Format::kR11G11B10f,
                              Format::kD32f};
constexpr std::array kContents{FillContent::kConstant, FillContent::kGradient, FillContent::kNoise};
constexpr std::array kQuickContents{FillContent::kConstant, FillContent::kNoise};
// Trips of kFillFmasPerTrip FMAs each; the highest first, with which the result is proven.
constexpr std::array<std::uint32_t, 7> kTrips{32, 16, 8, 4, 2, 1, 0};
constexpr std::array<std::uint32_t, 3> kQuickTrips{32, 4, 0};
constexpr std::array<std::uint32_t, 5> kOverdraws{16, 8, 4, 2, 1};
constexpr std::array<std::uint32_t, 3> kQuickOverdraws{16, 4, 1};

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
/// Larger than the caches of integrated GPUs (up to 32 MiB are known) and of discrete ones (96).
constexpr std::uint64_t kIntegratedBytes = 64 * kMiB;
constexpr std::uint64_t kDiscreteBytes = 128 * kMiB;
constexpr std::uint64_t kCpuBytes = kMiB;
constexpr std::uint64_t kQuickCpuBytes = kMiB / 16;
constexpr std::uint64_t kSmallestTarget = kMiB / 16;
// Tile memories of 1 to 21 MiB are known, and targets up to three times as large tell their end.
constexpr std::uint64_t kSmallestTile = kMiB;
constexpr std::uint64_t kLargestTile = 64 * kMiB;
constexpr std::uint64_t kSmallestCpuTile = kMiB / 64;
constexpr std::uint64_t kLargestCpuTile = 4 * kMiB;
constexpr std::uint64_t kLargestQuickCpuTile = kMiB / 4;
/// So much of a tile's work stays in it.
constexpr std::uint32_t kTileInstances = 8;
constexpr std::string_view kTileSeries = "blended";
/// Of the best rate: above it a target still fits, below it does not.
constexpr double kFits = 0.8;

// What is measured first when time is short: each format once, then more of each axis.
constexpr unsigned kSkeleton = 0;
constexpr unsigned kTiles = 1;
constexpr unsigned kArithmetic = 2;
constexpr unsigned kMore = 3;

double pixels_of(const KernelCase& kernel, const Launch& launch) {
  return threads_of(kernel, launch) * launch.repeats;
}

RooflineKernel fill_kernel(const vulkan::DeviceFacts& facts, FillShape shape, std::uint64_t bytes,
                           std::uint32_t instances) {
  shape.target = fill_target(facts, shape.target.format, bytes);
  return {.sized = {.kernel = fill_case(shape),
                    .launch = {.groups = instances, .trips = 0, .repeats = 1},
                    .scale_trips = false},
          .bytes = bytes,
          .smaller = [facts, shape, instances](std::uint64_t fewer) {
            return fill_kernel(facts, shape, fewer, instances).sized;
          }};
}

template <class T>
std::span<const T> choose(bool quick, std::span<const T> few, std::span<const T> all) {
  return quick ? few : all;
}

unsigned rank_of(FillContent content, std::uint32_t trips) {
  if (content != FillContent::kNoise) {
    return kMore;
  }
  return trips == 0 ? kSkeleton : kArithmetic;
}

/// A result for each format.
void plan_formats(PixelTables& tables, const vulkan::DeviceFacts& facts, bool quick) {
  for (const Format format : kFormats) {
    tables.begin_table({.id = fmt::format("fill.{}", id_of(format)),
                        .unit = "GPixel/s",
                        .axis = "multiply-adds",
                        .axis_unit = "FMA/pixel"});
    for (const FillContent content : choose<FillContent>(quick, kQuickContents, kContents)) {
      tables.add_kernel(fill_kernel(facts, {.target = {.format = format}, .content = content},
                                    fill_bytes(facts, quick), 1));
      for (const std::uint32_t trips : choose<std::uint32_t>(quick, kQuickTrips, kTrips)) {
        tables.add_point({.trips = trips,
                          .groups = 1,
                          .work = pixels_of,
                          .series = std::string(name_of(content)),
                          .x = static_cast<double>(trips) * kFillFmasPerTrip,
                          .rank = rank_of(content, trips)});
      }
    }
  }
}

void plan_overdraw(PixelTables& tables, const vulkan::DeviceFacts& facts, bool quick) {
  tables.begin_table({.id = "fill.overdraw",
                      .unit = "GPixel/s",
                      .axis = "pixels over each other",
                      .axis_unit = ""});
  for (const bool blend : {false, true}) {
    tables.add_kernel(fill_kernel(
        facts,
        {.target = {.format = Format::kRgba8}, .content = FillContent::kNoise, .blend = blend},
        fill_bytes(facts, quick), kOverdraws.front()));
    for (const std::uint32_t instances :
         choose<std::uint32_t>(quick, kQuickOverdraws, kOverdraws)) {
      tables.add_point({.trips = 0,
                        .groups = instances,
                        .work = pixels_of,
                        .series = blend ? "blended" : "written",
                        .x = static_cast<double>(instances),
                        .rank = kArithmetic});
    }
  }
}

/// Where caches or the memory of a tile end.
void plan_targets(PixelTables& tables, const vulkan::DeviceFacts& facts, bool quick) {
  tables.begin_table({.id = "fill.target", .unit = "GPixel/s", .axis = "target", .axis_unit = "B"});
  const std::uint64_t step = quick ? 16 : 2;
  for (std::uint64_t bytes = kSmallestTarget; bytes <= fill_bytes(facts, quick); bytes *= step) {
    tables.add_kernel(fill_kernel(
        facts, {.target = {.format = Format::kRgba8}, .content = FillContent::kNoise}, bytes, 1));
    tables.add_point({.trips = 0,
                      .groups = 1,
                      .work = pixels_of,
                      .series = "noise",
                      .x = static_cast<double>(bytes),
                      .rank = kMore});
  }
}

/// Blending reads what lies beneath: from the memory of a tile as long as targets fit there.
void plan_tiles(PixelTables& tables, const vulkan::DeviceFacts& facts, bool quick) {
  tables.begin_table({.id = "fill.tile", .unit = "GPixel/s", .axis = "target", .axis_unit = "B"});
  const std::vector<std::uint64_t> sizes = tile_sizes(facts, quick);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    tables.add_kernel(fill_kernel(
        facts,
        {.target = {.format = Format::kRgba8}, .content = FillContent::kNoise, .blend = true},
        sizes[i], kTileInstances));
    // The ends and the middle first.
    const bool skeleton = i == 0 || i == sizes.size() / 2 || i + 1 == sizes.size();
    tables.add_point({.trips = 0,
                      .groups = kTileInstances,
                      .work = pixels_of,
                      .series = std::string(kTileSeries),
                      .x = static_cast<double>(sizes[i]),
                      .rank = skeleton ? kSkeleton : kTiles});
  }
}

/// Where the rate of blending falls for good: the largest target that still fits.
void derive_tile(TestResult& test) {
  const auto series = std::ranges::find(test.series, kTileSeries, &analysis::BenchSeries::name);
  if (series == test.series.end()) {
    return;
  }
  double best = 0;
  for (const analysis::BenchPoint& point : series->points) {
    best = std::max(best, point.median.value_or(0));
  }
  const analysis::BenchPoint* fits = nullptr;
  const analysis::BenchPoint* too_large = nullptr;
  for (const analysis::BenchPoint& point : series->points) {
    if (!point.median || point.status != analysis::TestStatus::kOk) {
      continue;
    }
    if (*point.median >= kFits * best) {
      fits = &point;
      too_large = nullptr;
    } else if (fits != nullptr && too_large == nullptr) {
      too_large = &point;
    }
  }
  if (too_large != nullptr) {
    test.derived.push_back(
        {.what = "tile.size",
         .value = fits->x,
         .lower = fits->x,
         .upper = too_large->x,
         .unit = "B",
         .confidence = "a guess",
         .by = fmt::format("blending falls from {:.3g} to {:.3g} GPixel/s; a tile's memory or a "
                           "cache ends here",
                           fits->median.value_or(0), too_large->median.value_or(0))});
  }
}

const analysis::BenchPoint* point_at(const TestResult& test, std::string_view series, double x) {
  for (const analysis::BenchSeries& each : test.series) {
    for (const analysis::BenchPoint& point : each.points) {
      if (each.name == series && point.x == x && point.median &&
          point.status == analysis::TestStatus::kOk) {
        return &point;
      }
    }
  }
  return nullptr;
}

void derive(TestResult& test, Format format) {
  constexpr double kMostFmas = static_cast<double>(kTrips.front()) * kFillFmasPerTrip;
  derive_peak(test, "GPixel/s");
  const std::string noise(name_of(FillContent::kNoise));
  if (const auto* const point = point_at(test, noise, 0)) {
    test.derived.push_back(
        scaled(ceiling_of(*point, test.id + ".written", "GB/s",
                          fmt::format("noise without FMAs, n = {}", point->samples)),
               static_cast<double>(vulkan::bytes_of(format))));
  }
  if (const auto* const point = point_at(test, noise, kMostFmas)) {
    test.derived.push_back(
        scaled(ceiling_of(*point, test.id + ".flops", "GFLOPS",
                          fmt::format("{:.0f} FMA/pixel, n = {}", kMostFmas, point->samples)),
               2 * kMostFmas));
  }
}

}  // namespace

std::vector<std::uint64_t> tile_sizes(const vulkan::DeviceFacts& facts, bool quick) {
  std::uint64_t largest = kLargestTile;
  if (facts.is_cpu) {
    largest = quick ? kLargestQuickCpuTile : kLargestCpuTile;
  }
  std::vector<std::uint64_t> sizes;
  std::uint64_t pixels_before = 0;
  for (std::uint64_t bytes = facts.is_cpu ? kSmallestCpuTile : kSmallestTile; bytes <= largest;
       bytes *= 2) {
    // Sizes that the device cuts to the same target say nothing new.
    const vulkan::TargetDescription target = fill_target(facts, Format::kRgba8, bytes);
    const std::uint64_t pixels = std::uint64_t{target.width} * target.height;
    if (pixels * vulkan::bytes_of(Format::kRgba8) == bytes && pixels > pixels_before) {
      sizes.push_back(bytes);
      pixels_before = pixels;
    }
  }
  return sizes;
}

std::uint64_t fill_bytes(const vulkan::DeviceFacts& facts, bool quick) {
  if (facts.is_cpu) {
    return quick ? kQuickCpuBytes : kCpuBytes;
  }
  return facts.listed.type == "discrete GPU" ? kDiscreteBytes : kIntegratedBytes;
}

vulkan::TargetDescription fill_target(const vulkan::DeviceFacts& facts, Format format,
                                      std::uint64_t bytes) {
  constexpr std::uint64_t kMemoryShare = 8;
  if (facts.memory_bytes > 0) {
    bytes = std::min(bytes, facts.memory_bytes / kMemoryShare);
  }
  const std::uint64_t pixels = std::max<std::uint64_t>(bytes / vulkan::bytes_of(format), 1);
  const auto bits = static_cast<std::uint32_t>(std::bit_width(pixels) - 1);
  const auto side = [&](std::uint32_t side_bits) {
    return std::min(std::uint32_t{1} << side_bits, std::max(facts.max_image_side, 1U));
  };
  return {.width = side((bits + 1) / 2), .height = side(bits / 2), .format = format};
}

std::vector<TestResult> run_fill(TestContext& context) {
  const vulkan::DeviceFacts& facts = context.runner.facts();
  PixelTables tables;
  plan_formats(tables, facts, context.quick);
  plan_overdraw(tables, facts, context.quick);
  plan_targets(tables, facts, context.quick);
  plan_tiles(tables, facts, context.quick);
  std::vector<TestResult> results = tables.measure(context);
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    derive(results.at(i), kFormats.at(i));
  }
  derive_peak(results.at(kFormats.size()), "GPixel/s");
  // A software rasteriser has the caches of its CPU, and no memory for tiles.
  if (!facts.is_cpu) {
    derive_tile(results.back());
  }
  return results;
}

std::vector<KernelCase> fill_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  for (const Format format : kFormats) {
    const vulkan::TargetDescription target = fill_target(facts, format, kSmallestTarget);
    for (const FillContent content : kContents) {
      cases.push_back(fill_case({.target = target, .content = content}));
    }
  }
  cases.push_back(fill_case({.target = fill_target(facts, Format::kRgba8, kSmallestTarget),
                             .content = FillContent::kNoise,
                             .blend = true}));
  return cases;
}

}  // namespace gputrace::bench
