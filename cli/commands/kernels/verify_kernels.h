// Compiles the kernels and checks their formulas, in a process that may crash.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/commands/kernels/verification.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct VerifyRequest {
  std::string device;                ///< as vulkan::Device::open() takes it
  std::string family;                ///< of AMD GPUs, for RADV; empty = a device of this machine
  std::vector<std::string> kernels;  ///< ids, or their beginnings up to a dot; empty = all
};

/// kUnsupported: nothing can be verified here (no RADV, a family that it does not know, a driver
/// that does not show its code). kNotFound: no such device or kernel.
[[nodiscard]] Result<Verification> verify_kernels(const VerifyRequest& request);

/// Those of `cases` that `wanted` names; all without a name. kNotFound names the first that fits
/// none.
[[nodiscard]] Result<std::vector<bench::KernelCase>> select_kernels(
    std::vector<bench::KernelCase> cases, const std::vector<std::string>& wanted);

struct KernelName {
  std::string id;
  bool draws = false;  ///< a pixel case
};

/// By calls of `verify` for several at once, and for fewer where that fails, until those that the
/// driver crashes on are known. `without_gpu`: a crash on the first kernel that draws is RADV's
/// own, and all that draw are skipped.
[[nodiscard]] Verification verify_apart(
    std::vector<KernelName> names, bool without_gpu,
    const std::function<Result<Verification>(const std::vector<std::string>& ids)>& verify);

/// Every case, as for a device that has every feature.
[[nodiscard]] std::vector<bench::KernelCase> known_kernels();

}  // namespace gputrace::commands
