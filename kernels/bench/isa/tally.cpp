#include "kernels/bench/isa/tally.h"

namespace gputrace::bench::isa {
namespace {

void add(Tally& tally, const Classified& what, const Instruction& instruction, bool conditional) {
  if (what.unit != Unit::kScalar) {
    tally.vector_instructions += instruction.times;
  }
  if (what.is_other_transfer && !conditional) {
    if (tally.other_transfers == 0) {
      tally.other_transfer_name = instruction.mnemonic;
    }
    tally.other_transfers += instruction.times;
  }
  if (!what.operation) {
    return;
  }
  OperationTally& of = tally.of.at(static_cast<std::size_t>(*what.operation));
  of.operations += what.count * instruction.times;
  of.conditional += conditional ? what.count * instruction.times : 0;
  of.instructions += instruction.times;
  tally.unfused_fmas += what.rounds_twice ? what.count * instruction.times : 0;
  if (*what.operation == Operation::kFmaF32 && !instruction.second.empty()) {
    tally.dual_issued_fmas += instruction.times;
  }
}

}  // namespace

Tallies count_operations(const Listing& listing, const ControlFlow& flow) {
  Tallies tallies;
  tallies.loops.resize(flow.loops.size());
  for (std::size_t i = 0; i < listing.instructions.size(); ++i) {
    const Instruction& instruction = listing.instructions[i];
    const std::optional<std::size_t>& loop = flow.loop_of[i];
    Tally& tally = loop ? tallies.loops[*loop] : tallies.outside;
    const bool conditional = flow.conditional[i];
    add(tally, classify(instruction.mnemonic, instruction.operands), instruction, conditional);
    if (!instruction.second.empty()) {
      tallies.has_pairs = true;
      add(tally, classify(instruction.second, {}), instruction, conditional);
    }
  }
  return tallies;
}

}  // namespace gputrace::bench::isa
