#include "kernels/bench/isa_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/bench/isa/claims.h"
#include "kernels/bench/isa/generation.h"
#include "kernels/bench/isa/listing.h"
#include "kernels/bench/isa/loops.h"
#include "kernels/bench/isa/tally.h"

namespace gputrace::bench {
namespace {

using isa::Tally;

/// The driver may pad the code behind the last instruction that it lists.
constexpr double kMaxPaddingBytes = 512;
/// Slots for waves of one SIMD since RDNA 2, and before (Mesa: max_wave64_per_simd).
constexpr double kMaxWaves = 16;
constexpr double kMaxWavesOfRdna1 = 20;
constexpr double kUnitLanes = 32;  ///< in which RADV counts "Subgroups per SIMD" on RDNA

const vulkan::Executable* executable_of(const KernelCase& kernel,
                                        std::span<const vulkan::Executable> executables) {
  if (executables.size() == 1) {
    return &executables.front();
  }
  // "Compute Shader", "Fragment Shader", "Pixel Shader": without the first letters' case.
  const auto matches = [&](const vulkan::Executable& executable) {
    const auto has = [&](std::string_view part) {
      return executable.name.find(part) != std::string::npos;
    };
    return kernel.target ? has("ragment") || has("ixel") : has("ompute");
  };
  const auto found = std::find_if(executables.begin(), executables.end(), matches);
  return found == executables.end() ? nullptr : &*found;
}

struct Code {
  isa::Listing listing;
  isa::ControlFlow flow;
};

Result<Code> read_code(const vulkan::Executable& executable) {
  Code code;
  Result<isa::Listing> listing = isa::parse_listing(executable.assembly);
  if (!listing) {
    return tl::unexpected(listing.error());
  }
  code.listing = std::move(*listing);
  Result<isa::ControlFlow> flow = isa::find_loops(code.listing);
  if (!flow) {
    return tl::unexpected(flow.error());
  }
  code.flow = std::move(*flow);
  if (const auto bytes = executable.statistic("Code size")) {
    const auto listed = static_cast<double>(code.listing.code_bytes());
    const bool is_short = !code.listing.has_constants && *bytes - listed > kMaxPaddingBytes;
    if (listed > *bytes || is_short) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the listing has {:.0f} bytes of code, the driver says {:.0f}",
                              listed, *bytes));
    }
  }
  return code;
}

double waves_of(double subgroups, isa::Generation generation, double subgroup_size) {
  if (generation == isa::Generation::kGcn || subgroup_size < kUnitLanes) {
    return subgroups;
  }
  const bool is_rdna1 = subgroups > kMaxWaves * 2;
  return std::min(std::floor(subgroups / (subgroup_size / kUnitLanes)),
                  is_rdna1 ? kMaxWavesOfRdna1 : kMaxWaves);
}

class Check {
 public:
  Check(const KernelCase& kernel, const vulkan::Executable& executable)
      : kernel_(kernel), executable_(executable) {}

  IsaCheck run();

 private:
  void take_shares(const Tally& loop, bool has_pairs);
  void check_limits(isa::Generation generation);
  void check_limit(std::string_view what, const std::optional<double>& is,
                   const std::optional<double>& at_least);
  void fail_with(std::string why) { failures_.push_back(std::move(why)); }
  IsaCheck finish();

  const KernelCase& kernel_;
  const vulkan::Executable& executable_;
  IsaCheck check_;
  std::vector<std::string> failures_;
};

void Check::take_shares(const Tally& loop, bool has_pairs) {
  std::uint64_t arithmetic = 0;
  bool has_arithmetic = false;
  for (const OperationCount& count : kernel_.formula) {
    if (count.per_trip > 0 && isa::is_arithmetic(count.operation)) {
      has_arithmetic = true;
      arithmetic += loop.at(count.operation).instructions;
    }
  }
  if (has_arithmetic && loop.vector_instructions > 0) {
    check_.arithmetic_share =
        static_cast<double>(arithmetic) / static_cast<double>(loop.vector_instructions);
  }
  const std::uint64_t fmas = loop.at(Operation::kFmaF32).operations;
  if (has_pairs && fmas > 0) {
    check_.dual_issued_share =
        static_cast<double>(loop.dual_issued_fmas) / static_cast<double>(fmas);
  }
}

void Check::check_limit(std::string_view what, const std::optional<double>& is,
                        const std::optional<double>& at_least) {
  if (is && at_least && *is < *at_least) {
    fail_with(fmt::format("{}: {:.4g}, at least {:.4g} are wanted", what, *is, *at_least));
  }
}

void Check::check_limits(isa::Generation generation) {
  if (check_.code_bytes && kernel_.max_code_bytes && *check_.code_bytes > *kernel_.max_code_bytes) {
    fail_with(fmt::format("{:.0f} bytes of code, at most {:.0f} are wanted", *check_.code_bytes,
                          *kernel_.max_code_bytes));
  }
  const bool is_rdna =
      generation == isa::Generation::kRdna || generation == isa::Generation::kRdna3;
  if (is_rdna) {
    check_limit("waves a SIMD", check_.waves_per_simd, kernel_.min_waves_per_simd);
  }
  check_limit("share of arithmetic in the loop's vector instructions", check_.arithmetic_share,
              kernel_.min_arithmetic_share);
  // RADV's wave32 alone forms pairs; where the hardware pairs up wave64, no instruction shows it.
  if (generation == isa::Generation::kRdna3 && executable_.subgroup_size == kUnitLanes) {
    check_limit("share of dual-issued FMAs", check_.dual_issued_share,
                kernel_.min_dual_issued_share);
  }
  if (executable_.statistic("Spilled VGPRs").value_or(0) > 0) {
    fail_with("registers are spilled to memory");
  }
}

IsaCheck Check::run() {
  if (executable_.subgroup_size != 0) {
    check_.subgroup_size = executable_.subgroup_size;
  }
  check_.code_bytes = executable_.statistic("Code size");
  check_.vgprs = executable_.statistic("VGPRs");
  if (executable_.assembly.empty()) {
    check_.why = "the driver shows no assembly";
    return check_;
  }
  const Result<Code> code = read_code(executable_);
  if (!code) {
    check_.why = code.error().message;
    return check_;
  }
  const isa::Generation generation = isa::generation_of(code->listing);
  if (const auto subgroups = executable_.statistic("Subgroups per SIMD")) {
    check_.waves_per_simd = waves_of(*subgroups, generation, executable_.subgroup_size);
  }
  const isa::Tallies tallies = isa::count_operations(code->listing, code->flow);
  const isa::Comparison comparison = isa::compare_claims(kernel_, tallies, code->flow);
  check_.counts = comparison.counts;
  failures_ = comparison.failures;
  if (comparison.loop) {
    // Mesa's statistic exists since the compiler forms pairs: then none at all is a share of 0.
    const bool forms_pairs = tallies.has_pairs || (generation == isa::Generation::kRdna3 &&
                                                   executable_.statistic("VOPD").has_value());
    const Tally& loop = tallies.loops[*comparison.loop];
    check_.loop_instructions = static_cast<double>(loop.vector_instructions);
    take_shares(loop, forms_pairs);
  }
  check_limits(generation);
  return finish();
}

IsaCheck Check::finish() {
  if (failures_.empty()) {
    const bool claims_nothing = kernel_.formula.empty() && kernel_.in_loops.empty();
    check_.proof = claims_nothing ? analysis::Proof::kNotDone : analysis::Proof::kPassed;
    check_.why = claims_nothing ? "the kernel has no formula of instructions" : "";
    return check_;
  }
  check_.proof = analysis::Proof::kFailed;
  check_.why = fmt::format("{}: {}", kernel_.id, fmt::join(failures_, "; "));
  return check_;
}

}  // namespace

IsaCheck check_isa(const KernelCase& kernel, std::span<const vulkan::Executable> executables) {
  const vulkan::Executable* const executable = executable_of(kernel, executables);
  if (executable == nullptr) {
    IsaCheck check;
    check.why = "the driver shows no code of this shader";
    return check;
  }
  return Check(kernel, *executable).run();
}

}  // namespace gputrace::bench
