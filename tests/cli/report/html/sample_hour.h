// Reports of made recordings for the tests of the HTML page: an hour of a game with everything in
// it, and what is left when much is missing.
#pragma once

#include "cli/report/report.h"

namespace gputrace::test {

/// 40 units, 31 phases, 7 sensors, a roofline; `scale` hours long.
[[nodiscard]] report::Report sample_run(double scale, double window_s);
/// In windows of 100 ms. In one stretch nothing could be read.
[[nodiscard]] report::Report sample_hour();
/// Thinned out by length as recordings are: 24 hours in windows of 5 s.
[[nodiscard]] report::Report sample_day();
/// One second, one phase, no roofline.
[[nodiscard]] report::Report sample_second();
/// An hour in which nothing could be read.
[[nodiscard]] report::Report sample_all_unknown();
/// Percentages of another tool: no counts, no intervals, windows of one second.
[[nodiscard]] report::Report sample_import();
/// The hour with names that try to leave their place in the page.
[[nodiscard]] report::Report sample_hostile();

}  // namespace gputrace::test
