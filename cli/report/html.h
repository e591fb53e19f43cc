// The report as one self-contained HTML page: no network, no second file. Without scripts all of it
// is there but the time line of units and sensors.
#pragma once

#include <string>

#include "cli/report/report.h"

namespace gputrace::report {

struct HtmlOptions {
  std::string version;  ///< of gputrace, for the page's last line; may be empty
};

/// Whatever strings the report holds, none of them leaves its place in the page. Width, colours
/// (light, dark, print) and scripts are the browser's business: the same report gives the same
/// page.
[[nodiscard]] std::string render_html(const Report& report, const HtmlOptions& options);

/// Whether this build has the library that draws the time line (cli/report/assets). Without it
/// pages have all but that, and say so.
[[nodiscard]] bool html_has_plots();

}  // namespace gputrace::report
