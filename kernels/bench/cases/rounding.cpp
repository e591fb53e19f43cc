#include "kernels/bench/cases/rounding.h"

#include <array>
#include <bit>
#include <cmath>

namespace gputrace::bench {
namespace {

constexpr double kSmallestNormalHalf = 0x1p-14;
constexpr double kHalfSubnormalStep = 0x1p-24;
constexpr int kHalfExponentBias = 15;
constexpr std::uint32_t kHalfFractionBits = 10;
/// Bits of a double's fraction that a half has not.
constexpr std::uint32_t kLostBits = 52 - kHalfFractionBits;

template <class Value>
Value split(Value a, Value b, Value sum) {
  const Value product = a * b;
  return product + sum;
}

float fused_half(float a, float b, float sum) {
  // Exact: products of halves have 22 bits, and lie near enough to the sum for a double's 53.
  return round_to_half(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(sum));
}

float split_half(float a, float b, float sum) {
  return round_to_half(round_to_half(a * b) + sum);
}

float half_in_fp32(float a, float b, float sum) {
  return round_to_half(std::fma(a, b, sum));
}

std::int32_t signed_byte(std::uint32_t word, std::uint32_t byte) {
  return static_cast<std::int8_t>(word >> (8U * byte));
}

std::uint32_t dot_and_add(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  for (std::uint32_t byte = 0; byte < 4; ++byte) {
    sum += static_cast<std::uint32_t>(signed_byte(a, byte) * signed_byte(b, byte));
  }
  return sum;
}

}  // namespace

std::span<const MultiplyAdd<float>> fp32_multiply_adds() {
  static constexpr std::array<MultiplyAdd<float>, 2> kWays{
      {{"fused", [](float a, float b, float sum) { return std::fma(a, b, sum); }},
       {"split", split<float>}}};
  return kWays;
}

std::span<const MultiplyAdd<double>> fp64_multiply_adds() {
  static constexpr std::array<MultiplyAdd<double>, 2> kWays{
      {{"fused", [](double a, double b, double sum) { return std::fma(a, b, sum); }},
       {"split", split<double>}}};
  return kWays;
}

std::span<const MultiplyAdd<float>> fp16_multiply_adds() {
  static constexpr std::array<MultiplyAdd<float>, 3> kWays{
      {{"fused", fused_half}, {"split", split_half}, {"in fp32", half_in_fp32}}};
  return kWays;
}

std::span<const MultiplyAdd<std::uint32_t>> int32_multiply_adds() {
  static constexpr std::array<MultiplyAdd<std::uint32_t>, 1> kWays{{{"exact", split}}};
  return kWays;
}

std::span<const MultiplyAdd<std::uint32_t>> int8_dot_multiply_adds() {
  static constexpr std::array<MultiplyAdd<std::uint32_t>, 1> kWays{{{"exact", dot_and_add}}};
  return kWays;
}

float round_to_half(double value) {
  if (std::abs(value) < kSmallestNormalHalf) {
    return static_cast<float>(std::nearbyint(value / kHalfSubnormalStep) * kHalfSubnormalStep);
  }
  auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t kHalfUp = (std::uint64_t{1} << (kLostBits - 1)) - 1;
  bits += kHalfUp + ((bits >> kLostBits) & 1U);
  bits &= ~((std::uint64_t{1} << kLostBits) - 1);
  return static_cast<float>(std::bit_cast<double>(bits));
}

std::uint16_t half_bits(float half) {
  const auto sign = static_cast<std::uint32_t>(std::signbit(half) ? 0x8000U : 0U);
  const float size = std::abs(half);
  if (size < kSmallestNormalHalf) {
    const auto steps = static_cast<std::uint32_t>(size / static_cast<float>(kHalfSubnormalStep));
    return static_cast<std::uint16_t>(sign | steps);
  }
  int exponent = 0;
  const float fraction = std::frexp(size, &exponent);  // [0.5, 1)
  const auto biased = static_cast<std::uint32_t>(exponent - 1 + kHalfExponentBias);
  const auto steps =
      static_cast<std::uint32_t>(std::ldexp(2 * fraction - 1, static_cast<int>(kHalfFractionBits)));
  return static_cast<std::uint16_t>(sign | (biased << kHalfFractionBits) | steps);
}

float half_from_bits(std::uint16_t bits) {
  const std::uint32_t exponent = (bits >> kHalfFractionBits) & 0x1FU;
  const auto steps = static_cast<float>(bits & 0x3FFU);
  const float size =
      exponent == 0 ? steps * static_cast<float>(kHalfSubnormalStep)
                    : std::ldexp(1 + steps / 1024, static_cast<int>(exponent) - kHalfExponentBias);
  return (bits & 0x8000U) != 0 ? -size : size;
}

}  // namespace gputrace::bench
