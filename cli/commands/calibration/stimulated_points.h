// The points of a bench beside the busy bits of their time: what the stimulus matrix is fitted to.
#pragma once

#include <vector>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/stimulus_matrix.h"
#include "daemon/base/result.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// In order of time; those without samples are left out. Empty for results without a recording.
[[nodiscard]] Result<std::vector<analysis::StimulatedPoint>> stimulated_points(
    const store::SessionReader& session);

/// `run`: the results of the session, whose inferred levels of caches are used; may be null.
/// Without points where nothing was sampled.
[[nodiscard]] Result<analysis::StimulusMatrix> stimulus_matrix_of(
    const store::SessionReader& session, const analysis::BenchRun* run);

}  // namespace gputrace::commands
