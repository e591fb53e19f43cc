#include "cli/report/bench_text_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/bench_text.h"

namespace gputrace::report {
namespace {

constexpr int kColumns = 60;
constexpr int kRows = 10;
constexpr std::size_t kLabelWidth = 8;
/// SGR (ECMA-48), of the 16 colours, legible on dark and light grounds.
constexpr std::array<int, 6> kColours{94, 33, 36, 95, 92, 91};

char letter_of(std::size_t series) {
  return static_cast<char>('a' + series);
}

/// Dots, 2 by 4 a cell of braille and one a cell in ASCII, each of the series that came last.
class Canvas {
 public:
  explicit Canvas(bool ascii)
      : ascii_(ascii),
        across_(ascii ? 1 : 2),
        down_(ascii ? 1 : 4),
        dots_(static_cast<std::size_t>(kColumns * kRows)),
        owners_(dots_.size(), kNobody) {}

  [[nodiscard]] int width() const { return kColumns * across_; }
  [[nodiscard]] int height() const { return kRows * down_; }

  void dot(int x, int y, std::size_t series) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) {
      return;
    }
    // Unicode 15, braille patterns: dots 1 to 3 and 7 left, 4 to 6 and 8 right.
    constexpr std::array<std::array<unsigned, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    const std::size_t cell = cell_at(y / down_, x / across_);
    dots_[cell] |=
        kBits.at(static_cast<std::size_t>(y % down_)).at(static_cast<std::size_t>(x % across_));
    owners_[cell] = series;
  }

  void line(int x0, int y0, int x1, int y1, std::size_t series) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int step = 0; step <= steps; ++step) {
      const double part = static_cast<double>(step) / steps;
      dot(static_cast<int>(std::lround(x0 + part * (x1 - x0))),
          static_cast<int>(std::lround(y0 + part * (y1 - y0))), series);
    }
  }

  [[nodiscard]] std::string row(const Page& page, int row, bool trim) const {
    std::string text;
    int end = kColumns;
    while (trim && end > 0 && owners_[cell_at(row, end - 1)] == kNobody) {
      --end;
    }
    for (int column = 0; column < end; ++column) {
      const std::size_t cell = cell_at(row, column);
      if (owners_[cell] == kNobody) {
        text += ' ';
        continue;
      }
      text += page.paint(kColours.at(owners_[cell] % kColours.size()),
                         ascii_ ? std::string(1, letter_of(owners_[cell])) : braille(dots_[cell]));
    }
    return text;
  }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  static std::size_t cell_at(int row, int column) {
    return static_cast<std::size_t>(row) * kColumns + static_cast<std::size_t>(column);
  }

  /// UTF-8 of U+2800 and the bits.
  static std::string braille(unsigned bits) {
    return {static_cast<char>(0xE2), static_cast<char>(0xA0U | (bits >> 6U)),
            static_cast<char>(0x80U | (bits & 0x3FU))};
  }

  bool ascii_;
  int across_;
  int down_;
  std::vector<unsigned> dots_;
  std::vector<std::size_t> owners_;
};

int place(double value, const PlotRange& range, bool logarithmic, int length) {
  return static_cast<int>(std::lround(along(value, range, logarithmic) * (length - 1)));
}

/// Puts `text` with its middle at `at`, unless it would touch what stands there.
bool put(std::string& line, std::string_view text, int at) {
  const int first = at - static_cast<int>(text.size()) / 2;
  const auto begin = static_cast<std::size_t>(
      std::clamp(first, 0, static_cast<int>(line.size() - std::min(line.size(), text.size()))));
  const std::size_t from = begin == 0 ? 0 : begin - 1;
  const std::size_t to = std::min(begin + text.size() + 1, line.size());
  if (line.find_first_not_of(' ', from) < to) {
    return false;
  }
  line.replace(begin, text.size(), text);
  return true;
}

std::vector<double> ticks_of(const BenchPlot& plot, const PlotRange& range) {
  std::vector<double> ticks;
  if (plot.log_x) {
    const int first = static_cast<int>(std::ceil(std::log2(range.low)));
    const int last = static_cast<int>(std::floor(std::log2(range.high)));
    const int step = plot.x_unit == "B" && last - first > 4 ? 2 : std::max((last - first) / 6, 1);
    for (int power = first; power <= last; power += step) {
      ticks.push_back(std::exp2(power));
    }
    return ticks;
  }
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      ticks.push_back(point.x);
    }
  }
  std::ranges::sort(ticks);
  ticks.erase(std::ranges::unique(ticks).begin(), ticks.end());
  return ticks;
}

/// The axis with a mark at each inferred level, and the numbers of the levels below.
void append_axis(Page& page, const BenchPlot& plot, const PlotRange& range, bool ascii) {
  std::vector<std::string> axis(static_cast<std::size_t>(kColumns), ascii ? "-" : "─");
  std::string numbers(static_cast<std::size_t>(kColumns), ' ');
  for (std::size_t level = 0; level < plot.levels.size(); ++level) {
    const int at = place(plot.levels[level].value, range, plot.log_x, kColumns);
    if (at >= 0 && at < kColumns) {
      axis[static_cast<std::size_t>(at)] = ascii ? "+" : "┴";
      put(numbers, fmt::format("{}", level + 1), at);
    }
  }
  page.line(fmt::format("{:>{}} {}{}", clip(page.safe(plot.y_unit), kLabelWidth), kLabelWidth,
                        ascii ? "+" : "└", fmt::format("{}", fmt::join(axis, ""))));
  const std::string indent(kLabelWidth + 2, ' ');
  std::string labels(static_cast<std::size_t>(kColumns), ' ');
  for (const double tick : ticks_of(plot, range)) {
    put(labels, axis_text(plot.x_unit, tick), place(tick, range, plot.log_x, kColumns));
  }
  const auto add = [&](std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) {
      page.line(indent + text, Ink::kDim);
    }
  };
  add(numbers);
  add(labels);
  std::string names;
  for (std::size_t level = 0; level < plot.levels.size(); ++level) {
    const PlotLevel& one = plot.levels[level];
    names += fmt::format("{}{} {} {}", level == 0 ? "" : ", ", level + 1, one.name,
                         format_bytes(one.value));
  }
  if (!names.empty()) {
    page.paragraph(indent + page.safe(names), indent.size(), Ink::kDim);
  }
}

void append_key(Page& page, const BenchPlot& plot) {
  if (plot.series.size() < 2) {
    return;
  }
  const std::string indent(kLabelWidth + 2, ' ');
  std::string line = indent;
  std::size_t width = line.size();
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const std::string name = page.safe(plot.series[i].name);
    const std::size_t needed = display_width(name) + 4;
    if (width + needed > page.text_width() && width > indent.size()) {
      line.erase(line.find_last_not_of(' ') + 1);
      page.line(line);
      line = indent;
      width = line.size();
    }
    line += page.paint(kColours.at(i % kColours.size()), std::string(1, letter_of(i)));
    line += " " + name + (i + 1 < plot.series.size() ? "  " : "");
    width += needed;
  }
  page.line(line);
  if (plot.left_out > 0) {
    page.line(fmt::format("{}{} more in the table alone", indent, plot.left_out), Ink::kDim);
  }
}

/// A level line says nothing that its value does not.
bool is_flat(const BenchPlot& plot) {
  const double y = plot.series.front().points.front().y;
  return std::ranges::all_of(plot.series, [y](const PlotSeries& series) {
    return std::ranges::all_of(series.points, [y](const PlotPoint& point) { return point.y == y; });
  });
}

}  // namespace

void append_text_plot(Page& page, const BenchPlot& plot) {
  const bool ascii = page.ascii();
  if (plot.kind != PlotKind::kCurves || is_flat(plot)) {
    return;
  }
  const PlotRange xs = x_range(plot);
  const PlotRange ys = y_range(plot);
  Canvas canvas(ascii);
  std::array<std::string, kRows> ends;
  // The first series is drawn last: it is what the test is about.
  for (std::size_t i = plot.series.size(); i-- > 0;) {
    std::optional<std::pair<int, int>> before;
    for (const PlotPoint& point : plot.series[i].points) {
      const int x = place(point.x, xs, plot.log_x, canvas.width());
      const int y = canvas.height() - 1 - place(point.y, ys, plot.log_y, canvas.height());
      const auto [from_x, from_y] = before.value_or(std::pair(x, y));
      canvas.line(from_x, from_y, x, y, i);
      before = std::pair(x, y);
    }
    const int row = canvas.height() / kRows > 0 && before
                        ? std::clamp(before->second / (canvas.height() / kRows), 0, kRows - 1)
                        : 0;
    ends.at(static_cast<std::size_t>(row)).insert(0, 1, letter_of(i));
  }
  for (int row = 0; row < kRows; ++row) {
    // The value at the middle of the row, every third one.
    const double share = 1 - (row + 0.5) / kRows;
    const double value = plot.log_y ? ys.low * std::pow(ys.high / ys.low, share)
                                    : ys.low + share * (ys.high - ys.low);
    std::string letters;
    if (plot.series.size() > 1) {
      for (const char letter : ends.at(static_cast<std::size_t>(row))) {
        letters += page.paint(kColours.at(static_cast<std::size_t>(letter - 'a') % kColours.size()),
                              std::string(1, letter));
      }
    }
    page.line(fmt::format("{:>{}} {}{}{}{}", row % 3 == 0 ? format_figure(value) : "", kLabelWidth,
                          ascii ? "|" : "│", canvas.row(page, row, letters.empty()),
                          letters.empty() ? "" : " ", letters));
  }
  append_axis(page, plot, xs, ascii);
  append_key(page, plot);
}

}  // namespace gputrace::report
