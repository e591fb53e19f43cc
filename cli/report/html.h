// The report as one self-contained HTML page: no network, no second file. Without scripts all of it
// is there but the time line of units and sensors.
#pragma once

#include <string>

#include "cli/report/report.h"

namespace gputrace::report {

struct HtmlOptions {
  /// The report's JSON, embedded for whoever wants exact figures; empty = none.
  std::string json;
};

/// Whatever strings the report holds, none of them leaves its place in the page. Width, colours
/// (light, dark, print) and scripts are the browser's business: the same report gives the same
/// page.
[[nodiscard]] std::string render_html(const Report& report, const HtmlOptions& options);

}  // namespace gputrace::report
