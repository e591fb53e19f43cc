// Places for waves, and the steps in which registers are given out, from the groups in flight.
#pragma once

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis::inference {

/// Appends "slots" and "registers.step" to "occupancy.registers", whose groups have 64 threads.
void read_slots(BenchRun& run);

}  // namespace gputrace::analysis::inference
