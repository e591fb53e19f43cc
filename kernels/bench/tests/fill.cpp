#include "kernels/bench/tests/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "kernels/bench/roofline_part.h"
#include "kernels/bench/tests/fill_cases.h"
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
                          .x = static_cast<double>(trips) * kFillFmasPerTrip});
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
                        .x = static_cast<double>(instances)});
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
                      .x = static_cast<double>(bytes)});
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
  std::vector<TestResult> results = tables.measure(context);
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    derive(results.at(i), kFormats.at(i));
  }
  derive_peak(results.at(kFormats.size()), "GPixel/s");
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
