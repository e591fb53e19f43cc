// The workloads of a session file whose work is known: measured rates, true intensity, and what
// limits each, beside the busy bits of its time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/calibration.h"
#include "daemon/base/result.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

inline constexpr std::string_view kCalibrationTests = "calibration.";
inline constexpr std::string_view kValidationTests = "validation.";

struct KnownWorkloads {
  std::vector<analysis::CalibrationPoint> points;  ///< in the order of the results
  std::optional<analysis::Ceiling> compute = std::nullopt;
  std::optional<analysis::Ceiling> bandwidth = std::nullopt;
};

/// Of the results whose tests begin with `prefix`. Ceilings are the best of them; what limits a
/// point that can be either is told from its rate and these, or `known` ones. Points that failed or
/// were skipped are not there; those without a mark or samples have no units.
[[nodiscard]] Result<KnownWorkloads> load_known_workloads(
    const store::SessionReader& session, std::string_view prefix,
    const analysis::Calibration* known = nullptr);

}  // namespace gputrace::commands
