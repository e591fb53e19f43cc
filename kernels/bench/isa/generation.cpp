#include "kernels/bench/isa/generation.h"

namespace gputrace::bench::isa {
namespace {

/// The upper six bits name the encoding: the ISA documents' chapter "Instruction Formats" (Vega 13,
/// RDNA 2 13, RDNA 3 16).
constexpr std::uint32_t kFormatShift = 26;
constexpr std::uint32_t kVop3OfGcn = 0x34;
constexpr std::uint32_t kVop3OfRdna = 0x35;
constexpr std::uint32_t kSmemOfGcn = 0x30;
constexpr std::uint32_t kSmemOfRdna = 0x3d;
/// s_endpgm has other opcodes since RDNA 3.
constexpr std::uint32_t kEndOfRdna3 = 0xbfb00000;

}  // namespace

Generation generation_of(const Listing& listing) {
  Generation found = Generation::kUnknown;
  for (const Instruction& instruction : listing.instructions) {
    const std::string_view name = instruction.mnemonic;
    if (name == "s_endpgm" && instruction.words[0] == kEndOfRdna3) {
      return Generation::kRdna3;
    }
    if (instruction.bytes < 8) {
      continue;
    }
    const std::uint32_t format = instruction.words[0] >> kFormatShift;
    const bool is_scalar_load = name.starts_with("s_load_") || name.starts_with("s_buffer_load_");
    const bool is_vector = name.starts_with("v_");
    if ((is_vector && format == kVop3OfRdna) || (is_scalar_load && format == kSmemOfRdna)) {
      found = Generation::kRdna;
    } else if ((is_vector && format == kVop3OfGcn) || (is_scalar_load && format == kSmemOfGcn)) {
      found = Generation::kGcn;
    }
  }
  return found;
}

}  // namespace gputrace::bench::isa
