// The stimulus matrix as JSON: "stimulus_matrix" of benches and calibrations.
#pragma once

#include <string>

#include "cli/analysis/stimulus_matrix.h"

namespace gputrace::report {

/// One object as text; "null" without points: nothing was sampled.
[[nodiscard]] std::string stimulus_json(const analysis::StimulusMatrix& matrix);

}  // namespace gputrace::report
