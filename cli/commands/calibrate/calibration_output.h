// What `gputrace calibrate` prints.
#pragma once

#include <string>

#include "cli/analysis/calibration.h"
#include "cli/analysis/stimulus_matrix.h"
#include "cli/commands/calibrate/validation.h"
#include "cli/report/render_text.h"

namespace gputrace::commands {

/// Rates and what limits each workload, then how busy the units were that tell it, and what keeps
/// each unit busy.
[[nodiscard]] std::string calibration_text(const analysis::Calibration& calibration,
                                           const analysis::StimulusMatrix& matrix,
                                           const report::TextOptions& options);
[[nodiscard]] std::string validation_text(const Validation& validation,
                                          const analysis::Calibration& calibration,
                                          const report::TextOptions& options);

/// Schema gputrace.calibration/1; `validation` may be null.
[[nodiscard]] std::string calibration_json(const analysis::Calibration& calibration,
                                           const analysis::StimulusMatrix& matrix,
                                           const Validation* validation);

}  // namespace gputrace::commands
