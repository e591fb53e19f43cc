#include "kernels/bench/isa/classify.h"

namespace gputrace::bench::isa {

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::kFmaF32:
      return "FMA fp32";
    case Operation::kFmaF16:
      return "FMA fp16";
    case Operation::kFmaF64:
      return "FMA fp64";
    case Operation::kAddF32:
      return "add fp32";
    case Operation::kMulF32:
      return "multiply fp32";
    case Operation::kAddF16:
      return "add fp16";
    case Operation::kMulF16:
      return "multiply fp16";
    case Operation::kAddF64:
      return "add fp64";
    case Operation::kMulF64:
      return "multiply fp64";
    case Operation::kMulAddI32:
      return "multiply int32";
    case Operation::kAddI32:
      return "add int32";
    case Operation::kMulI16:
      return "multiply int16";
    case Operation::kAddI16:
      return "add int16";
    case Operation::kReciprocal:
      return "reciprocal";
    case Operation::kSquareRoot:
      return "square root";
    case Operation::kReciprocalRoot:
      return "reciprocal square root";
    case Operation::kExponential:
      return "exponential";
    case Operation::kLogarithm:
      return "logarithm";
    case Operation::kSine:
      return "sine";
    case Operation::kDotI8:
      return "dot product int8";
    case Operation::kMatrix:
      return "matrix multiply";
    case Operation::kLoad16:
      return "load 16 B";
    case Operation::kLoad8:
      return "load 8 B";
    case Operation::kLoad4:
      return "load 4 B";
    case Operation::kLoad2:
      return "load 2 B";
    case Operation::kStore16:
      return "store 16 B";
    case Operation::kStore4:
      return "store 4 B";
    case Operation::kStore2:
      return "store 2 B";
    case Operation::kScalarLoad:
      return "scalar load";
    case Operation::kSharedLoad:
      return "local load";
    case Operation::kSharedStore:
      return "local store";
    case Operation::kSample:
      return "texture fetch";
    case Operation::kExport:
      return "export";
    case Operation::kAtomic:
      return "atomic";
    case Operation::kSharedAtomic:
      return "local atomic";
    case Operation::kRayTest:
      return "ray test";
  }
  return "?";
}

std::optional<double> flops_of(Operation operation) {
  switch (operation) {
    case Operation::kFmaF32:
    case Operation::kFmaF16:
    case Operation::kFmaF64:
      return 2;
    case Operation::kAddF32:
    case Operation::kMulF32:
    case Operation::kAddF16:
    case Operation::kMulF16:
    case Operation::kAddF64:
    case Operation::kMulF64:
      return 1;
    case Operation::kMulAddI32:
    case Operation::kAddI32:
    case Operation::kMulI16:
    case Operation::kAddI16:
    case Operation::kReciprocal:
    case Operation::kSquareRoot:
    case Operation::kReciprocalRoot:
    case Operation::kExponential:
    case Operation::kLogarithm:
    case Operation::kSine:
    case Operation::kDotI8:
    case Operation::kMatrix:
      return std::nullopt;
    default:
      return 0;
  }
}

bool is_arithmetic(Operation operation) {
  return flops_of(operation) != 0.0;
}

}  // namespace gputrace::bench::isa
