// Curves of a bench as characters: 60 columns of braille dots, or of letters in ASCII.
#pragma once

#include "cli/report/bench_plot.h"
#include "cli/report/text_format.h"

namespace gputrace::report {

/// Of curves only; nothing else is appended. A letter at the right end names each series; sizes
/// that were inferred are numbered below the axis.
void append_text_plot(Page& page, const BenchPlot& plot);

}  // namespace gputrace::report
