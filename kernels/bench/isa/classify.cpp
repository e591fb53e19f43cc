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
  struct Precision {
    std::string_view type;
    Operation fma;
    Operation add;
    Operation mul;
  };
  constexpr auto kPrecisions = std::to_array<Precision>(
      {{"_f32", Operation::kFmaF32, Operation::kAddF32, Operation::kMulF32},
       {"_f16", Operation::kFmaF16, Operation::kAddF16, Operation::kMulF16},
       {"_f64", Operation::kFmaF64, Operation::kAddF64, Operation::kMulF64}});
  for (const Precision& precision : kPrecisions) {
    if (type != precision.type) {
      continue;
    }
    if (is_one_of(name, kFma)) {
      return Arithmetic{precision.fma, 1};
    }
    if (is_one_of(name, kAdd)) {
      return Arithmetic{precision.add, 1};
    }
    if (is_one_of(name, kMul)) {
      return Arithmetic{precision.mul, 1};
    }
  }
  return std::nullopt;
}

/// Of the unit for transcendental functions; without "v_", of fp16, fp32 and fp64.
std::optional<Arithmetic> special_operation(std::string_view name) {
  struct Function {
    std::string_view name;
    Operation operation;
  };
  constexpr auto kFunctions = std::to_array<Function>({{"rcp_f", Operation::kReciprocal},
                                                       {"rcp_iflag_f", Operation::kReciprocal},
                                                       {"sqrt_f", Operation::kSquareRoot},
                                                       {"rsq_f", Operation::kReciprocalRoot},
                                                       {"exp_f", Operation::kExponential},
                                                       {"log_f", Operation::kLogarithm},
                                                       {"sin_f", Operation::kSine}});
  for (const Function& function : kFunctions) {
    if (name.starts_with(function.name)) {
      return Arithmetic{function.operation, 1};
    }
  }
  return std::nullopt;
}

std::optional<Arithmetic> integer_operation(std::string_view name, std::string_view operands) {
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
  constexpr auto kMultiply16 = std::to_array<std::string_view>(
      {"mul_lo_u16", "mad_u16", "mad_i16", "mad_legacy_u16", "mad_legacy_i16"});
  constexpr auto kAdd16 = std::to_array<std::string_view>(
      {"add_u16", "add_i16", "add_nc_u16", "add_nc_i16", "sub_u16", "sub_i16", "sub_nc_u16",
       "sub_nc_i16", "subrev_u16", "subrev_nc_u16"});
  if (is_one_of(name, kMultiply)) {
    return Arithmetic{Operation::kMulAddI32, 1};
  }
  if (is_one_of(name, kMultiply16)) {
    return Arithmetic{Operation::kMulI16, 1};
  }
  // Without a move of 16 bits GFX11 adds zero.
  constexpr std::size_t kSecondSource = 2;
  if (is_one_of(name, kAdd16) && operand(operands, kSecondSource) != "0") {
    return Arithmetic{Operation::kAddI16, 1};
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
  if (!found) {
    found = integer_operation(name, operands);
  }
  if (!found && !is_packed) {
    found = special_operation(name);
  }
  if (found) {
    constexpr auto kUnfused =
        std::to_array<std::string_view>({"mad_f32", "mac_f32", "madak_f32", "madmk_f32"});
    result.rounds_twice = is_one_of(name, kUnfused);
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
  constexpr auto kHalves =
      std::to_array<std::string_view>({"ushort", "sshort", "short", "short_d16", "short_d16_hi",
                                       "u16", "i16", "b16", "d16_b16", "d16_hi_b16"});
  if (is_one_of(size, kHalves)) {
    return 2;
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
      case 2:
        return transfer(Operation::kLoad2);
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
      case 2:
        return transfer(Operation::kStore2);
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
  if (name.starts_with("bvh")) {
    return transfer(Operation::kRayTest);
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

}  // namespace gputrace::bench::isa
