// What a reader of a comparison must know before believing it.
#pragma once

#include <span>
#include <vector>

#include "cli/commands/compare/compared_recording.h"
#include "cli/report/report.h"

namespace gputrace::commands {

[[nodiscard]] std::vector<report::Warning> compare_warnings(std::span<const ComparedRecording> a,
                                                            std::span<const ComparedRecording> b);

}  // namespace gputrace::commands
