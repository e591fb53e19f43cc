// Reads the assembly listing of RADV's compiler ACO, as VK_KHR_pipeline_executable_properties
// returns it (Mesa: src/amd/compiler/aco_print_asm.cpp). The text comes from a driver: nothing in
// it is trusted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::bench::isa {

/// One line of the listing; a repeated one stands for `times` instructions in a row.
struct Instruction {
  std::string_view mnemonic;  ///< "v_fma_f32", "v_dual_fmac_f32"
  std::string_view operands;  ///< of the first half
  std::string_view second;    ///< mnemonic of the other half of a dual-issued pair, or empty
  std::uint64_t address = 0;  ///< bytes from the begin of the code
  std::uint32_t bytes = 0;    ///< of one
  std::uint64_t times = 1;
  std::array<std::uint32_t, 2> words{};  ///< the begin of its encoding

  [[nodiscard]] std::uint64_t end() const { return address + bytes * times; }
};

struct Label {
  std::string_view name;      ///< "BB4"
  std::uint64_t address = 0;  ///< of what follows
};

/// Views into the text that was parsed, which must outlive it.
struct Listing {
  std::vector<Instruction> instructions;  ///< in the order of their addresses
  std::vector<Label> labels;              ///< likewise
  bool has_constants = false;             ///< data behind the code, not counted in code_bytes()

  [[nodiscard]] std::uint64_t code_bytes() const {
    return instructions.empty() ? 0 : instructions.back().end();
  }
  /// The instruction that begins at this address.
  [[nodiscard]] std::optional<std::size_t> at(std::uint64_t address) const;
  /// The name of the label at this address, else empty.
  [[nodiscard]] std::string_view label_at(std::uint64_t address) const;
};

/// kUnsupported: not a listing of ACO. kCorrupt: one, with a line that cannot be read; the message
/// names the line.
[[nodiscard]] Result<Listing> parse_listing(std::string_view text);

}  // namespace gputrace::bench::isa
