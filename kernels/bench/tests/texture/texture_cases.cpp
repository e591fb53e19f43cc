#include "kernels/bench/tests/texture/texture_cases.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/bench/tests/noise_texture.h"
#include "kernels/bench/tests/sampled_pixels.h"
#include "kernels/bench/tests/texel_formats.h"

namespace gputrace::bench {

namespace {

/// texture.frag's push constants.
struct TexturePush {
  std::uint32_t trips = 0;
  float texel = 0;
  float offset = 0;
  std::uint32_t mask = 0;
  std::uint32_t bits = 0;
};

constexpr std::uint32_t kMantissaBits = 23;
constexpr std::uint32_t kOne = 0x3f800000;

std::uint32_t side_bits(const TextureShape& shape) {
  return static_cast<std::uint32_t>(std::bit_width(shape.side) - 1);
}

TexturePush push_of(const TextureShape& shape, std::uint32_t trips) {
  const float texel = 1 / static_cast<float>(shape.side);
  TexturePush push{.trips = trips, .texel = texel, .offset = 0, .mask = 0, .bits = kOne};
  push.mask = (shape.side - 1) << (kMantissaBits - side_bits(shape));
  if (shape.bilinear) {
    push.offset = texel / 2;  // from the middle of a pixel to the corner of four texels
  } else {
    push.bits |= 1U << (kMantissaBits - 1 - side_bits(shape));
  }
  return push;
}

struct Place {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

std::uint32_t seed(std::uint32_t x, std::uint32_t y) {
  std::uint32_t hash = ((y << 16U) + x) * 0x85ebca6bU;
  hash ^= hash >> 15U;
  hash *= 0xc2b2ae35U;
  return hash ^ (hash >> 16U);
}

/// Where a pixel fetches: the texel, or the one to the lower right of the corner it fetches at.
class Places {
 public:
  Places(const TextureShape& shape, std::uint32_t x, std::uint32_t y)
      : shape_(shape), at_{x, y}, state_(seed(x, y)) {
    if (shape.bilinear && shape.access == TextureAccess::kCoherent) {
      at_ = {x + 1, y + 1};
    }
  }

  Place next() {
    if (shape_.access == TextureAccess::kCoherent) {
      ++at_.x;
      return at_;
    }
    const std::uint32_t before = state_ & 0xffffffU;
    state_ = before * 0x5bd1e9U + 0x9e3779b9U;
    return {state_ >> (32 - side_bits(shape_)), before >> (24 - side_bits(shape_))};
  }

 private:
  const TextureShape& shape_;
  Place at_;
  std::uint32_t state_;
};

std::array<double, 4> fetched(const TextureShape& shape, Place at) {
  if (!shape.bilinear) {
    return noise_texel(shape.format, shape.side, at.x, at.y);
  }
  std::array<double, 4> mixed{};
  for (const std::uint32_t dy : {0U, 1U}) {
    for (const std::uint32_t dx : {0U, 1U}) {
      // In a texture that repeats, side - 1 is one to the left.
      const auto texel = noise_texel(shape.format, shape.side, at.x + dx * (shape.side - 1),
                                     at.y + dy * (shape.side - 1));
      for (std::size_t i = 0; i < mixed.size(); ++i) {
        mixed.at(i) += texel.at(i) / 4;
      }
    }
  }
  return mixed;
}

/// texture.frag's coordinate between 1 and 2.
double coordinate(const TextureShape& shape, std::uint32_t place) {
  return 1 + (place + (shape.bilinear ? 0.0 : 0.5)) / shape.side;
}

double expected_sum(const TextureShape& shape, std::uint32_t x, std::uint32_t y,
                    std::uint32_t trips) {
  Places places(shape, x, y);
  double sum = 0;
  for (std::uint32_t i = 0; i < shape.fetches * trips; ++i) {
    const Place at = places.next();
    if (shape.access == TextureAccess::kHash) {
      sum += coordinate(shape, at.x) + 2 * coordinate(shape, at.y);
      continue;
    }
    const std::array<double, 4> texel = fetched(shape, at);
    const std::size_t components = shape.format == vulkan::Format::kR16f ? 1 : texel.size();
    for (std::size_t c = 0; c < components; ++c) {
      sum += static_cast<double>(c + 1) * texel.at(c);
    }
  }
  return sum;
}

/// A filter may round each component to a 256th, and fp32 sums round too.
double bound_of(const TextureShape& shape, double sum, std::uint32_t trips) {
  constexpr double kSumError = 1e-5;
  constexpr double kFilterError = 1.0 / 255;
  constexpr double kWeights = 1 + 2 + 3 + 4;
  const bool filtered = shape.bilinear && shape.access != TextureAccess::kHash;
  const double weights = shape.format == vulkan::Format::kR16f ? 1 : kWeights;
  return kSumError * (1 + sum) + (filtered ? kFilterError * weights * shape.fetches * trips : 0);
}

Status check_pixels(const std::string& id, const TextureShape& shape,
                    const vulkan::TargetDescription& description, const Launch& launch,
                    std::span<const std::byte> target) {
  if (target.size() != sizeof(float) * description.width * description.height) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: {} bytes were drawn, not those of {} x {} pixels", id,
                            target.size(), description.width, description.height));
  }
  for (const auto& [x, y] : sampled_pixels(description)) {
    const std::size_t place = std::size_t{y} * description.width + x;
    float got = 0;
    std::memcpy(&got, target.subspan(place * sizeof(got), sizeof(got)).data(), sizeof(got));
    const double expected = expected_sum(shape, x, y, launch.trips);
    const double bound = bound_of(shape, expected, launch.trips);
    if (!(std::abs(static_cast<double>(got) - expected) <= bound)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: the sum of pixel {}, {} is {:.6f}, and {:.6f} on the CPU; "
                              "{:.6f} may lie between them",
                              id, x, y, got, expected, bound));
    }
  }
  return {};
}

Stimulus describe(const KernelCase& kernel, const TextureShape& shape, const Launch& launch) {
  Stimulus stimulus;
  stimulus.kernel = kernel.id;
  stimulus.pixels = true;
  stimulus.threads = threads_of(kernel, launch) * launch.repeats;
  stimulus.launches = launch.repeats;
  stimulus.written_bytes = kernel.written_bytes_once;
  stimulus.overdraw = launch.groups;
  if (shape.access != TextureAccess::kHash) {
    stimulus.access =
        shape.access == TextureAccess::kCoherent ? Access::kTexture : Access::kRandomTexture;
    stimulus.fetches = static_cast<double>(shape.fetches) * launch.trips;
    stimulus.bilinear = shape.bilinear;
    stimulus.read_bytes = kernel.read_bytes_per_trip * launch.trips;
    stimulus.footprint_bytes = static_cast<double>(noise_bytes(shape.format, shape.side));
  }
  return stimulus;
}

/// Of one texel, which BC7 keeps in a sixteenth of a block.
double texel_bytes(vulkan::Format format) {
  const auto bytes = static_cast<double>(vulkan::bytes_of(format));
  return format == vulkan::Format::kBc7 ? bytes / 16 : bytes;
}

}  // namespace

std::string_view name_of(TextureAccess access) {
  switch (access) {
    case TextureAccess::kCoherent:
      return "coherent";
    case TextureAccess::kRandom:
      return "random";
    case TextureAccess::kHash:
      return "hash";
  }
  return "";
}

double fetches_of(const KernelCase& kernel, const Launch& launch) {
  return threads_of(kernel, launch) * kernel.constants.front() * launch.trips * launch.repeats;
}

KernelCase texture_case(const TextureShape& shape) {
  GPUTRACE_CHECK(std::has_single_bit(shape.side) && shape.side >= 4);
  const bool fetches = shape.access != TextureAccess::kHash;
  KernelCase kernel;
  kernel.id =
      fmt::format("texture.{}.{}.{}.f{}.{}x{}", id_of(shape.format), name_of(shape.access),
                  shape.bilinear ? "bilinear" : "nearest", shape.fetches, shape.side, shape.side);
  kernel.description = fmt::format("{} {} {} a pixel, {}, {} x {} texels of {}", shape.fetches,
                                   name_of(shape.access), fetches ? "fetches" : "places",
                                   shape.bilinear ? "bilinear" : "nearest", shape.side, shape.side,
                                   name_of(shape.format));
  kernel.shader = "texture.frag";
  kernel.constants = {shape.fetches, static_cast<std::uint32_t>(shape.access),
                      shape.format == vulkan::Format::kR16f ? 1U : 4U};
  // Whole words of fp32, so that a wrong texel among many shows.
  kernel.target = vulkan::TargetDescription{
      .width = shape.target_side, .height = shape.target_side, .format = vulkan::Format::kR32ui};
  if (shape.format == vulkan::Format::kBc7) {
    kernel.needs = {Requirement::kBcTextures};
  }
  kernel.texture =
      TextureNeed{.description = {.width = shape.side,
                                  .height = shape.side,
                                  .format = shape.format,
                                  .bilinear = shape.bilinear},
                  .texels = [shape] { return noise_texels(shape.format, shape.side); }};
  kernel.push = [shape](const Launch& launch, std::span<const vulkan::Buffer* const> /*none*/) {
    const TexturePush push = push_of(shape, launch.trips);
    vulkan::PushConstants pushed{};
    std::memcpy(pushed.data(), &push, sizeof(push));
    return pushed;
  };
  const double samples = fetches ? shape.fetches : 0;
  kernel.formula = {{.operation = Operation::kSample, .per_trip = samples, .once = 0},
                    {.operation = Operation::kExport, .per_trip = 0, .once = 1}};
  kernel.read_bytes_per_trip = samples * texel_bytes(shape.format);
  kernel.written_bytes_once = static_cast<double>(vulkan::bytes_of(kernel.target->format));
  kernel.check = [id = kernel.id, shape, target = *kernel.target](const Launch& launch,
                                                                  const Outputs& outputs) {
    return check_pixels(id, shape, target, launch, outputs.target);
  };
  kernel.stimulus = [described = kernel, shape](const Launch& launch) {
    return describe(described, shape, launch);
  };
  return kernel;
}

}  // namespace gputrace::bench
