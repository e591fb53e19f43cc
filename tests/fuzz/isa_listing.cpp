// Assembly as a driver returns it: what is counted lies in the text, and loops lie in the code.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/bench/isa/generation.h"
#include "kernels/bench/isa/listing.h"
#include "kernels/bench/isa/loops.h"
#include "kernels/bench/isa/tally.h"
#include "kernels/bench/isa_check.h"

namespace {

using namespace gputrace;

void check_listing(const bench::isa::Listing& listing, std::string_view text) {
  std::uint64_t address = 0;
  for (const bench::isa::Instruction& instruction : listing.instructions) {
    GPUTRACE_CHECK(instruction.address == address && instruction.bytes >= 4);
    GPUTRACE_CHECK(instruction.times >= 1 && !instruction.mnemonic.empty());
    GPUTRACE_CHECK(instruction.mnemonic.data() >= text.data() &&
                   instruction.mnemonic.data() < text.data() + text.size());
    address = instruction.end();
  }
  GPUTRACE_CHECK(listing.code_bytes() == address);
}

void check_flow(const bench::isa::Listing& listing, const bench::isa::ControlFlow& flow) {
  GPUTRACE_CHECK(flow.loop_of.size() == listing.instructions.size());
  for (std::size_t i = 0; i < flow.loops.size(); ++i) {
    const bench::isa::Loop& loop = flow.loops[i];
    GPUTRACE_CHECK(loop.first <= loop.last && loop.last < listing.instructions.size());
    if (loop.parent) {
      const bench::isa::Loop& parent = flow.loops[*loop.parent];
      GPUTRACE_CHECK(*loop.parent < i && parent.first <= loop.first && loop.last <= parent.last);
    }
  }
  for (std::size_t i = 0; i < flow.loop_of.size(); ++i) {
    if (const std::optional<std::size_t> loop = flow.loop_of[i]) {
      GPUTRACE_CHECK(flow.loops[*loop].first <= i && i <= flow.loops[*loop].last);
    }
  }
  const bench::isa::Tallies tallies = bench::isa::count_operations(listing, flow);
  for (const bench::isa::Tally& tally : tallies.loops) {
    for (const bench::isa::OperationTally& of : tally.of) {
      GPUTRACE_CHECK(of.conditional <= of.operations);
    }
    GPUTRACE_CHECK(tally.vector_instructions <= 2 * listing.code_bytes() / 4);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<bench::isa::Listing> listing = bench::isa::parse_listing(text);
  if (listing) {
    check_listing(*listing, text);
    static_cast<void>(bench::isa::generation_of(*listing));
    const Result<bench::isa::ControlFlow> flow = bench::isa::find_loops(*listing);
    if (flow) {
      check_flow(*listing, *flow);
    }
  }
  bench::KernelCase kernel;
  kernel.id = "fuzz";
  kernel.formula = {{bench::Operation::kFmaF32, 8, 0}, {bench::Operation::kLoad16, 0, 1}};
  const std::vector<vulkan::Executable> executables{
      {"Compute Shader", 64, {{"Code size", 148}}, std::string(text)}};
  const bench::IsaCheck check = bench::check_isa(kernel, executables);
  GPUTRACE_CHECK(check.why.empty() == (check.proof == analysis::Proof::kPassed));
  GPUTRACE_CHECK(check.proof != analysis::Proof::kPassed || listing.has_value());
  return 0;
}
