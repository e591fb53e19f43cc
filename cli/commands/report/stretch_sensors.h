// What the sensors say of each of many stretches of a recording, in one pass over the file.
#pragma once

#include <span>
#include <vector>

#include "cli/commands/report/sensor_set.h"

namespace gputrace::commands {

/// One list for each stretch; stretches are in order of time and do not overlap. Of each quantity
/// the sensor whose readings speak for most of the recording, without bit fields and single
/// cores; those that say nothing of a stretch are not in its list.
[[nodiscard]] Result<std::vector<std::vector<report::Sensor>>> sensors_of_stretches(
    const SensorSet& set, std::span<const analysis::TimeRange> stretches);

/// The readings of a run inside a stretch that it overlaps: at least one, as the value did not
/// change in between.
[[nodiscard]] analysis::ReadingRun part_of(const analysis::ReadingRun& run,
                                           const analysis::TimeRange& stretch);

}  // namespace gputrace::commands
