#include "kernels/bench/tests/fill/fill_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/bench/tests/sampled_pixels.h"
#include "kernels/bench/tests/texel_formats.h"

namespace gputrace::bench {

namespace {

/// fill.glsl's push constants.
struct FillPush {
  std::uint32_t trips = 0;
  float x = 0;
  float y = 0;
  std::uint32_t base = 0;
  std::uint32_t shift = 0;
};

/// 4 / 5 radians a trip: one that is left out shows in every pixel.
constexpr float kTurn = 0.2F;
/// No byte overflows into the next when a gradient's step, 127 at most, is added.
constexpr std::uint32_t kBase = 0x30708010;
constexpr std::uint32_t kNoGradient = 31;
/// Of 512 multiply-adds, where a driver rounds them twice or flushes small numbers.
constexpr double kArithmeticError = 5e-4;

std::uint32_t shift_of(const FillShape& shape) {
  constexpr int kStepBits = 7;
  if (shape.content != FillContent::kGradient) {
    return kNoGradient;
  }
  const int bits = static_cast<int>(std::bit_width(shape.target.width - 1));
  return static_cast<std::uint32_t>(std::max(bits - kStepBits, 0));
}

/// fill.glsl's four_bytes().
std::uint32_t four_bytes(const FillShape& shape, std::uint32_t x, std::uint32_t y) {
  if (shape.content == FillContent::kNoise) {
    std::uint32_t hash = (x & 0xffffU) * 0x9e3779U + (y & 0xffffU) * 0x85ebcaU;
    hash ^= hash >> 13U;
    hash = (hash & 0xffffffU) * 0x5bd1e9U;
    return hash ^ (hash >> 11U);
  }
  std::uint32_t step = x >> shift_of(shape);
  step |= step << 8U;
  return kBase + (step | (step << 16U));
}

/// What a component of the target holds after all instances were drawn over black.
double drawn(double value, bool blend, std::uint32_t instances) {
  if (!blend) {
    return value;
  }
  double held = 0;
  for (std::uint32_t i = 0; i < instances; ++i) {
    held = value * value + held * (1 - value);
  }
  return held;
}

/// Alpha is blended with a factor of one (graphics.cpp, blending()).
double drawn_alpha(double value, bool blend, std::uint32_t instances) {
  if (!blend) {
    return value;
  }
  double held = 0;
  for (std::uint32_t i = 0; i < instances; ++i) {
    held = value + held * (1 - value);
  }
  return held;
}

Status check_pixels(const std::string& id, const FillShape& shape, const Launch& launch,
                    std::span<const std::byte> target) {
  const vulkan::TargetDescription& description = shape.target;
  const std::size_t bytes = vulkan::bytes_of(description.format);
  if (target.size() != bytes * description.width * description.height) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: {} bytes were drawn, not those of {} x {} pixels", id,
                            target.size(), description.width, description.height));
  }
  for (const auto& [x, y] : sampled_pixels(description)) {
    const std::size_t place = std::size_t{y} * description.width + x;
    const Components texel = decode_texel(description.format, target.subspan(place * bytes, bytes));
    const double value = std::min(static_cast<double>(fill_value(shape, x, y, launch.trips)), 1.0);
    for (std::size_t i = 0; i < texel.count; ++i) {
      const double expected = i == 3 ? drawn_alpha(value, shape.blend, launch.groups)
                                     : drawn(value, shape.blend, launch.groups);
      const double roundings = shape.blend ? launch.groups : 1;
      const double bound = kArithmeticError + texel.steps.at(i) * roundings;
      if (!(std::abs(texel.values.at(i) - expected) <= bound)) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("{}: component {} of pixel {}, {} is {:.6f}, and {:.6f} on the "
                                "CPU; {:.6f} may lie between them",
                                id, i, x, y, texel.values.at(i), expected, bound));
      }
    }
  }
  return {};
}

Stimulus describe(const KernelCase& kernel, const Launch& launch) {
  Stimulus stimulus;
  stimulus.kernel = kernel.id;
  stimulus.pixels = true;
  stimulus.threads = threads_of(kernel, launch) * launch.repeats;
  stimulus.launches = launch.repeats;
  stimulus.flops = kernel.flops_per_trip * launch.trips;
  stimulus.read_bytes = kernel.read_bytes_once;
  stimulus.written_bytes = kernel.written_bytes_once;
  if (kernel.target) {
    stimulus.footprint_bytes = static_cast<double>(vulkan::bytes_of(kernel.target->format)) *
                               kernel.target->width * kernel.target->height;
  }
  stimulus.overdraw = launch.groups;
  return stimulus;
}

}  // namespace

std::string_view name_of(FillContent content) {
  switch (content) {
    case FillContent::kConstant:
      return "constant";
    case FillContent::kGradient:
      return "gradient";
    case FillContent::kNoise:
      return "noise";
  }
  return "";
}

float fill_value(const FillShape& shape, std::uint32_t x, std::uint32_t y, std::uint32_t trips) {
  std::array<float, 4> turning{};
  for (std::size_t i = 0; i < turning.size(); ++i) {
    const std::uint32_t byte = four_bytes(shape, x, y) >> (8 * i) & 0xffU;
    turning.at(i) = static_cast<float>(byte) / 255.0F;
  }
  auto& [p0, q0, p1, q1] = turning;
  for (std::uint32_t round = 0; round < trips * kFillFmasPerTrip / 4; ++round) {
    p0 = std::fma(kTurn, q0, p0);
    p1 = std::fma(kTurn, q1, p1);
    q0 = std::fma(-kTurn, p0, q0);
    q1 = std::fma(-kTurn, p1, q1);
  }
  return std::abs(((p0 + q0) + (p1 + q1)) * 0.22F);
}

KernelCase fill_case(const FillShape& shape) {
  const vulkan::TargetDescription& target = shape.target;
  const auto bytes = static_cast<double>(vulkan::bytes_of(target.format));
  KernelCase kernel;
  kernel.id = fmt::format("fill.{}.{}{}.{}x{}", id_of(target.format), name_of(shape.content),
                          shape.blend ? ".blend" : "", target.width, target.height);
  kernel.description =
      fmt::format("{} x {} pixels of {}, {}{}", target.width, target.height, name_of(target.format),
                  name_of(shape.content), shape.blend ? ", blended" : "");
  kernel.shader = target.format == vulkan::Format::kD32f ? "fill_depth.frag" : "fill_color.frag";
  kernel.constants = {shape.content == FillContent::kNoise ? 1U : 0U};
  kernel.target = target;
  kernel.blend = shape.blend;
  kernel.push = [shape](const Launch& launch, std::span<const vulkan::Buffer* const> /*none*/) {
    const FillPush push{
        .trips = launch.trips, .x = kTurn, .y = -kTurn, .base = kBase, .shift = shift_of(shape)};
    vulkan::PushConstants pushed{};
    std::memcpy(pushed.data(), &push, sizeof(push));
    return pushed;
  };
  kernel.formula = {
      {.operation = Operation::kFmaF32, .per_trip = kFillFmasPerTrip, .once = 0},
      {.operation = Operation::kExport, .per_trip = 0, .once = 1},
  };
  kernel.flops_per_trip = 2.0 * kFillFmasPerTrip;
  kernel.read_bytes_once = shape.blend ? bytes : 0;
  kernel.written_bytes_once = bytes;
  kernel.check = [id = kernel.id, shape](const Launch& launch, const Outputs& outputs) {
    return check_pixels(id, shape, launch, outputs.target);
  };
  kernel.stimulus = [described = kernel](const Launch& launch) {
    return describe(described, launch);
  };
  return kernel;
}

}  // namespace gputrace::bench
