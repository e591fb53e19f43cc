#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli/report/class_style.h"
#include "cli/report/log_scale.h"
#include "cli/report/roofline_plot.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kTickWidth = 8;   ///< columns left of the axis
constexpr std::size_t kUnitWidth = 15;  ///< "1024  FLOP/byte" at the end
constexpr std::size_t kRows = 14;
constexpr std::size_t kStripRows = 3;
constexpr std::size_t kMostTicks = 8;
/// A line of text holds two half lines, upper and lower.
constexpr int kHalves = 2;

/// Of code page 437 only: consoles and common fonts lack finer ones.
struct PlotGlyphs {
  std::string_view upper = "▀";
  std::string_view lower = "▄";
  std::string_view axis = "│";
  std::string_view corner = "└";
  std::string_view floor = "─";
};
constexpr PlotGlyphs kAsciiGlyphs{"'", ".", "|", "+", "-"};

/// One letter, or one with a sign that says to which side a one-sided position is open.
struct Letter {
  const PhaseMark* phase = nullptr;
  double intensity = 0;
  std::optional<double> gflops;
  bool open_below = false;
  bool open_above = false;
};

std::optional<double> middle_of(const analysis::Range& range) {
  const bool known = range.lower && range.upper && *range.lower > 0 && *range.upper > 0;
  return known ? std::optional(std::sqrt(*range.lower * *range.upper)) : std::nullopt;
}

/// Absent where nothing is known of the intensity.
std::optional<Letter> letter_of(const PhaseMark& mark) {
  const analysis::Range& range = mark.position.intensity;
  Letter letter{.phase = &mark, .gflops = std::nullopt};
  if (const std::optional<double> middle = middle_of(range)) {
    letter.intensity = *middle;
    if (mark.position.gflops) {
      letter.gflops = middle_of(*mark.position.gflops);
    }
    if (!letter.gflops && mark.position.gbps) {
      if (const std::optional<double> gbps = middle_of(*mark.position.gbps)) {
        letter.gflops = *gbps * *middle;
      }
    }
    return letter;
  }
  if (range.upper && *range.upper > 0) {
    letter.intensity = *range.upper;
    letter.open_below = true;
    return letter;
  }
  if (range.lower && *range.lower > 0) {
    letter.intensity = *range.lower;
    letter.open_above = true;
    return letter;
  }
  return std::nullopt;
}

/// Longest phases first: they get the better places.
std::vector<Letter> letters_of(const RooflinePlot& plot) {
  std::vector<Letter> letters;
  for (const PhaseMark& mark : plot.phases) {
    if (const std::optional<Letter> letter = letter_of(mark)) {
      letters.push_back(*letter);
    }
  }
  std::stable_sort(letters.begin(), letters.end(), [](const Letter& a, const Letter& b) {
    return a.phase->seconds > b.phase->seconds;
  });
  return letters;
}

/// The ceilings' range, widened so that letters lie inside.
RooflineRange range_with(analysis::Roofline roofline, const std::vector<Letter>& letters) {
  for (const Letter& letter : letters) {
    if (letter.gflops) {
      roofline.points.push_back({.label = "",
                                 .intensity = letter.intensity,
                                 .gflops = *letter.gflops,
                                 .lower = std::nullopt,
                                 .upper = std::nullopt});
    }
  }
  return range_of(roofline);
}

class Plot {
 public:
  Plot(Page& page, const RooflinePlot& plot, bool ascii)
      : page_(page),
        roofline_(plot.roofline),
        letters_(letters_of(plot)),
        glyphs_(ascii ? kAsciiGlyphs : PlotGlyphs{}),
        columns_(page.width() - kTickWidth - 1 - kUnitWidth),
        range_(range_with(plot.roofline, letters_)),
        x_{range_.intensity_low, range_.intensity_high, static_cast<double>(columns_ - 1)},
        y_{range_.gflops_low, range_.gflops_high, static_cast<double>(kRows * kHalves)},
        cells_(kRows, std::vector<std::string>(columns_, " ")) {}

  void append() {
    draw_roof();
    draw_points();
    draw_letters();
    const std::vector<std::string> ticks = row_ticks();
    for (std::size_t row = 0; row < kRows; ++row) {
      std::string text = fmt::format("{:>{}}{}", ticks[row], kTickWidth, glyphs_.axis);
      for (const std::string& cell : cells_[row]) {
        text += cell;
      }
      text.erase(text.find_last_not_of(' ') + 1);
      page_.line(text);
    }
    std::string floor = fmt::format("{:>{}}{}", "GFLOPS ", kTickWidth, glyphs_.corner);
    for (std::size_t i = 0; i < columns_; ++i) {
      floor += glyphs_.floor;
    }
    page_.line(floor);
    for (const std::vector<std::string>& row : strip_) {
      append_strip(row);
    }
    page_.line(intensity_ticks());
  }

 private:
  /// Half lines from the bottom; absent outside of the plot.
  [[nodiscard]] std::optional<std::size_t> half_of(double gflops) const {
    const double half = std::floor(y_.at(gflops));
    if (!(half >= 0) || half >= static_cast<double>(kRows * kHalves)) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(half);
  }
  [[nodiscard]] static std::size_t row_of(std::size_t half) { return kRows - 1 - half / kHalves; }

  void draw_roof() {
    const bool has_peak = !roofline_.compute.empty() && roofline_.compute.front().unit == "GFLOPS";
    for (std::size_t column = 0; column < columns_; ++column) {
      const double intensity = x_.value_at(static_cast<double>(column));
      double gflops = has_peak ? roofline_.compute.front().value : range_.gflops_high;
      if (!roofline_.bandwidth.empty()) {
        gflops = std::min(gflops, roofline_.bandwidth.front().value * intensity);
      }
      if (const auto half = half_of(gflops)) {
        cells_[row_of(*half)][column] = *half % kHalves == 1 ? glyphs_.upper : glyphs_.lower;
      }
    }
  }

  void draw_points() {
    for (const analysis::RooflinePoint& point : roofline_.points) {
      const double column = std::round(x_.at(point.intensity));
      const auto half = half_of(point.gflops);
      if (half && column >= 0 && column < static_cast<double>(columns_)) {
        cells_[row_of(*half)][static_cast<std::size_t>(column)] = point.suspect ? "?" : "o";
      }
    }
  }

  void draw_letters() {
    taken_.assign(kRows, std::vector<char>(columns_, ' '));
    for (const Letter& letter : letters_) {
      const double place =
          std::clamp(std::round(x_.at(letter.intensity)), 0.0, static_cast<double>(columns_ - 1));
      const auto column = static_cast<std::size_t>(place);
      const auto half = letter.gflops ? half_of(*letter.gflops) : std::nullopt;
      if (half) {
        put(cells_[row_of(*half)], taken_[row_of(*half)], column, letter);
      } else {
        put_in_strip(column, letter);
      }
    }
  }

  [[nodiscard]] static char letter_char(const Letter& letter) {
    return class_style(letter.phase->bottleneck).text_letter;
  }

  /// At the column, or beside it where another class stands there.
  void put(std::vector<std::string>& cells, std::vector<char>& taken, std::size_t column,
           const Letter& letter) {
    for (const std::size_t candidate : {column, column + 1, column - 1, column + 2}) {
      if (candidate >= columns_ ||
          (taken[candidate] != ' ' && taken[candidate] != letter_char(letter))) {
        continue;
      }
      taken[candidate] = letter_char(letter);
      cells[candidate] = page_.letter(letter.phase->bottleneck);
      return;
    }
  }

  /// The first row below the plot with room for the letter and its sign.
  void put_in_strip(std::size_t column, const Letter& letter) {
    const std::size_t begin =
        letter.open_below ? column - std::min<std::size_t>(column, 1) : column;
    const std::size_t count = letter.open_below || letter.open_above ? 2 : 1;
    const std::size_t first = std::min(begin, columns_ - count);
    const std::string name = page_.letter(letter.phase->bottleneck);
    const std::vector<std::string> wanted = letter.open_below ? std::vector<std::string>{"<", name}
                                            : letter.open_above
                                                ? std::vector<std::string>{name, ">"}
                                                : std::vector<std::string>{name};
    for (std::size_t i = 0; i < kStripRows; ++i) {
      if (strip_.size() == i) {
        strip_.emplace_back(columns_, " ");
      }
      std::vector<std::string>& row = strip_[i];
      const auto at = row.begin() + static_cast<std::ptrdiff_t>(first);
      const bool same = std::equal(wanted.begin(), wanted.end(), at);
      const bool free = std::all_of(at, at + static_cast<std::ptrdiff_t>(count),
                                    [](const std::string& cell) { return cell == " "; });
      if (same || free) {
        std::copy(wanted.begin(), wanted.end(), at);
        return;
      }
    }
  }

  void append_strip(const std::vector<std::string>& row) {
    std::string text = fmt::format("{:>{}} ", "phases", kTickWidth);
    for (const std::string& cell : row) {
      text += cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    page_.line(text);
  }

  [[nodiscard]] std::vector<std::string> row_ticks() const {
    std::vector<std::string> ticks(kRows);
    for (const double tick : decade_ticks(y_, kRows)) {
      if (const auto half = half_of(tick)) {
        ticks[row_of(*half)] = format_three_digits(tick) + " ";
      }
    }
    return ticks;
  }

  [[nodiscard]] std::string intensity_ticks() const {
    std::string text(kTickWidth, ' ');
    for (const double tick : octave_ticks(x_, kMostTicks)) {
      const auto column = static_cast<std::size_t>(std::lround(x_.at(tick))) + kTickWidth + 1;
      if (column > text.size() || text.size() == kTickWidth) {
        text.resize(std::max(column, text.size()), ' ');
        text += format_three_digits(tick);
      }
    }
    return text + "  FLOP/byte";
  }

  Page& page_;
  const analysis::Roofline& roofline_;
  std::vector<Letter> letters_;
  PlotGlyphs glyphs_;
  std::size_t columns_;
  RooflineRange range_;
  LogScale x_;
  LogScale y_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<std::vector<char>> taken_;              ///< letters in `cells_`
  std::vector<std::vector<std::string>> strip_ = {};  ///< letters below the plot
};

std::string heading(const RooflinePlot& plot) {
  const analysis::Roofline& roofline = plot.roofline;
  std::string text = plot.simulated ? "Roofline  SIMULATED: " : "Roofline  measured: ";
  if (!roofline.bandwidth.empty()) {
    text += fmt::format("{} GB/s ({})", format_three_digits(roofline.bandwidth.front().value),
                        roofline.bandwidth.front().name);
  }
  if (!roofline.compute.empty()) {
    text += fmt::format("{}{} {} ({})", roofline.bandwidth.empty() ? "" : ", ",
                        format_three_digits(roofline.compute.front().value),
                        roofline.compute.front().unit, roofline.compute.front().name);
  }
  if (!roofline.ridges.empty()) {
    text +=
        fmt::format("; ridge {} FLOP/byte", format_three_digits(roofline.ridges.front().intensity));
  }
  return plot.phases.empty() ? text : text + "; letters = phases";
}

void append_ridges(Page& page, const analysis::Roofline& roofline) {
  if (roofline.ridges.size() < 2) {
    return;  // the heading has it
  }
  std::size_t width = 0;
  std::vector<std::string> names;
  for (const analysis::Ridge& ridge : roofline.ridges) {
    names.push_back(page.safe(roofline.compute[ridge.compute].name + " over " +
                              roofline.bandwidth[ridge.bandwidth].name));
    width = std::max(width, names.back().size());
  }
  page.line();
  page.line("Ridges, FLOP/byte", Ink::kBold);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const analysis::Ridge& ridge = roofline.ridges[i];
    page.line(fmt::format(
        "  {:<{}}  {:>7}{}", names[i], width, format_three_digits(ridge.intensity),
        ridge.lower && ridge.upper ? "  " + format_spread(*ridge.lower, *ridge.upper) : ""));
  }
}

}  // namespace

std::string render_roofline_text(const RooflinePlot& plot, const TextOptions& options) {
  Page page(options);
  const bool has_flops =
      std::any_of(plot.roofline.compute.begin(), plot.roofline.compute.end(),
                  [](const analysis::Ceiling& ceiling) { return ceiling.unit == "GFLOPS"; });
  if (!has_flops && plot.roofline.bandwidth.empty()) {
    page.line("Roofline  not drawn: no ceiling was measured");
    return page.take();
  }
  page.paragraph(page.safe(heading(plot)), 10, Ink::kBold);
  Plot(page, plot, options.ascii).append();
  const auto& points = plot.roofline.points;
  if (!points.empty()) {
    const bool suspects =
        std::any_of(points.begin(), points.end(), [](const auto& point) { return point.suspect; });
    page.line(suspects ? "  o measured  ? suspect: a proof failed" : "  o measured");
  }
  for (const std::string& warning : plot.roofline.warnings) {
    page.paragraph(page.safe("  ! " + warning), 4, Ink::kCaution);
  }
  append_ridges(page, plot.roofline);
  return page.take();
}

}  // namespace gputrace::report
