// Which operation of a kernel's formula an instruction is, and how many of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "kernels/bench/kernel_case.h"

namespace gputrace::bench::isa {

enum class Unit {
  kScalar,  ///< once a wave: s_*
  kVectorAlu,
  kVectorMemory,  ///< buffers, images, flat and global addresses, scratch
  kShared,        ///< local memory
  kExport,
};

struct Classified {
  Unit unit = Unit::kScalar;
  std::optional<Operation> operation;
  unsigned count = 0;  ///< operations in one instruction: 2 for packed ones and double loads
  /// It moves data, and no class of Operation is for it: a load of 12 bytes, scratch.
  bool is_other_transfer = false;
  /// A multiply-add that rounds its product too: of GCN, in the place of two instructions.
  bool rounds_twice = false;
};

/// A mnemonic of GCN 3 to RDNA 4 in its spelling by LLVM, of a pair one half. fma() that the
/// compiler made an unfused multiply-add (v_mad_f32 of GCN) is an FMA, as is v_fma_mix_f32 unless a
/// factor is 1 (an addition) or the addend 0 (a product). A formatted load or store counts by its
/// components of four bytes. `operands` tell exports of pixels from others.
[[nodiscard]] Classified classify(std::string_view mnemonic, std::string_view operands);

inline constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::kRayTest) + 1;

/// "FMA fp32", "load 16 B".
[[nodiscard]] std::string_view name_of(Operation operation);
/// Of the ALU: the others move data.
[[nodiscard]] bool is_arithmetic(Operation operation);
/// FLOPs of one; absent for arithmetic that has no fixed number of them, or that is of integers. 0
/// for what moves data.
[[nodiscard]] std::optional<double> flops_of(Operation operation);

}  // namespace gputrace::bench::isa
