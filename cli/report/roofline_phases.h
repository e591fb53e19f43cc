// Phases of a recording on a drawn roofline: marks by class, their intervals, one label a class.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/position.h"
#include "cli/report/log_scale.h"
#include "cli/report/svg_label.h"

namespace gputrace::report {

struct PhaseMark {
  std::size_t number = 0;  ///< as in the table of phases, from 1
  analysis::Bottleneck bottleneck = analysis::Bottleneck::kUnknown;
  double seconds = 0;
  analysis::Position position;
};

/// Whether a phase has a place: a class with a mark, and an end of its intensity.
[[nodiscard]] bool is_drawn(const PhaseMark& mark);
/// Its rate is not known, so that only a strip below the plot can show its intensity.
[[nodiscard]] bool is_in_strip(const PhaseMark& mark);

struct PlotPlace {
  double intensity = 0;  ///< FLOP/B
  double gflops = 0;     ///< 0 = in the strip
};
/// Where the mark stands: in the middle of both ends, or at the only one.
[[nodiscard]] PlotPlace place_of(const PhaseMark& mark);

/// The plot in which marks stand, in pixels of the drawing.
struct PhaseFrame {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double strip_y = 0;  ///< of marks without a rate
  bool narrow = false;
  LogScale x;
  LogScale y;
};

/// SVG of marks and bars; their labels follow from label_phases(), after those of the roof.
[[nodiscard]] std::string draw_phases(const std::vector<PhaseMark>& marks, const PhaseFrame& frame,
                                      LabelPlacer& labels);
[[nodiscard]] std::string label_phases(const std::vector<PhaseMark>& marks, const PhaseFrame& frame,
                                       LabelPlacer& labels);

}  // namespace gputrace::report
