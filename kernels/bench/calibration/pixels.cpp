// Families of full-screen pixels: fill and texture.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/bench/calibration/families.h"
#include "kernels/bench/tests/fill/fill.h"
#include "kernels/bench/tests/fill/fill_cases.h"
#include "kernels/bench/tests/texel_formats.h"
#include "kernels/bench/tests/texture/texture.h"
#include "kernels/bench/tests/texture/texture_cases.h"

namespace gputrace::bench::calibration {
namespace {

using vulkan::Format;

double pixels_work(const KernelCase& kernel, const Launch& launch) {
  return threads_of(kernel, launch) * launch.repeats;
}

struct Fill {
  Format format = Format::kRgba8;
  std::uint32_t trips = 0;
  bool blend = false;
};

std::vector<Workload> fill_workloads(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<Fill> fills{{.trips = 0}, {.trips = 4}, {.trips = 32}};
  if (!quick) {
    fills.push_back({.trips = 1});
    fills.push_back({.trips = 0, .blend = true});
    fills.push_back({.format = Format::kRgba16f});
    fills.push_back({.format = Format::kR8});
  }
  std::vector<Workload> workloads;
  for (const Fill& fill : fills) {
    Workload& workload = workloads.emplace_back();
    workload.sized.kernel =
        fill_case({.target = fill_target(facts, fill.format, fill_bytes(facts, quick)),
                   .content = FillContent::kNoise,
                   .blend = fill.blend});
    workload.sized.launch.trips = fill.trips;
    workload.series = fmt::format("{}{}", name_of(fill.format), fill.blend ? ", blended" : "");
    workload.x = static_cast<double>(fill.trips) * kFillFmasPerTrip;
    workload.label = fmt::format("fill.{}.noise{}.t{}", id_of(fill.format),
                                 fill.blend ? ".blend" : "", fill.trips);
    // Noise is not compressed, and the target is larger than caches.
    const double bytes = (fill.blend ? 2.0 : 1.0) * static_cast<double>(bytes_of(fill.format));
    set_dram_bytes(workload.sized.kernel, [bytes](const Launch&) { return bytes; });
  }
  return workloads;
}

std::vector<Workload> texture_workloads(const vulkan::DeviceFacts& facts, bool quick) {
  constexpr std::uint32_t kFetches = 16;
  constexpr std::uint32_t kCachedSide = 256;
  constexpr std::uint32_t kRandomTarget = 1024;
  const std::uint32_t largest = texture_sides(facts, quick).back();
  const std::uint32_t cached = std::min(kCachedSide, largest);
  std::vector<TextureShape> shapes{
      {.side = cached, .bilinear = true, .access = TextureAccess::kCoherent},
      {.side = cached, .bilinear = true, .access = TextureAccess::kRandom},
      {.side = largest, .bilinear = true, .access = TextureAccess::kRandom}};
  if (!quick) {
    shapes.push_back({.side = largest, .bilinear = true, .access = TextureAccess::kCoherent});
    shapes.push_back({.side = cached, .bilinear = false, .access = TextureAccess::kCoherent});
    shapes.push_back({.side = largest, .bilinear = false, .access = TextureAccess::kRandom});
  }
  std::vector<Workload> workloads;
  for (TextureShape shape : shapes) {
    shape.fetches = kFetches;
    // Random places are all over the texture, however few pixels there are.
    shape.target_side = shape.access == TextureAccess::kRandom
                            ? std::min(kRandomTarget, texture_target_side(facts, shape))
                            : texture_target_side(facts, shape);
    KernelCase kernel = texture_case(shape);
    // A rasteriser's largest is its smallest.
    if (std::ranges::any_of(
            workloads, [&](const Workload& other) { return other.sized.kernel.id == kernel.id; })) {
      continue;
    }
    Workload& workload = workloads.emplace_back();
    workload.sized.kernel = std::move(kernel);
    workload.series =
        fmt::format("{}, {}", name_of(shape.access), shape.bilinear ? "bilinear" : "nearest");
    workload.x = shape.side;
  }
  return workloads;
}

}  // namespace

Family fill_family() {
  return {.table =
              [] { return table_of("calibration.fill", "GPixel/s", "multiply-adds", "FMA/pixel"); },
          .workloads = fill_workloads,
          .work = pixels_work};
}

Family texture_family() {
  return {.table =
              [] {
                return table_of("calibration.texture", "GTexel/s", "side of the texture", "texels");
              },
          .workloads = texture_workloads,
          .work = fetches_of};
}

}  // namespace gputrace::bench::calibration
