// The roofline drawn: as SVG for documents and browsers, as characters for a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/position.h"
#include "cli/analysis/roofline.h"
#include "cli/report/render_text.h"

namespace gputrace::report {

/// A phase with a position.
struct PhaseMark {
  std::size_t number = 0;  ///< from 1
  analysis::Bottleneck bottleneck = analysis::Bottleneck::kUnknown;
  double seconds = 0;
  analysis::Position position;
};

struct RooflinePlot {
  std::string title;  ///< "AMD Radeon 780M (radv, Mesa 24.2.8)"
  bool simulated = false;
  analysis::Roofline roofline;
  std::vector<PhaseMark> phases;
};

struct SvgOptions {
  double width = 760;  ///< CSS pixels; below 480 the labels are shortened
  double height = 460;
};

/// A whole SVG document: light, dark (prefers-color-scheme) and print (always light) from one
/// style sheet, with title and description. Empty when there is neither a compute nor a bandwidth
/// ceiling.
[[nodiscard]] std::string render_roofline_svg(const RooflinePlot& plot, const SvgOptions& options);

/// Heading, plot, list of ridges. Needs kMinWidth columns. The same without ceilings: one line that
/// says so.
[[nodiscard]] std::string render_roofline_text(const RooflinePlot& plot,
                                               const TextOptions& options);

}  // namespace gputrace::report
