#include "kernels/bench/tests/texture/texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "kernels/bench/tests/pixel_tables.h"
#include "kernels/bench/tests/texel_formats.h"
#include "kernels/bench/tests/texture/texture_cases.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using vulkan::Format;

struct Kind {
  Format format;
  bool bilinear;
};

constexpr std::array<Kind, 5> kKinds{{{Format::kRgba8, false},
                                      {Format::kRgba8, true},
                                      {Format::kBc7, true},
                                      {Format::kR16f, false},
                                      {Format::kR16f, true}}};
constexpr Kind kPlain = kKinds.front();
constexpr std::array<std::uint32_t, 5> kFetches{1, 2, 4, 8, 16};
constexpr std::array<std::uint32_t, 3> kQuickFetches{1, 4, 16};
constexpr std::uint32_t kMostFetches = 16;

std::string kind_name(const Kind& kind) {
  return fmt::format("{} {}", name_of(kind.format), kind.bilinear ? "bilinear" : "nearest");
}

/// When time is short: the plain kind first, then the others, then the largest textures, whose
/// texels take longer to make than to fetch.
unsigned rank_of(const vulkan::DeviceFacts& facts, const TextureShape& shape) {
  constexpr std::uint32_t kLargeSide = 2048;
  const bool plain = shape.format == kPlain.format && shape.bilinear == kPlain.bilinear;
  if (!facts.is_cpu && shape.side >= kLargeSide) {
    return plain ? 1 : 3;
  }
  return plain ? 0 : 2;
}

void add(PixelTables& tables, const vulkan::DeviceFacts& facts, TextureShape shape, double x,
         std::string series) {
  shape.target_side = texture_target_side(facts, shape);
  tables.add_kernel({.sized = {.kernel = texture_case(shape),
                               .launch = {.groups = 1, .trips = 1, .repeats = 1},
                               .scale_trips = false}});
  tables.add_point({.trips = 1,
                    .groups = 1,
                    .work = fetches_of,
                    .series = std::move(series),
                    .x = x,
                    .rank = rank_of(facts, shape)});
}

void plan_fetches(PixelTables& tables, const vulkan::DeviceFacts& facts, bool quick) {
  constexpr std::uint32_t kSide = 1024;  // more than the first caches, less than the last
  const std::uint32_t side = std::min(kSide, texture_sides(facts, quick).back());
  tables.begin_table(
      {.id = "texture.fetches", .unit = "GTexel/s", .axis = "fetches", .axis_unit = "1/pixel"});
  for (const Kind& kind : kKinds) {
    const auto counts = quick ? std::span<const std::uint32_t>(kQuickFetches)
                              : std::span<const std::uint32_t>(kFetches);
    for (const std::uint32_t fetches : counts) {
      add(tables, facts,
          {.format = kind.format, .side = side, .bilinear = kind.bilinear, .fetches = fetches},
          fetches, kind_name(kind));
    }
  }
}

void plan_sides(PixelTables& tables, const vulkan::DeviceFacts& facts, bool quick,
                TextureAccess access) {
  tables.begin_table({.id = fmt::format("texture.{}", name_of(access)),
                      .unit = "GTexel/s",
                      .axis = "side of the texture",
                      .axis_unit = "texels"});
  for (const Kind& kind : kKinds) {
    for (const std::uint32_t side : texture_sides(facts, quick)) {
      add(tables, facts,
          {.format = kind.format,
           .side = side,
           .bilinear = kind.bilinear,
           .access = access,
           .fetches = kMostFetches},
          side, kind_name(kind));
    }
  }
}

/// Of any texture: the size changes a constant alone.
void plan_hash(PixelTables& tables, const vulkan::DeviceFacts& facts, bool quick) {
  tables.begin_table(
      {.id = "texture.hash", .unit = "GTexel/s", .axis = "places", .axis_unit = "1/pixel"});
  add(tables, facts,
      {.format = kPlain.format,
       .side = texture_sides(facts, quick).back(),
       .bilinear = kPlain.bilinear,
       .access = TextureAccess::kHash,
       .fetches = kMostFetches},
      kMostFetches, "nothing fetched");
}

/// Of the time that random fetches of the plain kind take, what the hash alone takes.
void derive_hash(TestResult& random, const TestResult& hash) {
  const BenchPoint* const alone = best_point(hash);
  const double hash_rate = alone != nullptr ? alone->median.value_or(0) : 0;
  const auto plain = std::ranges::find(random.series, kind_name(kPlain), &BenchSeries::name);
  if (!(hash_rate > 0) || plain == random.series.end()) {
    return;
  }
  for (const BenchPoint& point : plain->points) {
    if (point.median && point.status == analysis::TestStatus::kOk) {
      random.derived.push_back({.what = fmt::format("{}.hash.{:g}", random.id, point.x),
                                .value = 100 * *point.median / hash_rate,
                                .lower = std::nullopt,
                                .upper = std::nullopt,
                                .unit = "%",
                                .confidence = "",
                                .by = fmt::format("of the time of {}, n = {}", plain->name,
                                                  std::min(point.samples, alone->samples))});
    }
  }
}

}  // namespace

std::uint32_t texture_target_side(const vulkan::DeviceFacts& facts, const TextureShape& shape) {
  constexpr std::uint32_t kSide = 2048;
  constexpr std::uint32_t kCpuSide = 128;
  constexpr std::uint32_t kCpuBc7Side = 16;
  if (facts.is_cpu) {
    return shape.format == Format::kBc7 ? kCpuBc7Side : kCpuSide;
  }
  return std::max(shape.side, kSide);
}

std::vector<std::uint32_t> texture_sides(const vulkan::DeviceFacts& facts, bool quick) {
  constexpr std::uint32_t kSmallest = 64;
  constexpr std::uint32_t kLargest = 8192;
  constexpr std::uint32_t kLargestQuick = 4096;
  constexpr std::uint32_t kLargestCpu = 512;
  constexpr std::uint32_t kLargestQuickCpu = 128;
  constexpr std::uint64_t kMemoryShare = 16;
  std::uint32_t largest = quick ? kLargestQuick : kLargest;
  if (facts.is_cpu) {
    largest = quick ? kLargestQuickCpu : kLargestCpu;
  }
  largest = std::min(largest, std::max(facts.max_image_side, kSmallest));
  std::vector<std::uint32_t> sides;
  const std::uint32_t step = quick && !facts.is_cpu ? 8 : 2;
  for (std::uint32_t side = kSmallest; side <= largest; side *= step) {
    const std::uint64_t bytes = std::uint64_t{side} * side * vulkan::bytes_of(Format::kRgba8);
    if (side == kSmallest || facts.memory_bytes == 0 ||
        bytes <= facts.memory_bytes / kMemoryShare) {
      sides.push_back(side);
    }
  }
  return sides;
}

std::vector<TestResult> run_texture(TestContext& context) {
  const vulkan::DeviceFacts& facts = context.runner.facts();
  PixelTables tables;
  plan_fetches(tables, facts, context.quick);
  plan_sides(tables, facts, context.quick, TextureAccess::kCoherent);
  plan_sides(tables, facts, context.quick, TextureAccess::kRandom);
  plan_hash(tables, facts, context.quick);
  std::vector<TestResult> results = tables.measure(context);
  for (TestResult& test : results) {
    derive_peak(test, "GTexel/s");
  }
  derive_hash(results.at(2), results.at(3));
  return results;
}

std::vector<KernelCase> texture_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  const auto add_case = [&](const Kind& kind, TextureAccess access, std::uint32_t fetches) {
    TextureShape shape{.format = kind.format,
                       .side = texture_sides(facts, true).front(),
                       .bilinear = kind.bilinear,
                       .access = access,
                       .fetches = fetches};
    shape.target_side = texture_target_side(facts, shape);
    cases.push_back(texture_case(shape));
  };
  for (const Kind& kind : kKinds) {
    for (const std::uint32_t fetches : kFetches) {
      add_case(kind, TextureAccess::kCoherent, fetches);
    }
    add_case(kind, TextureAccess::kRandom, kMostFetches);
  }
  add_case(kPlain, TextureAccess::kHash, kMostFetches);
  return cases;
}

}  // namespace gputrace::bench
