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
#include "cli/report/roofline_phases.h"

namespace gputrace::report {

struct RooflinePlot {
  std::string title;  ///< "AMD Radeon 780M (radv, Mesa 24.2.8)"
  bool simulated = false;
  analysis::Roofline roofline;
  std::vector<PhaseMark> phases = {};
};

struct SvgOptions {
  double width = 760;  ///< CSS pixels; below 480 the labels are shortened
  double height = 460;
  /// A part of an HTML page, which has a heading and the style sheet (kRooflineStyle) already.
  bool in_page = false;
  std::string id = "roofline";  ///< begins the ids of its elements, unique in a page
};

/// A whole SVG document: light, dark (prefers-color-scheme) and print (always light) from one
/// style sheet, with title and description. Empty when there is neither a compute nor a bandwidth
/// ceiling.
[[nodiscard]] std::string render_roofline_svg(const RooflinePlot& plot, const SvgOptions& options);

/// Heading, plot, list of ridges where there are several. Needs kMinWidth columns. Phases are
/// letters at the middle of their interval; those with one end only ("<B", "B>") or without a rate
/// stand below the plot. Without ceilings: one line that says so.
[[nodiscard]] std::string render_roofline_text(const RooflinePlot& plot,
                                               const TextOptions& options);

}  // namespace gputrace::report
