#include "kernels/bench/cases/alu_steps.h"

#include <array>
#include <cmath>

#include "kernels/bench/cases/rounding.h"

namespace gputrace::bench {
namespace {

double keep(double value) {
  return value;
}

double to_single(double value) {
  return static_cast<double>(static_cast<float>(value));
}

double to_half(double value) {
  return static_cast<double>(round_to_half(value));
}

double fused_double(double a, double b, double sum) {
  return std::fma(a, b, sum);
}

double split_double(double a, double b, double sum) {
  const double product = a * b;
  return product + sum;
}

double fused_single(double a, double b, double sum) {
  return static_cast<double>(
      std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(sum)));
}

/// Sums and products of floats, rounded to double and then to float, are rounded as once.
double split_single(double a, double b, double sum) {
  return to_single(to_single(a * b) + sum);
}

double fused_half(double a, double b, double sum) {
  return to_half(a * b + sum);
}

double split_half(double a, double b, double sum) {
  return to_half(to_half(a * b) + sum);
}

double half_in_single(double a, double b, double sum) {
  return to_half(fused_single(a, b, sum));
}

constexpr FloatRounding kUnrounded{"exact", keep, fused_double};

constexpr std::array<FloatRounding, 2> kDoubles{
    {{"fused", keep, fused_double}, {"split", keep, split_double}}};
constexpr std::array<FloatRounding, 2> kSingles{
    {{"fused", to_single, fused_single}, {"split", to_single, split_single}}};
constexpr std::array<FloatRounding, 4> kHalves{
    {{"fused", to_half, fused_half},
     {"split", to_half, split_half},
     {"in fp32", to_half, half_in_single},
     {"kept in fp32", to_single, fused_single, to_half}}};
constexpr std::array<FloatRounding, 1> kSplitDouble{{{"split", keep, split_double}}};
constexpr std::array<FloatRounding, 1> kSplitSingle{{{"split", to_single, split_single}}};
constexpr std::array<FloatRounding, 2> kSplitHalf{
    {{"split", to_half, split_half}, {"kept in fp32", to_single, split_single, to_half}}};
/// Without a multiply-add: rounded in one way, or kept wider.
constexpr std::array<FloatRounding, 2> kPlainHalf{
    {{"to fp16", to_half, split_half}, {"kept in fp32", to_single, split_single, to_half}}};

bool is_half(AluType type) {
  return type == AluType::kFp16 || type == AluType::kFp16Packed;
}

std::int64_t signed_byte(std::uint64_t word, unsigned byte) {
  return static_cast<std::int8_t>(word >> (8U * byte));
}

std::uint64_t dot_of_bytes(std::uint64_t a, std::uint64_t b) {
  std::int64_t sum = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    sum += signed_byte(a, byte) * signed_byte(b, byte);
  }
  return static_cast<std::uint64_t>(sum);
}

std::uint64_t product(AluType type, std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kLower24 = 0xffffff;
  if (type == AluType::kInt8Dot) {
    return dot_of_bytes(a, b);
  }
  return type == AluType::kInt24 ? (a & kLower24) * (b & kLower24) : a * b;
}

}  // namespace

std::span<const FloatRounding> roundings_of(AluType type, AluOperation operation) {
  switch (operation) {
    case AluOperation::kFma:
    case AluOperation::kMad:
      if (is_half(type)) {
        return kHalves;
      }
      return type == AluType::kFp64 ? std::span<const FloatRounding>(kDoubles) : kSingles;
    case AluOperation::kAdd:
    case AluOperation::kMul:
      if (is_half(type)) {
        return kPlainHalf;
      }
      break;
    case AluOperation::kPreciseMad:
      if (is_half(type)) {
        return kSplitHalf;
      }
      break;
    default:
      return {};
  }
  return type == AluType::kFp64 ? std::span<const FloatRounding>(kSplitDouble) : kSplitSingle;
}

const FloatRounding& unrounded() {
  return kUnrounded;
}

double rounding_unit(AluType type) {
  if (is_half(type)) {
    return 0x1p-11;
  }
  return type == AluType::kFp64 ? 0x1p-53 : 0x1p-24;
}

/// Errors of the functions: vkspec, "Precision and Operation of SPIR-V Instructions".
double step_error(AluOperation operation) {
  switch (operation) {
    case AluOperation::kDiv:
    case AluOperation::kRcp:
      return 48;  // 2.5 units in the last place, of a product; values reach 4
    case AluOperation::kSqrt:
    case AluOperation::kRsqrt:
      return 32;               // a root may be made of a reciprocal root and a quotient
    case AluOperation::kExp2:  // 3 + 2 |x| units in the last place
    case AluOperation::kLog2:  // 2^-21 around 1
      return 64;
    case AluOperation::kSin:
      return 16384;  // 2^-11
    case AluOperation::kPow:
      return 128;  // of exp2(y * log2(x))
    default:
      // The form that turns does not change but by rounding, so errors add and do not grow: each
      // of a step is at most a unit of the largest value, 4, twice where a product is rounded too,
      // and the ellipse stretches it at most by the ratio of its axes, below 2.
      return 16;
  }
}

double float_step(AluOperation operation, const FloatRounding& rounding, double own, double other,
                  const StepConstants<double>& constants, bool is_q) {
  const auto round = rounding.round;
  switch (operation) {
    case AluOperation::kAdd:
      return round(is_q ? own + other : own - other);
    case AluOperation::kMul:
      return round(own * constants.factor);
    case AluOperation::kFma:
    case AluOperation::kMad:
    case AluOperation::kPreciseMad:
      return rounding.multiply_add(constants.c, other, own);
    case AluOperation::kDiv:
      return constants.c / (own * other);
    case AluOperation::kRcp:
      return 1 / (own * other);
    case AluOperation::kSqrt:
      return std::sqrt(other) - own;
    case AluOperation::kRsqrt:
      return (constants.c - own) + 1 / std::sqrt(other);
    case AluOperation::kExp2:
      return std::exp2(other) - own;
    case AluOperation::kLog2:
      return is_q ? own + std::log2(other) : own - std::log2(other);
    case AluOperation::kSin:
      return std::sin(other) - own;
    case AluOperation::kPow:
      return std::pow(other, constants.c) - own;
    case AluOperation::kMulHi:
      break;  // of integers
  }
  return own;
}

std::uint64_t integer_step(AluType type, AluOperation operation, std::uint64_t own,
                           std::uint64_t other, const StepConstants<std::uint64_t>& constants) {
  constexpr unsigned kWordBits = 32;
  switch (operation) {
    case AluOperation::kAdd:
      return own + other;
    case AluOperation::kMul:
      return product(type, own, other);
    case AluOperation::kMulHi:
      return (own * constants.c) >> kWordBits;
    default:
      return product(type, constants.c, other) + own;
  }
}

}  // namespace gputrace::bench
