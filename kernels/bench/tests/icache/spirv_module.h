// Writes SPIR-V word by word (Khronos, "SPIR-V Specification", 2.3): for code that no compiler has
// to see, whatever its length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace gputrace::bench {

/// The opcodes in use (3.49), and what goes with them.
enum class SpirvOp : std::uint16_t {
  kExtInstImport = 11,
  kExtInst = 12,
  kMemoryModel = 14,
  kEntryPoint = 15,
  kExecutionMode = 16,
  kCapability = 17,
  kTypeVoid = 19,
  kTypeBool = 20,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeRuntimeArray = 29,
  kTypeStruct = 30,
  kTypePointer = 32,
  kTypeFunction = 33,
  kConstant = 43,
  kFunction = 54,
  kFunctionEnd = 56,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kAccessChain = 65,
  kDecorate = 71,
  kMemberDecorate = 72,
  kConvertUToF = 112,
  kIAdd = 128,
  kFAdd = 129,
  kFSub = 131,
  kIMul = 132,
  kULessThan = 176,
  kPhi = 245,
  kLoopMerge = 246,
  kLabel = 248,
  kBranch = 249,
  kBranchConditional = 250,
  kReturn = 253,
};

using SpirvId = std::uint32_t;

/// Parts of a module that are written in any order and lie one after the other (2.4); the last
/// three are of its function.
class SpirvModule {
 public:
  enum class Part { kHead, kDecorations, kTypes, kBegin, kLoop, kEnd };

  [[nodiscard]] SpirvId new_id() { return next_id_++; }
  void add(Part part, SpirvOp op, std::initializer_list<std::uint32_t> operands);
  void add(Part part, SpirvOp op, const std::vector<std::uint32_t>& operands);
  /// An instruction whose result is a new id: type, id, operands.
  [[nodiscard]] SpirvId add_result(Part part, SpirvOp op, SpirvId type,
                                   std::initializer_list<std::uint32_t> operands);
  /// The whole module, of version 1.3, which Vulkan 1.1 takes.
  [[nodiscard]] std::vector<std::uint32_t> words() const;

  /// A literal string: zero-ended, in whole words, the first byte lowest.
  static void append_string(std::vector<std::uint32_t>& operands, std::string_view text);

 private:
  [[nodiscard]] std::vector<std::uint32_t>& words_of(Part part) {
    return parts_.at(static_cast<std::size_t>(part));
  }

  SpirvId next_id_ = 1;
  std::array<std::vector<std::uint32_t>, 6> parts_;
};

}  // namespace gputrace::bench
