#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

/// Engines that differ from the whole GPU by less than this are one line of names.
constexpr double kEngineAgreement = 0.03;
constexpr std::size_t kPercentWidth = 7;
constexpr std::size_t kIntervalWidth = 12;
constexpr std::size_t kMaxLabelWidth = 18;

constexpr std::array<regdb::UnitGroup, 4> kGroups{
    regdb::UnitGroup::kFrontEnd, regdb::UnitGroup::kShader, regdb::UnitGroup::kMemoryPath,
    regdb::UnitGroup::kFixedFunction};

struct Row {
  const Unit* unit;
  std::string label;
};

/// What one group shows: bars, names of engines' units that agree with the whole, idle names.
struct GroupRows {
  std::vector<Row> bars;
  std::vector<std::string> agreeing;
  std::vector<std::string> idle;
  double idle_bound = 0;  ///< the largest upper end among the idle ones
  bool idle_bound_known = true;
};

class Units {
 public:
  Units(Page& page, const Report& report) : page_(page), report_(report) {
    for (const Unit& unit : report.units) {
      if (!unit.engine) {
        whole_[unit.name] = unit.busy;
      }
    }
    for (const Unit& unit : report.units) {
      if (unit.engine) {
        const auto whole = whole_.find(unit.name);
        const bool agrees =
            whole != whole_.end() && std::abs(whole->second - unit.busy) <= kEngineAgreement;
        const auto [it, inserted] = engines_agree_.try_emplace(unit.name, agrees);
        it->second = it->second && agrees;
      }
    }
    for (const Unit& unit : report.units) {
      if (unit.busy > 0) {  // idle ones have no bar
        label_width_ = std::max(label_width_, page_.safe(unit_label(unit)).size());
      }
    }
    label_width_ = std::min(label_width_, kMaxLabelWidth);
  }

  void append() {
    page_.line();
    page_.line("Units, share of the time with work in them", Ink::kBold);
    append_legend();
    for (const regdb::UnitGroup group : kGroups) {
      append_group(group, rows_of(group));
    }
  }

 private:
  void append_legend() {
    const bool intervals = std::any_of(report_.units.begin(), report_.units.end(),
                                       [](const Unit& unit) { return unit.ci95_run.has_value(); });
    std::string text = "  No intervals: they need samples and the number of changes between them.";
    if (intervals) {
      text = fmt::format(
          "  {} to the lower, {} to the upper end of the 95 % interval about this very recording. "
          "A repeat of the same load may differ by more: ci95 in --json.",
          page_.glyphs().full, page_.glyphs().maybe);
    } else if (has_few_samples(report_.units)) {
      text = fmt::format("  No intervals: they need at least {} samples.",
                         analysis::kMinSamplesForInterval);
    }
    page_.paragraph(text, 2, Ink::kDim);
  }

  [[nodiscard]] GroupRows rows_of(regdb::UnitGroup group) const {
    GroupRows rows;
    for (const Unit& unit : report_.units) {
      if (unit.group != group) {
        continue;
      }
      const auto agree = engines_agree_.find(unit.name);
      const bool folded = unit.engine && agree != engines_agree_.end() && agree->second;
      if (folded) {
        add_name(rows.agreeing, unit);
      } else if (unit.busy <= 0) {
        rows.idle.push_back(page_.safe(unit_label(unit)));
        rows.idle_bound_known = rows.idle_bound_known && unit.ci95_run.has_value();
        rows.idle_bound = std::max(rows.idle_bound, unit.ci95_run ? unit.ci95_run->upper : 0);
      } else {
        rows.bars.push_back({&unit, page_.safe(unit_label(unit))});
      }
    }
    std::stable_sort(rows.bars.begin(), rows.bars.end(), [](const Row& a, const Row& b) {
      const bool first = is_whole_pipe(*a.unit);
      return first != is_whole_pipe(*b.unit) ? first : a.unit->busy > b.unit->busy;
    });
    return rows;
  }

  /// Names of units that are idle everywhere are in the idle list already.
  void add_name(std::vector<std::string>& names, const Unit& unit) const {
    Unit whole = unit;
    whole.engine.reset();
    const std::string name = page_.safe(unit_label(whole));
    const bool busy = whole_.at(unit.name) > 0;
    if (busy && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }

  void append_group(regdb::UnitGroup group, const GroupRows& rows) {
    if (rows.bars.empty() && rows.idle.empty()) {
      return;
    }
    page_.line(fmt::format(" {}", regdb::to_string(group)), Ink::kBold);
    for (const Row& row : rows.bars) {
      append_bar(row);
    }
    if (!rows.agreeing.empty()) {
      page_.paragraph(fmt::format("  each shader engine within {:.0f} points of the whole: {}",
                                  100 * kEngineAgreement, fmt::join(rows.agreeing, " ")),
                      4);
    }
    if (!rows.idle.empty()) {
      const std::string bound =
          rows.idle_bound_known
              ? fmt::format(" (each below {})", format_percent(std::max(rows.idle_bound, 0.001)))
              : std::string();
      page_.paragraph(fmt::format("  never seen busy{}: {}", bound, fmt::join(rows.idle, " ")), 4);
    }
  }

  void append_bar(const Row& row) {
    const std::size_t bar_width =
        page_.width() - (2 + label_width_ + 2 + 2 + kPercentWidth + 2 + kIntervalWidth);
    const Unit& unit = *row.unit;
    const auto columns = [bar_width](double fraction) {
      return static_cast<std::size_t>(
          std::lround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(bar_width)));
    };
    const std::size_t sure = columns(unit.ci95_run ? unit.ci95_run->lower : unit.busy);
    // A unit with any work at all keeps apart from an idle one.
    const std::size_t most =
        std::max<std::size_t>({columns(unit.ci95_run ? unit.ci95_run->upper : unit.busy), sure, 1});
    std::string bar;
    for (std::size_t i = 0; i < most; ++i) {
      bar += i < sure ? page_.glyphs().full : page_.glyphs().maybe;
    }
    const std::string interval = unit.ci95_run ? format_interval(*unit.ci95_run) : "";
    std::string line =
        fmt::format("  {:<{}} |{}{:{}}| {:>{}}  {}", clip(row.label, label_width_), label_width_,
                    page_.paint(Ink::kBar, bar), "", bar_width - most,
                    format_percent(unit.busy, unit.ci95_run), kPercentWidth, interval);
    line.erase(line.find_last_not_of(' ') + 1);
    page_.line(line);
  }

  Page& page_;
  const Report& report_;
  std::map<std::string, double> whole_;        ///< busy of the whole GPU's bit, by field name
  std::map<std::string, bool> engines_agree_;  ///< by field name
  std::size_t label_width_ = 8;
};

void append_unknown(Page& page, const std::vector<UnknownRegister>& registers) {
  if (registers.empty()) {
    return;
  }
  page.line(" unknown", Ink::kBold);
  for (const UnknownRegister& reg : registers) {
    std::string text = fmt::format("  {}: {}.", page.safe(reg.name), page.safe(reg.reason));
    for (std::size_t i = 0; i < reg.units.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? " Units: " : " ", page.safe(short_name(reg.units[i])));
    }
    page.paragraph(text, 4);
  }
}

}  // namespace

void append_units(Page& page, const Report& report) {
  if (!report.units.empty()) {
    Units(page, report).append();
  } else if (!report.unknown_registers.empty()) {
    page.line();
    page.line("Units", Ink::kBold);
  }
  append_unknown(page, report.unknown_registers);
}

}  // namespace gputrace::report
