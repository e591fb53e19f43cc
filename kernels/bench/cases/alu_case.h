// One operation of one type's arithmetic in registers: what the rates of `alu`, of `parallel` and
// of the roofline's peaks are measured with. shaders/alu.glsl says how the accumulators turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

enum class AluType {
  kFp16,  ///< one in an instruction
  kFp16Packed,
  kFp32,
  kFp64,
  kInt8Dot,  ///< four bytes times four bytes and a sum
  kInt16,
  kInt16Packed,
  kInt24,  ///< the lower half of a product of 24 bits each
  kInt32,
  kInt64,
};

/// A type's are in kernels/shaders/CMakeLists.txt too, as many shaders.
enum class AluOperation {
  kAdd,
  kMul,
  kMulHi,
  kFma,
  kMad,         ///< a * b + c, which a compiler may fuse
  kPreciseMad,  ///< the same, which it may not
  kDiv,         ///< with a product below the line
  kRcp,         ///< of a product
  kSqrt,
  kRsqrt,
  kExp2,
  kLog2,
  kSin,
  kPow,
};

struct AluShape {
  AluType type = AluType::kFp32;
  AluOperation operation = AluOperation::kFma;
  std::optional<std::uint32_t> subgroup_size = std::nullopt;
  /// Threads of a group; absent = as many as suit the device.
  std::optional<std::uint32_t> group_threads = std::nullopt;
};

struct AluCase {
  SizedCase sized;
  /// How the device rounded, in words, once a result was found to be exactly that: "fused",
  /// "kept in fp32". Empty before, and within the bound of rounding only.
  std::shared_ptr<const std::string> rounding;
};

[[nodiscard]] std::span<const AluType> alu_types();
/// Those that a type is measured with, the basic ones first.
[[nodiscard]] std::span<const AluOperation> operations_of(AluType type);
[[nodiscard]] bool is_float(AluType type);
/// A quotient, a root, or one of the functions behind them.
[[nodiscard]] bool is_function(AluOperation operation);
/// "fp16_packed".
[[nodiscard]] std::string_view name_of(AluType type);
/// "fma", "a*b+c" of floats, "mad" of integers, "dot".
[[nodiscard]] std::string_view name_of(AluType type, AluOperation operation);
/// Empty where the device has it, else the feature that is missing.
[[nodiscard]] std::string_view missing_for(const vulkan::DeviceFacts& facts, AluType type);

/// Operations of a thread and trip; each half of a packed one counts.
[[nodiscard]] double alu_operations_per_trip(const AluShape& shape);
/// FLOPs, or operations of integers, that one of them is: a multiply-add two, a dot product eight.
[[nodiscard]] double flops_of_one(const AluShape& shape);

/// `id`: empty = "alu.fp32.fma", with a subgroup size "alu.fp32.fma.wave32".
[[nodiscard]] AluCase alu_case(const vulkan::DeviceFacts& facts, const AluShape& shape,
                               std::string id = {});

}  // namespace gputrace::bench
