// A test of a bench drawn as SVG.
#pragma once

#include <string>
#include <string_view>

#include "cli/report/bench_plot.h"

namespace gputrace::report {

struct BenchSvgOptions {
  /// A part of an HTML page, which has a heading and the style sheet (kBenchPlotStyle) already.
  bool in_page = false;
  std::string device;      ///< below the title; of a drawing of its own
  bool simulated = false;  ///< said in a drawing of its own
};

/// A whole SVG document, 440 CSS pixels wide: legible as it is on a phone and twice side by side on
/// a desk. Light, dark (prefers-color-scheme) and print (always light) from one style sheet, with
/// title and description. Empty when there is nothing to draw.
[[nodiscard]] std::string render_bench_svg(const BenchPlot& plot, const BenchSvgOptions& options);

/// The same for all drawings of benches; behind report.css or alone.
[[nodiscard]] std::string_view bench_plot_style();

}  // namespace gputrace::report
