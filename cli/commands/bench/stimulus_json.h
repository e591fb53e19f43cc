// The description of a kernel as the text that a mark carries and the simulated GPU plays.
#pragma once

#include <string>

#include "kernels/bench/stimulus.h"

namespace gputrace::commands {

/// One line of JSON with every member of Stimulus; the form is that of
/// daemon/simulated_gpu/stimulus.h. A number that is not finite becomes null, which no reader
/// takes.
[[nodiscard]] std::string stimulus_json(const bench::Stimulus& stimulus);

}  // namespace gputrace::commands
