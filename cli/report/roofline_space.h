// What a drawn roofline shows and where: ranges, frame and scales, lines in pixels. No drawing.
#pragma once

#include <utility>
#include <vector>

#include "cli/analysis/roofline.h"
#include "cli/report/log_scale.h"
#include "cli/report/roofline_phases.h"
#include "cli/report/roofline_plot.h"

namespace gputrace::report {

/// Needs a compute ceiling in GFLOPS or a bandwidth ceiling, as range_of().
class RooflineSpace {
 public:
  /// `width` and `height` in CSS pixels; `in_page` leaves out the room of the heading.
  RooflineSpace(const RooflinePlot& plot, double width, double height, bool in_page);

  /// Pixels of FLOP/B and of GFLOPS.
  [[nodiscard]] double px(double intensity) const { return frame.left + frame.x.at(intensity); }
  [[nodiscard]] double py(double gflops) const { return frame.bottom - frame.y.at(gflops); }

  /// The ceilings that make the roof; null where none is known.
  [[nodiscard]] const analysis::Ceiling* main_compute() const;
  [[nodiscard]] const analysis::Ceiling* main_bandwidth() const;
  /// The top of the frame where no ceiling is in GFLOPS.
  [[nodiscard]] double highest_gflops() const;
  /// 0 where no bandwidth is known.
  [[nodiscard]] double highest_gbps() const;

  /// Where a bandwidth's diagonal enters and leaves the frame below `roof` GFLOPS.
  struct Stretch {
    double from;  ///< FLOP/B
    double to;
  };
  [[nodiscard]] Stretch diagonal(double gbps, double roof) const;
  /// FLOP/B from which `gflops` can be reached with `gbps`, within the frame.
  [[nodiscard]] double start_of(double gflops, double gbps) const;
  /// Corners in pixels: up the diagonal and along the flat part, in the direction of rising
  /// intensity. `gflops` may be infinite (diagonal only), `gbps` 0 (flat part only).
  [[nodiscard]] std::vector<std::pair<double, double>> roof_line(double gflops, double gbps) const;

  /// Without the bandwidths that nobody could tell apart in the drawing; the text lists them.
  analysis::Roofline drawn;
  RooflineRange range;
  bool has_strip;  ///< for phases without a rate
  PhaseFrame frame;
};

}  // namespace gputrace::report
