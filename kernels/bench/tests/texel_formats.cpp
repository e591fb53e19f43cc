#include "kernels/bench/tests/texel_formats.h"

#include <cmath>
#include <cstring>

#include "daemon/base/result.h"

namespace gputrace::bench {

namespace {

using vulkan::Format;

struct Names {
  Format format;
  std::string_view id;
  std::string_view name;
};

constexpr std::array<Names, 9> kNames{{{Format::kR8, "r8", "R8"},
                                       {Format::kRgba8, "rgba8", "RGBA8"},
                                       {Format::kR16f, "r16f", "R16F"},
                                       {Format::kRgba16f, "rgba16f", "RGBA16F"},
                                       {Format::kR11G11B10f, "r11g11b10f", "R11G11B10F"},
                                       {Format::kR32ui, "r32ui", "R32UI"},
                                       {Format::kRg32f, "rg32f", "RG32F"},
                                       {Format::kD32f, "d32f", "D32F"},
                                       {Format::kBc7, "bc7", "BC7"}}};

const Names& names_of(Format format) {
  for (const Names& names : kNames) {
    if (names.format == format) {
      return names;
    }
  }
  GPUTRACE_CHECK(false);
}

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t index) {
  T value{};
  std::memcpy(&value, bytes.subspan(index * sizeof(T), sizeof(T)).data(), sizeof(T));
  return value;
}

/// Five bits of exponent with the bias of binary16, whatever the mantissa has.
double small_float(unsigned bits, int mantissa_bits) {
  constexpr int kBias = 15;
  const auto one = 1U << static_cast<unsigned>(mantissa_bits);
  const unsigned mantissa = bits & (one - 1);
  const int exponent = static_cast<int>(bits >> static_cast<unsigned>(mantissa_bits));
  return exponent == 0 ? std::ldexp(mantissa, 1 - kBias - mantissa_bits)
                       : std::ldexp(one + mantissa, exponent - kBias - mantissa_bits);
}

/// What the last bit of the mantissa is worth, at least as much as next to 1/16.
double small_step(double value, int mantissa_bits) {
  return std::ldexp(std::max(value, 1.0 / 16), -mantissa_bits);
}

void add(Components& texel, double value, double step) {
  texel.values.at(texel.count) = value;
  texel.steps.at(texel.count) = step;
  ++texel.count;
}

}  // namespace

std::string_view id_of(Format format) {
  return names_of(format).id;
}
std::string_view name_of(Format format) {
  return names_of(format).name;
}

double half_to_double(std::uint16_t bits) {
  const double magnitude = small_float(bits & 0x7fffU, 10);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

Components decode_texel(Format format, std::span<const std::byte> bytes) {
  constexpr double kUnormStep = 1.0 / 255;
  Components texel;
  switch (format) {
    case Format::kR8:
    case Format::kRgba8:
      for (std::size_t i = 0; i < vulkan::bytes_of(format); ++i) {
        add(texel, value_at<std::uint8_t>(bytes, i) / 255.0, kUnormStep);
      }
      return texel;
    case Format::kR16f:
    case Format::kRgba16f:
      for (std::size_t i = 0; i < vulkan::bytes_of(format) / 2; ++i) {
        const double value = half_to_double(value_at<std::uint16_t>(bytes, i));
        add(texel, value, small_step(std::abs(value), 10));
      }
      return texel;
    case Format::kR11G11B10f: {
      const auto word = value_at<std::uint32_t>(bytes, 0);
      for (const auto& [shift, mantissa_bits] :
           {std::pair<unsigned, int>{0, 6}, {11, 6}, {22, 5}}) {
        const unsigned mask = (1U << (static_cast<unsigned>(mantissa_bits) + 5)) - 1;
        const double value = small_float(word >> shift & mask, mantissa_bits);
        add(texel, value, small_step(value, mantissa_bits));
      }
      return texel;
    }
    case Format::kRg32f:
    case Format::kD32f:
      for (std::size_t i = 0; i < vulkan::bytes_of(format) / 4; ++i) {
        add(texel, static_cast<double>(value_at<float>(bytes, i)), 0);
      }
      return texel;
    case Format::kR32ui:
    case Format::kBc7:
      break;
  }
  GPUTRACE_CHECK(false);
}

}  // namespace gputrace::bench
