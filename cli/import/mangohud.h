// Logs of MangoHud (CSV): lines about the machine, the names of the columns, then a row for each
// frame or, with a log interval, for each tick of a timer. Columns are found by name.
//
// Times are those of the column `elapsed`, from 0 where the log begins. Where it steps back by less
// than a second a row counts for the time of the row before; by more, another log goes on there and
// its rows follow. Without the column, times are the sum of the frame times. A frame time of 99999
// ms stands for a pause and is no frame. MangoHud writes 0 for what it cannot read: where 0 cannot
// be (power, clocks, temperatures, memory) it is no reading, and neither is a load that is 0 in all
// rows.
#pragma once

#include "cli/import/import.h"

namespace gputrace::import {

[[nodiscard]] Result<ImportSummary> import_mangohud(LineReader& input, const ImportOptions& options,
                                                    SessionSink& sink);

}  // namespace gputrace::import
