// The proof of the ISA: what a kernel's formula claims against the instructions that the driver
// compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/kernel_case.h"
#include "kernels/vulkan/pipeline.h"

namespace gputrace::bench {

struct IsaCheck {
  analysis::Proof proof = analysis::Proof::kNotDone;
  /// Why the proof failed, naming both numbers, or why it was not done.
  std::string why;
  std::vector<analysis::CountCheck> counts;
  std::optional<std::uint32_t> subgroup_size;  ///< that the driver compiled for
  std::optional<double> code_bytes;
  std::optional<double> vgprs;
  std::optional<double> waves_per_simd;     ///< of the kernel's own subgroup size
  std::optional<double> loop_instructions;  ///< of vectors, in the loop that the formula is of
  std::optional<double> arithmetic_share;   ///< of the loop's vector instructions
  std::optional<double> dual_issued_share;  ///< of the loop's FMAs; absent without VOPD
};

/// Not done where no assembly in a known language is shown.
[[nodiscard]] IsaCheck check_isa(const KernelCase& kernel,
                                 std::span<const vulkan::Executable> executables);

}  // namespace gputrace::bench
