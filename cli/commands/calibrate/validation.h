// Workloads of known work that no calibration has seen, held against what a calibration says of
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/calibration.h"
#include "cli/analysis/position.h"
#include "daemon/base/result.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

struct ValidatedWorkload {
  analysis::CalibrationPoint truth;
  /// True intensity over that of the ridge; absent where the workload has next to no bytes.
  std::optional<double> of_ridge = std::nullopt;
  std::optional<analysis::Position> position = std::nullopt;  ///< as estimated
  analysis::Verdict verdict;
  std::optional<bool> inside = std::nullopt;  ///< the true position, the range; absent without one
  std::optional<bool> class_right =
      std::nullopt;  ///< absent where the truth is none of the classes
};

struct Validation {
  analysis::CalibrationFit fit;
  std::optional<double> scatter = std::nullopt;  ///< of workloads about the curve
  std::string no_position;                       ///< why there are no positions; empty = there are
  std::vector<ValidatedWorkload> workloads;
};

/// Of the validation workloads in a session. Without a second witness `memory` is right for a
/// workload that bandwidth or latency limits.
[[nodiscard]] Result<Validation> validate(const store::SessionReader& session,
                                          const analysis::Calibration& calibration);

}  // namespace gputrace::commands
