// What `gputrace kernels verify` found: each kernel's formula against the code that a driver made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/bench/isa_check.h"
#include "kernels/bench/kernel_case.h"

namespace gputrace::commands {

enum class Verdict {
  kPassed,
  kFailed,
  kNotDone,    ///< its code could not be counted
  kNoFormula,  ///< it claims no instructions
  kSkipped,    ///< the device lacks what it needs
};

struct KernelVerdict {
  std::string id;
  Verdict verdict = Verdict::kNotDone;
  bench::IsaCheck isa;  ///< `why` is the reason of every verdict but kPassed
};

struct Verification {
  std::string device;       ///< "AMD Radeon 780M (RADV GFX1103_R1)"
  std::string driver_info;  ///< "Mesa 24.2.8"
  std::string family;       ///< as RADV was asked for it; empty for a device of this machine
  std::vector<KernelVerdict> kernels;
};

[[nodiscard]] std::string_view name_of(Verdict verdict);
/// Every kernel passed, claims nothing, or was skipped with its reason, and one at least passed.
[[nodiscard]] bool is_good(const Verification& verification);

/// `gputrace.kernels/1`.
[[nodiscard]] std::string to_json(const Verification& verification);
/// The same of one that could not be begun.
[[nodiscard]] std::string not_verified_to_json(const std::string& why);
[[nodiscard]] Result<Verification> verification_from_json(const std::string& text);
[[nodiscard]] std::string kernels_to_json(const std::vector<bench::KernelCase>& kernels);

[[nodiscard]] std::string to_text(const Verification& verification);
[[nodiscard]] std::string kernels_to_text(const std::vector<bench::KernelCase>& kernels);

}  // namespace gputrace::commands
