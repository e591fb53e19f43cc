#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "cli/report/class_style.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kLabelWidth = kBandLabelWidth - 3;

std::string_view cell_glyph(const Page& page, const BandCell& cell) {
  switch (cell.state) {
    case BandState::kNoData:
      return " ";
    case BandState::kUnknown:
      return "?";
    case BandState::kAsleep:
      return "z";
    case BandState::kMeasured:
      break;
  }
  const auto& ramp = page.glyphs().ramp;
  return cell.busy <= 0     ? ramp[0]
         : cell.busy < 0.25 ? ramp[1]
         : cell.busy < 0.50 ? ramp[2]
         : cell.busy < 0.75 ? ramp[3]
                            : ramp[4];
}

bool has_state(const Band& band, BandState state) {
  return std::any_of(band.rows.begin(), band.rows.end(), [state](const BandRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [state](const BandCell& cell) { return cell.state == state; });
  });
}

struct Columns {
  double from_s = 0;
  double end_s = 0;
  double column_s = 0;
  std::size_t count = 0;
};

/// Those of the units' rows; without rows as many as fit.
Columns columns_of(const Page& page, const Report& report) {
  Columns columns;
  for (const BandRow& row : report.band.rows) {
    columns.count = std::max(columns.count, row.cells.size());
  }
  columns.from_s = report.selection ? report.selection->from_s : 0;
  columns.column_s = report.band.column_s;
  const double phases_end = report.phases.empty() ? columns.from_s : report.phases.back().end_s;
  double end =
      report.selection ? report.selection->to_s : report.session.duration_s.value_or(phases_end);
  if (columns.count == 0 && !report.phases.empty() && end > columns.from_s) {
    columns.count = page.width() - kBandLabelWidth;
    columns.column_s = (end - columns.from_s) / static_cast<double>(columns.count);
  }
  // The last column may reach beyond what is shown.
  const double columns_end = columns.from_s + columns.column_s * static_cast<double>(columns.count);
  const bool known = report.selection || report.session.duration_s || !report.phases.empty();
  columns.end_s = known ? std::min(columns_end, end) : columns_end;
  return columns;
}

/// The class that has most of each column; a space where there is no phase.
std::string letters(const Page& page, const Report& report, const Columns& columns) {
  std::string text;
  std::size_t first = 0;  // phases that end before the column are done with
  for (std::size_t column = 0; column < columns.count; ++column) {
    const double begin = columns.from_s + columns.column_s * static_cast<double>(column);
    const double end = begin + columns.column_s;
    std::array<double, kAllClasses.size()> seconds{};
    while (first < report.phases.size() && report.phases[first].end_s <= begin) {
      ++first;
    }
    for (std::size_t i = first; i < report.phases.size() && report.phases[i].start_s < end; ++i) {
      const Phase& phase = report.phases[i];
      const auto* it = std::find(kAllClasses.begin(), kAllClasses.end(), phase.bottleneck);
      seconds[static_cast<std::size_t>(it - kAllClasses.begin()) % seconds.size()] +=
          std::min(end, phase.end_s) - std::max(begin, phase.start_s);
    }
    const auto* most = std::max_element(seconds.begin(), seconds.end());
    text += *most > 0 ? page.letter(kAllClasses[static_cast<std::size_t>(most - seconds.begin())])
                      : std::string(" ");
  }
  return text;
}

}  // namespace

void append_band(Page& page, const Report& report) {
  const Band& band = report.band;
  const Columns columns = columns_of(page, report);
  if (columns.count == 0) {
    return;
  }
  const auto& ramp = page.glyphs().ramp;
  page.line();
  page.paragraph(
      band.rows.empty()
          ? fmt::format("When  1 letter = {}", format_duration(columns.column_s))
          : fmt::format("When  1 character = {}; {} idle {} <25 {} <50 {} <75 {} 75+ %{}{}",
                        format_duration(columns.column_s), ramp[0], ramp[1], ramp[2], ramp[3],
                        ramp[4], has_state(band, BandState::kUnknown) ? " ? unknown" : "",
                        has_state(band, BandState::kAsleep) ? " z asleep" : ""),
      6, Ink::kBold);
  if (!report.phases.empty()) {
    page.line(
        fmt::format("  {:<{}} {}", "limited by", kLabelWidth, letters(page, report, columns)));
  }
  for (const BandRow& row : band.rows) {
    std::string cells;
    for (const BandCell& cell : row.cells) {
      cells += cell_glyph(page, cell);
    }
    page.line(fmt::format("  {:<{}} {}", clip(page.safe(short_name(row.label)), kLabelWidth),
                          kLabelWidth, page.paint(Ink::kBar, cells)));
  }
  const std::string begin = format_duration(columns.from_s);
  const std::string end = format_duration(columns.end_s);
  if (columns.count > begin.size() + end.size()) {
    page.line(
        fmt::format("  {:<{}} {}{:>{}}", "", kLabelWidth, begin, end, columns.count - begin.size()),
        Ink::kDim);
  }
}

}  // namespace gputrace::report
