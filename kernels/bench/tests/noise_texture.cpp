#include "kernels/bench/tests/noise_texture.h"

#include <cstring>

#include "daemon/base/result.h"
#include "kernels/bench/tests/texel_formats.h"

namespace gputrace::bench {

namespace {

using vulkan::Format;

/// Texels on a side of a block.
constexpr std::uint32_t kBlockSide = 4;
constexpr std::uint64_t kBlockTexels = 16;

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), its mixer.
std::uint64_t mix(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::uint32_t rgba8_at(std::uint64_t index) {
  return static_cast<std::uint32_t>(mix(index));
}

/// From 0.5 to 1: one exponent, and all bits of the mantissa.
std::uint16_t half_at(std::uint64_t index) {
  return static_cast<std::uint16_t>(0x3800U | (mix(index) & 0x3ffU));
}

struct Block {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

Block block_at(std::uint64_t index) {
  constexpr std::uint64_t kModeBits = 0x7f;
  constexpr std::uint64_t kMode6 = 0x40;
  return {.low = (mix(2 * index) & ~kModeBits) | kMode6, .high = mix(2 * index + 1)};
}

std::uint64_t bits_of(const Block& block, unsigned first, unsigned count) {
  const std::uint64_t mask = (std::uint64_t{1} << count) - 1;
  if (first >= 64) {
    return block.high >> (first - 64) & mask;
  }
  const std::uint64_t above = first == 0 ? 0 : block.high << (64 - first);
  return (block.low >> first | above) & mask;
}

std::array<double, 4> decode_mode_6(const Block& block, std::uint32_t texel) {
  constexpr std::array<unsigned, 16> kWeights{0,  4,  9,  13, 17, 21, 26, 30,
                                              34, 38, 43, 47, 51, 55, 60, 64};
  constexpr unsigned kEndPoints = 7;  // first bit
  constexpr unsigned kPBits = 63;
  constexpr unsigned kIndices = 65;
  // The first index has its highest bit left out.
  const auto index =
      texel == 0 ? bits_of(block, kIndices, 3) : bits_of(block, kIndices + 4 * texel - 1, 4);
  const unsigned weight = kWeights.at(index);
  std::array<double, 4> values{};
  for (unsigned i = 0; i < 4; ++i) {
    const auto end = [&](unsigned which) {
      return static_cast<unsigned>(bits_of(block, kEndPoints + (2 * i + which) * 7, 7) << 1U |
                                   bits_of(block, kPBits + which, 1));
    };
    const unsigned mixed = (end(0) * (64 - weight) + end(1) * weight + 32) >> 6U;
    values.at(i) = mixed / 255.0;
  }
  return values;
}

/// Calls `write` with the place and the index of each element.
template <class Element, class At>
std::vector<std::byte> elements(std::uint64_t count, const At& at) {
  std::vector<std::byte> bytes(count * sizeof(Element));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Element element = at(i);
    std::memcpy(&bytes[i * sizeof(Element)], &element, sizeof(Element));
  }
  return bytes;
}

}  // namespace

std::uint64_t noise_bytes(Format format, std::uint32_t side) {
  const std::uint64_t texels = std::uint64_t{side} * side;
  return format == Format::kBc7 ? texels / kBlockTexels * vulkan::bytes_of(format)
                                : texels * vulkan::bytes_of(format);
}

std::vector<std::byte> noise_texels(Format format, std::uint32_t side) {
  const std::uint64_t count = noise_bytes(format, side) / vulkan::bytes_of(format);
  switch (format) {
    case Format::kRgba8:
      return elements<std::uint32_t>(count, rgba8_at);
    case Format::kR16f:
      return elements<std::uint16_t>(count, half_at);
    case Format::kBc7:
      return elements<Block>(count, block_at);
    default:
      GPUTRACE_CHECK(false);
  }
}

std::array<double, 4> noise_texel(Format format, std::uint32_t side, std::uint32_t x,
                                  std::uint32_t y) {
  x %= side;
  y %= side;
  const std::uint64_t index = std::uint64_t{y} * side + x;
  switch (format) {
    case Format::kRgba8: {
      const std::uint32_t texel = rgba8_at(index);
      return {(texel & 0xffU) / 255.0, (texel >> 8U & 0xffU) / 255.0,
              (texel >> 16U & 0xffU) / 255.0, (texel >> 24U) / 255.0};
    }
    case Format::kR16f:
      return {half_to_double(half_at(index)), 0, 0, 1};
    case Format::kBc7: {
      const std::uint64_t block =
          std::uint64_t{y / kBlockSide} * (side / kBlockSide) + x / kBlockSide;
      return decode_mode_6(block_at(block), y % kBlockSide * kBlockSide + x % kBlockSide);
    }
    default:
      GPUTRACE_CHECK(false);
  }
}

}  // namespace gputrace::bench
