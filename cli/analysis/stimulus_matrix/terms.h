// A point's stimulus as a row of numbers, one a term.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/analysis/stimulus_matrix.h"

namespace gputrace::analysis {

/// Names of all terms for so many levels of caches.
[[nodiscard]] std::vector<std::string> term_names(std::size_t levels);
/// Its arithmetic keeps memory waiting and still asks for it: units of the way to memory are busy
/// for a share of the time that no sum of terms gives.
[[nodiscard]] bool is_mixed(const StimulatedPoint& point);
/// In their order: the share of time or of requests, 0 to 1, with which the point asks for each.
[[nodiscard]] std::vector<double> term_row(const StimulatedPoint& point,
                                           std::span<const double> level_bytes);

}  // namespace gputrace::analysis
