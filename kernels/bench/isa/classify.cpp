#include "kernels/bench/isa/classify.h"

#include <algorithm>
#include <array>
#include <span>

namespace gputrace::bench::isa {
namespace {

using Names = std::span<const std::string_view>;

bool is_one_of(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool take_prefix(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) {
    return false;
  }
  name.remove_prefix(prefix.size());
  return true;
}

/// Encodings of one operation: v_fma_f32_e64_dpp, v_fmac_f16_t16_e32.
std::string_view without_encoding(std::string_view name) {
  constexpr auto kSuffixes = std::to_array<std::string_view>(
      {"_e32", "_e64", "_dpp", "_dpp8", "_sdwa", "_t16", "_fake16", "_gfx11", "_gfx12"});
  bool found = true;
  while (found) {
    found = false;
    for (const std::string_view suffix : kSuffixes) {
      if (name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
        found = true;
      }
    }
  }
  return name;
}

struct Arithmetic {
  Operation operation;
  unsigned count;
};

/// The operand of that number, 0 = where the result goes; empty for one that is not there.
std::string_view operand(std::string_view operands, std::size_t number) {
  for (; number > 0; --number) {
    const std::size_t comma = operands.find(',');
    if (comma == std::string_view::npos) {
      return {};
    }
    operands.remove_prefix(comma + 1);
  }
  operands = operands.substr(0, operands.find(','));
  operands.remove_prefix(std::min(operands.find_first_not_of(' '), operands.size()));
  return operands.substr(0, operands.find(' '));
}

/// A multiply-add that converts halves on the way. RADV joins conversions with any arithmetic so:
/// an addition is one by 1.0, a product one plus zero (ACO's combine_mad_mix).
Arithmetic mixed_operation(std::string_view operands) {
  constexpr auto kZeros = std::to_array<std::string_view>({"0", "-0", "neg(0)", "0x80000000"});
  constexpr std::size_t kAddend = 3;
  if (operand(operands, 1) == "1.0" || operand(operands, 2) == "1.0") {
    return {Operation::kAddF32, 1};
  }
  return {is_one_of(operand(operands, kAddend), kZeros) ? Operation::kMulF32 : Operation::kFmaF32,
          1};
}

/// `name` without "v_" and "pk_".
std::optional<Arithmetic> float_operation(std::string_view name, std::string_view operands) {
  constexpr auto kFma = std::to_array<std::string_view>(
      {"fma", "fmac", "fmaak", "fmamk", "mad", "mac", "madak", "madmk", "fma_legacy", "fmac_legacy",
       "mad_legacy", "mac_legacy", "fma_dx9_zero", "fmac_dx9_zero"});
  constexpr auto kMix =
      std::to_array<std::string_view>({"fma_mix_f32", "fma_mixlo_f16", "fma_mixhi_f16",
                                       "mad_mix_f32", "mad_mixlo_f16", "mad_mixhi_f16"});
  constexpr auto kAdd = std::to_array<std::string_view>({"add", "sub", "subrev"});
  constexpr auto kMul = std::to_array<std::string_view>({"mul", "mul_legacy", "mul_dx9_zero"});
  if (is_one_of(name, kMix)) {
    return mixed_operation(operands);
  }
  constexpr std::size_t kTypeSize = 4;  // "_f32"
  if (name.size() <= kTypeSize) {
    return std::nullopt;
  }
  const std::string_view type = name.substr(name.size() - kTypeSize);
  name.remove_suffix(kTypeSize);
  const bool is_fma = is_one_of(name, kFma);
  if (is_fma && type == "_f16") {
    return Arithmetic{Operation::kFmaF16, 1};
  }
  if (is_fma && type == "_f64") {
    return Arithmetic{Operation::kFmaF64, 1};
  }
  if (type != "_f32") {
    return std::nullopt;
  }
  if (is_fma) {
    return Arithmetic{Operation::kFmaF32, 1};
  }
  if (is_one_of(name, kAdd)) {
    return Arithmetic{Operation::kAddF32, 1};
  }
  return is_one_of(name, kMul) ? std::optional(Arithmetic{Operation::kMulF32, 1}) : std::nullopt;
}

std::optional<Arithmetic> integer_operation(std::string_view name) {
  constexpr auto kMultiply = std::to_array<std::string_view>(
      {"mul_lo_u32", "mul_lo_i32", "mul_hi_u32", "mul_hi_i32", "mul_u32_u24", "mul_i32_i24",
       "mul_hi_u32_u24", "mul_hi_i32_i24", "mad_u32_u24", "mad_i32_i24", "mad_u64_u32",
       "mad_i64_i32", "mad_co_u64_u32", "mad_co_i64_i32"});
  constexpr auto kAdd = std::to_array<std::string_view>(
      {"add_u32",          "add_i32",        "add_nc_u32",  "add_nc_i32",    "add_co_u32",
       "add_co_ci_u32",    "addc_co_u32",    "addc_u32",    "sub_u32",       "sub_i32",
       "sub_nc_u32",       "sub_nc_i32",     "sub_co_u32",  "sub_co_ci_u32", "subb_co_u32",
       "subb_u32",         "subrev_u32",     "subrev_i32",  "subrev_nc_u32", "subrev_co_u32",
       "subrev_co_ci_u32", "subbrev_co_u32", "subbrev_u32", "lshl_add_u32",  "add_lshl_u32",
       "xad_u32"});
  if (is_one_of(name, kMultiply)) {
    return Arithmetic{Operation::kMulAddI32, 1};
  }
  if (is_one_of(name, kAdd)) {
    return Arithmetic{Operation::kAddI32, 1};
  }
  return name == "add3_u32" ? std::optional(Arithmetic{Operation::kAddI32, 2}) : std::nullopt;
}

Classified vector_alu(std::string_view name, std::string_view operands) {
  Classified result{Unit::kVectorAlu, std::nullopt, 0, false};
  name = without_encoding(name);
  take_prefix(name, "dual_");
  if (name.starts_with("wmma_") || name.starts_with("swmmac_") || name.starts_with("mfma_")) {
    result.operation = Operation::kMatrix;
    result.count = 1;
    return result;
  }
  if (name.starts_with("dot4_") || name.starts_with("dot4c_")) {
    result.operation = Operation::kDotI8;
    result.count = 1;
    return result;
  }
  const bool is_packed = take_prefix(name, "pk_");
  auto found = float_operation(name, operands);
  if (!found && !is_packed) {
    found = integer_operation(name);
  }
  if (found) {
    result.operation = found->operation;
    result.count = is_packed ? 2 * found->count : found->count;
  }
  return result;
}

/// The part of a load's or store's name behind "load_", in both spellings.
std::optional<unsigned> bytes_moved(std::string_view size) {
  if (size == "dwordx4" || size == "b128" || size == "format_xyzw") {
    return 16;
  }
  if (size == "dwordx2" || size == "b64" || size == "format_xy") {
    return 8;
  }
  if (size == "dword" || size == "b32" || size == "format_x") {
    return 4;
  }
  return std::nullopt;
}

Classified transfer(std::optional<Operation> operation) {
  return {Unit::kVectorMemory, operation, operation ? 1U : 0U, !operation};
}

/// `name` behind "buffer_" and its like.
Classified vector_memory(std::string_view name) {
  if (take_prefix(name, "load_")) {
    switch (bytes_moved(name).value_or(0)) {
      case 16:
        return transfer(Operation::kLoad16);
      case 8:
        return transfer(Operation::kLoad8);
      case 4:
        return transfer(Operation::kLoad4);
      default:
        return transfer(std::nullopt);
    }
  }
  if (take_prefix(name, "store_")) {
    switch (bytes_moved(name).value_or(0)) {
      case 16:
        return transfer(Operation::kStore16);
      case 4:
        return transfer(Operation::kStore4);
      default:
        return transfer(std::nullopt);
    }
  }
  if (name.starts_with("atomic_")) {
    return transfer(Operation::kAtomic);
  }
  return {Unit::kVectorMemory, std::nullopt, 0, false};  // cache control
}

Classified image(std::string_view name) {
  if (name.starts_with("sample") || name.starts_with("gather") || name.starts_with("load")) {
    return transfer(Operation::kSample);
  }
  if (name.starts_with("atomic_")) {
    return transfer(Operation::kAtomic);
  }
  const bool is_question = name.starts_with("get_");  // of the size, of the level
  return {Unit::kVectorMemory, std::nullopt, 0, !is_question};
}

Classified shared(std::string_view name) {
  constexpr auto kNoTransfer = std::to_array<std::string_view>(
      {"nop", "permute_b32", "bpermute_b32", "bpermute_fi_b32", "swizzle_b32"});
  const bool is_load = name.starts_with("read") || name.starts_with("load");
  const bool is_store = name.starts_with("write") || name.starts_with("store");
  const bool is_double = name.starts_with("read2") || name.starts_with("write2") ||
                         name.find("_2addr") != std::string_view::npos;
  const bool is_exchange = name.find("xchg") != std::string_view::npos;
  Classified result{Unit::kShared, std::nullopt, is_double ? 2U : 1U, false};
  if (is_one_of(name, kNoTransfer) || name.starts_with("gws_")) {
    result.count = 0;
  } else if (is_load) {
    result.operation = Operation::kSharedLoad;
  } else if (is_store && !is_exchange) {
    result.operation = Operation::kSharedStore;
  } else if (name.starts_with("direct_") || name.starts_with("param_")) {
    result = {Unit::kShared, std::nullopt, 0, false};  // attributes of pixels
  } else {
    result.operation = Operation::kSharedAtomic;
  }
  return result;
}

}  // namespace

Classified classify(std::string_view mnemonic, std::string_view operands) {
  std::string_view name = mnemonic;
  if (take_prefix(name, "v_")) {
    return vector_alu(name, operands);
  }
  if (take_prefix(name, "buffer_") || take_prefix(name, "tbuffer_") ||
      take_prefix(name, "global_") || take_prefix(name, "flat_")) {
    return vector_memory(name);
  }
  if (take_prefix(name, "scratch_")) {
    return transfer(std::nullopt);
  }
  if (take_prefix(name, "image_")) {
    return image(name);
  }
  if (take_prefix(name, "ds_")) {
    return shared(name);
  }
  if (take_prefix(name, "lds_")) {
    return {Unit::kShared, std::nullopt, 0, false};
  }
  if (name == "exp" || name == "export") {
    const bool is_pixel = operands.starts_with("mrt");  // not a position, not an empty one
    return {Unit::kExport, is_pixel ? std::optional(Operation::kExport) : std::nullopt,
            is_pixel ? 1U : 0U, false};
  }
  const bool is_load = name.starts_with("s_load_") || name.starts_with("s_buffer_load_");
  return {Unit::kScalar, is_load ? std::optional(Operation::kScalarLoad) : std::nullopt,
          is_load ? 1U : 0U, false};
}

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
    case Operation::kMulAddI32:
      return "multiply int32";
    case Operation::kAddI32:
      return "add int32";
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
    case Operation::kStore16:
      return "store 16 B";
    case Operation::kStore4:
      return "store 4 B";
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
  }
  return "?";
}

bool is_arithmetic(Operation operation) {
  switch (operation) {
    case Operation::kFmaF32:
    case Operation::kFmaF16:
    case Operation::kFmaF64:
    case Operation::kAddF32:
    case Operation::kMulF32:
    case Operation::kMulAddI32:
    case Operation::kAddI32:
    case Operation::kDotI8:
    case Operation::kMatrix:
      return true;
    default:
      return false;
  }
}

}  // namespace gputrace::bench::isa
