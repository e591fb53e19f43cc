// Multiply-adds as devices round them. GLSL lets a device fuse fma() or not: a result is right when
// it is that of one of these ways, to the last bit.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gputrace::bench {

template <class Value>
struct MultiplyAdd {
  std::string_view name;  ///< "fused"
  Value (*of)(Value a, Value b, Value sum) = nullptr;
};

/// Fused: one rounding. Split: the product is rounded, then the sum.
[[nodiscard]] std::span<const MultiplyAdd<float>> fp32_multiply_adds();
[[nodiscard]] std::span<const MultiplyAdd<double>> fp64_multiply_adds();
/// Of values that are halves, kept as floats. The third way: in fp32, then to half.
[[nodiscard]] std::span<const MultiplyAdd<float>> fp16_multiply_adds();
[[nodiscard]] std::span<const MultiplyAdd<std::uint32_t>> int32_multiply_adds();
/// The dot product of four signed bytes in each word, plus the sum.
[[nodiscard]] std::span<const MultiplyAdd<std::uint32_t>> int8_dot_multiply_adds();

/// To the nearest half, ties to even. No overflow: |value| < 65,504.
[[nodiscard]] float round_to_half(double value);
[[nodiscard]] std::uint16_t half_bits(float half);
[[nodiscard]] float half_from_bits(std::uint16_t bits);

}  // namespace gputrace::bench
