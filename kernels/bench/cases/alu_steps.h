// One step of the accumulators of alu.glsl, of floats as a device may round them, and of integers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/bench/cases/alu_case.h"

namespace gputrace::bench {

/// A number of every float type is a double here, exactly.
struct FloatRounding {
  std::string_view name;  ///< "fused"
  double (*round)(double value) = nullptr;
  double (*multiply_add)(double a, double b, double sum) = nullptr;
  /// To what the result is stored as; null = as rounded already.
  double (*store)(double value) = nullptr;
};

/// Ways in which a device may run the operation; none where only the error is bounded.
[[nodiscard]] std::span<const FloatRounding> roundings_of(AluType type, AluOperation operation);
/// In double, which the errors are measured from.
[[nodiscard]] const FloatRounding& unrounded();
/// Half the distance from 1 to the next number.
[[nodiscard]] double rounding_unit(AluType type);
/// Error of one step at most, as a multiple of rounding_unit(), with what later steps make of it.
[[nodiscard]] double step_error(AluOperation operation);

/// What a step has beside its accumulators: alu.glsl's constant of p or of q, and the factor that
/// changes between both.
template <class Value>
struct StepConstants {
  Value c{};
  Value factor{};
};

[[nodiscard]] double float_step(AluOperation operation, const FloatRounding& rounding, double own,
                                double other, const StepConstants<double>& constants, bool is_q);

[[nodiscard]] std::uint64_t integer_step(AluType type, AluOperation operation, std::uint64_t own,
                                         std::uint64_t other,
                                         const StepConstants<std::uint64_t>& constants);

}  // namespace gputrace::bench
