#include <array>

#include "kernels/bench/cases/alu_case.h"

namespace gputrace::bench {
namespace {

using Op = AluOperation;

constexpr std::array kTypes{
    AluType::kFp16,  AluType::kFp16Packed,  AluType::kFp32,  AluType::kFp64,  AluType::kInt8Dot,
    AluType::kInt16, AluType::kInt16Packed, AluType::kInt24, AluType::kInt32, AluType::kInt64};
constexpr std::array kOfFp32{Op::kAdd,  Op::kMul, Op::kFma,  Op::kMad,   Op::kPreciseMad,
                             Op::kDiv,  Op::kRcp, Op::kSqrt, Op::kRsqrt, Op::kExp2,
                             Op::kLog2, Op::kSin, Op::kPow};
/// Vulkan allows logarithms and sines of halves so large an error that no result could be checked.
constexpr std::array kOfFp16{Op::kAdd, Op::kMul, Op::kFma,  Op::kMad,   Op::kPreciseMad,
                             Op::kDiv, Op::kRcp, Op::kSqrt, Op::kRsqrt, Op::kExp2};
/// As many instructions as two single ones; nothing is packed of functions.
constexpr std::array kOfFp16Packed{Op::kAdd, Op::kMul, Op::kFma, Op::kMad, Op::kPreciseMad};
constexpr std::array kOfFp64{Op::kAdd, Op::kMul, Op::kFma,  Op::kMad,  Op::kPreciseMad,
                             Op::kDiv, Op::kRcp, Op::kSqrt, Op::kRsqrt};
constexpr std::array kOfInt8Dot{Op::kMad};
constexpr std::array kOfInt24{Op::kMul, Op::kMad};
constexpr std::array kOfInt32{Op::kAdd, Op::kMul, Op::kMad, Op::kMulHi};
constexpr std::array kOfOtherIntegers{Op::kAdd, Op::kMul, Op::kMad};

}  // namespace

std::span<const AluType> alu_types() {
  return kTypes;
}

std::span<const AluOperation> operations_of(AluType type) {
  switch (type) {
    case AluType::kFp16:
      return kOfFp16;
    case AluType::kFp16Packed:
      return kOfFp16Packed;
    case AluType::kFp32:
      return kOfFp32;
    case AluType::kFp64:
      return kOfFp64;
    case AluType::kInt8Dot:
      return kOfInt8Dot;
    case AluType::kInt24:
      return kOfInt24;
    case AluType::kInt32:
      return kOfInt32;
    case AluType::kInt16:
    case AluType::kInt16Packed:
    case AluType::kInt64:
      break;
  }
  return kOfOtherIntegers;
}

bool is_function(AluOperation operation) {
  return operation >= Op::kDiv;
}

bool is_float(AluType type) {
  return type == AluType::kFp16 || type == AluType::kFp16Packed || type == AluType::kFp32 ||
         type == AluType::kFp64;
}

std::string_view name_of(AluType type) {
  switch (type) {
    case AluType::kFp16:
      return "fp16";
    case AluType::kFp16Packed:
      return "fp16_packed";
    case AluType::kFp32:
      return "fp32";
    case AluType::kFp64:
      return "fp64";
    case AluType::kInt8Dot:
      return "int8_dot";
    case AluType::kInt16:
      return "int16";
    case AluType::kInt16Packed:
      return "int16_packed";
    case AluType::kInt24:
      return "int24";
    case AluType::kInt32:
      return "int32";
    case AluType::kInt64:
      break;
  }
  return "int64";
}

std::string_view name_of(AluType type, AluOperation operation) {
  switch (operation) {
    case Op::kAdd:
      return "add";
    case Op::kMul:
      return "mul";
    case Op::kMulHi:
      return "mulhi";
    case Op::kFma:
      return "fma";
    case Op::kMad:
      if (is_float(type)) {
        return "a*b+c";
      }
      return type == AluType::kInt8Dot ? "dot" : "mad";
    case Op::kPreciseMad:
      return "precise a*b+c";
    case Op::kDiv:
      return "div";
    case Op::kRcp:
      return "rcp";
    case Op::kSqrt:
      return "sqrt";
    case Op::kRsqrt:
      return "rsqrt";
    case Op::kExp2:
      return "exp2";
    case Op::kLog2:
      return "log2";
    case Op::kSin:
      return "sin";
    case Op::kPow:
      break;
  }
  return "pow";
}

std::string_view missing_for(const vulkan::DeviceFacts& facts, AluType type) {
  switch (type) {
    case AluType::kFp16:
    case AluType::kFp16Packed:
      return facts.fp16 ? "" : "fp16 arithmetic (shaderFloat16)";
    case AluType::kFp64:
      return facts.fp64 ? "" : "fp64 arithmetic (shaderFloat64)";
    case AluType::kInt8Dot:
      return facts.int8_dot ? "" : "int8 dot products (VK_KHR_shader_integer_dot_product)";
    case AluType::kInt16:
    case AluType::kInt16Packed:
      return facts.int16 ? "" : "16-bit integers (shaderInt16)";
    case AluType::kInt64:
      return facts.int64 ? "" : "64-bit integers (shaderInt64)";
    default:
      return "";
  }
}

}  // namespace gputrace::bench
