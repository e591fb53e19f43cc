#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/class_summary.h"
#include "cli/report/class_words.h"
#include "cli/report/text_format.h"
#include "cli/report/wording.h"
#include "cli/report/wording_limits.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kNameWidth = 9;  // "bandwidth"
constexpr std::size_t kSureWidth = 7;  // "a guess"
constexpr std::size_t kMostPhases = 10;
/// Scenes are shown on request; so many are still read.
constexpr std::size_t kMostScenes = 40;
/// Evidence gets a line of its own where it would have less room.
constexpr std::size_t kLeastEvidence = 24;

std::string_view sure_text(analysis::Bottleneck bottleneck, double confidence) {
  const bool told = bottleneck != analysis::Bottleneck::kUnknown && confidence >= kGuess;
  return told ? analysis::certainty_word(confidence) : "no";
}

void append_classes(Page& page, const Answer& answer, bool with_evidence) {
  page.line();
  const std::string head =
      fmt::format("    {:<{}}{:>8}{:>7}{:>7}  {:<{}}", "limited by", kNameWidth + 1, "time",
                  "share", "phases", "sure", kSureWidth);
  const std::size_t begin = head.size() + 2;
  const std::size_t room = page.text_width() - std::min(page.text_width(), begin);
  const bool beside = with_evidence && room >= kLeastEvidence;
  const bool any = std::any_of(answer.classes.begin(), answer.classes.end(),
                               [](const ClassTime& time) { return !time.evidence.empty(); });
  std::string title = beside && any ? head + "  evidence (mean busy)" : head;
  title.erase(title.find_last_not_of(' ') + 1);
  page.line(title, Ink::kBold);
  for (const ClassTime& time : answer.classes) {
    std::string line =
        fmt::format("{:<{}}{:>8}{:>7}{:>7}  {:<{}}", analysis::to_string(time.bottleneck),
                    kNameWidth + 1, format_duration(time.seconds), format_percent(time.share),
                    time.phases, sure_text(time.bottleneck, time.confidence), kSureWidth);
    std::vector<std::string> evidence;
    if (with_evidence && !time.evidence.empty()) {
      evidence = wrap(page.words(time.evidence), beside ? room : page.text_width() - 6, 0);
    }
    if (beside && !evidence.empty()) {
      line += "  " + evidence.front();
    }
    line.erase(line.find_last_not_of(' ') + 1);
    page.line(fmt::format("  {} {}", page.letter(time.bottleneck), line));
    for (std::size_t i = beside ? 1 : 0; i < evidence.size(); ++i) {
      page.line(std::string(beside ? begin : 6, ' ') + evidence[i]);
    }
  }
}

/// Units that tell classes apart, the most telling first: as many as fit.
constexpr std::array kTelling{UnitNames{"EA", ""},  UnitNames{"SPI", ""},   UnitNames{"TA", ""},
                              UnitNames{"SC", ""},  UnitNames{"GE", "VGT"}, UnitNames{"GL2CC", ""},
                              UnitNames{"TCP", ""}, UnitNames{"CB", ""}};

/// One row of the table; scenes are rows too.
struct Row {
  const Phase* phase;
  std::string number;
  bool scene = false;
};

class PhaseTable {
 public:
  PhaseTable(Page& page, const Report& report) : page_(page), report_(report) {
    const std::vector<std::size_t> shown = longest_phases(report, kMostPhases);
    shown_ = shown.size();
    for (const std::size_t index : shown) {
      const Phase& phase = report.phases[index];
      rows_.push_back({&phase, std::to_string(index + 1), false});
      // One scene alone is the phase.
      const std::size_t all = phase.scenes.size() > 1 ? phase.scenes.size() : 0;
      const std::size_t scenes = std::min(all, kMostScenes);
      for (std::size_t i = 0; i < scenes; ++i) {
        rows_.push_back({&phase.scenes[i], fmt::format("{}.{}", index + 1, i + 1), true});
      }
      left_out_ += all - scenes;
    }
    const double end = report.phases.back().end_s;
    fine_ = end < kFineClockS;
    time_width_ = format_clock(end, fine_).size();
    for (const Row& row : rows_) {
      number_width_ = std::max(number_width_, row.number.size() + 2);
    }
  }

  void append() {
    choose_columns();
    page_.line();
    append_head();
    for (const Row& row : rows_) {
      append_row(row);
    }
    if (shown_ < report_.phases.size() || left_out_ > 0) {
      page_.line(fmt::format("  the longest {} of {} phases{}; --json has all", shown_,
                             report_.phases.size(),
                             left_out_ > 0 ? fmt::format(", without {} scenes", left_out_) : ""),
                 Ink::kDim);
    }
  }

 private:
  struct Column {
    std::string head;
    std::size_t width;
    std::optional<UnitNames> unit;  ///< absent: traffic or intensity
    bool traffic = false;
  };

  void choose_columns() {
    std::size_t used =
        number_width_ + 2 + 2 * time_width_ + 3 + kLengthWidth + 4 + kNameWidth + 2 + kSureWidth;
    const auto add = [this, &used](Column column) {
      if (used + column.width <= page_.text_width()) {
        used += column.width;
        columns_.push_back(std::move(column));
      }
    };
    const auto any = [this](auto&& has) {
      return std::any_of(rows_.begin(), rows_.end(),
                         [&has](const Row& row) { return has(*row.phase); });
    };
    const bool position = any(
        [](const Phase& phase) { return phase.position && is_known(phase.position->intensity); });
    const bool traffic =
        any([](const Phase& phase) { return phase.dram && phase.dram->total_gbps; });
    std::vector<Column> units;
    for (const UnitNames& names : kTelling) {
      const Unit* found = nullptr;
      for (const Row& row : rows_) {
        found = found == nullptr ? find_unit(*row.phase, names) : found;
      }
      if (found != nullptr) {
        const std::string head = page_.safe(short_name(found->name));
        units.push_back({head, std::max<std::size_t>(head.size() + 2, 5), names});
      }
    }
    // The first unit before all else, the others where there is room left.
    std::vector<Column> last;
    if (traffic) {
      last.push_back({"GB/s", 6, std::nullopt, true});
    }
    if (position) {
      last.push_back({"FLOP/B", kIntensityWidth, std::nullopt});
    }
    for (const Column& column : last) {
      used += column.width;
    }
    for (Column& column : units) {
      add(std::move(column));
    }
    for (const Column& column : last) {
      used -= column.width;
    }
    for (Column& column : last) {
      add(std::move(column));
    }
  }

  void append_head() {
    std::string head =
        fmt::format("{:>{}}  {:>{}} - {:<{}}{:>{}}    {:<{}}  {:<{}}", "#", number_width_, "from",
                    time_width_, "to", time_width_, "length", kLengthWidth, "limited by",
                    kNameWidth + 1, "sure", kSureWidth - 1);
    for (const Column& column : columns_) {
      head += fmt::format("{:>{}}", column.head, column.width);
    }
    head.erase(head.find_last_not_of(' ') + 1);
    page_.line(head, Ink::kBold);
  }

  [[nodiscard]] std::string cell_text(const Phase& phase, const Column& column) const {
    if (column.unit) {
      const Unit* unit = find_unit(phase, *column.unit);
      return unit == nullptr ? "?" : fmt::format("{:.0f}", 100 * unit->busy);
    }
    if (column.traffic) {
      return phase.dram && phase.dram->total_gbps ? fmt::format("{:.0f}", *phase.dram->total_gbps)
                                                  : "?";
    }
    return phase.position && is_known(phase.position->intensity)
               ? range_text(phase.position->intensity)
               : "";
  }

  void append_row(const Row& row) {
    const Phase& phase = *row.phase;
    const std::string begin = fmt::format(
        "{:>{}}  {:>{}} - {:<{}}{:>{}}  ", row.number, number_width_,
        format_clock(phase.start_s, fine_), time_width_, format_clock(phase.end_s, fine_),
        time_width_, format_duration(phase.end_s - phase.start_s), kLengthWidth);
    std::string rest =
        fmt::format(" {:<{}}  {:<{}}", analysis::to_string(phase.bottleneck), kNameWidth,
                    sure_text(phase.bottleneck, phase.confidence), kSureWidth);
    for (const Column& column : columns_) {
      rest += fmt::format("{:>{}}", cell_text(phase, column), column.width);
    }
    rest.erase(rest.find_last_not_of(' ') + 1);
    const Ink ink = row.scene ? Ink::kDim : Ink::kPlain;
    page_.line(page_.paint(ink, begin) + page_.letter(phase.bottleneck) + page_.paint(ink, rest));
  }

  static constexpr std::size_t kLengthWidth = 9;
  static constexpr std::size_t kIntensityWidth = 13;

  Page& page_;
  const Report& report_;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  std::size_t shown_ = 0;
  std::size_t left_out_ = 0;
  std::size_t time_width_ = 4;
  std::size_t number_width_ = 4;
  bool fine_ = false;
};

}  // namespace

std::vector<std::size_t> longest_phases(const Report& report, std::size_t most) {
  std::vector<std::size_t> order(report.phases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [&report](std::size_t i) {
    return report.phases[i].end_s - report.phases[i].start_s;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&length](std::size_t a, std::size_t b) { return length(a) > length(b); });
  order.resize(std::min(order.size(), most));
  std::sort(order.begin(), order.end());
  return order;
}

void append_phases(Page& page, const Report& report, bool evidence) {
  if (report.phases.empty()) {
    return;
  }
  append_classes(page, answer_of(report), evidence);
  PhaseTable(page, report).append();
}

}  // namespace gputrace::report
