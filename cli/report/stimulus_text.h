// The stimulus matrix for a terminal: what keeps each unit busy.
#pragma once

#include <string>

#include "cli/analysis/stimulus_matrix.h"
#include "cli/report/text_format.h"

namespace gputrace::report {

/// Nothing without points.
void append_stimulus_matrix(Page& page, const analysis::StimulusMatrix& matrix);
[[nodiscard]] std::string render_stimulus_text(const analysis::StimulusMatrix& matrix,
                                               const TextOptions& options);

}  // namespace gputrace::report
