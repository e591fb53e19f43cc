#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/report/comparison_report.h"
#include "cli/report/text_format.h"
#include "cli/report/wording.h"

namespace gputrace::report {
namespace {

using analysis::Bottleneck;
using analysis::Difference;
using analysis::Reality;

/// Relative change of the package's power from which its effect is worth a sentence.
constexpr double kPowerChanged = 0.1;
constexpr std::size_t kMostUnitsNamed = 3;

bool is_real(const Difference& row) {
  return row.reality == Reality::kReal;
}

/// The class with most time of one side, the idle time aside.
const Difference* leading_class(const std::vector<Difference>& classes,
                                std::optional<double> Difference::* side) {
  const Difference* leading = nullptr;
  for (const Difference& row : classes) {
    const double share = (row.*side).value_or(0);
    if (row.name != analysis::to_string(Bottleneck::kIdle) && share > 0 &&
        (leading == nullptr || share > (leading->*side).value_or(0))) {
      leading = &row;
    }
  }
  return leading;
}

std::string_view words_of(const Difference& row) {
  for (int i = 0; i <= static_cast<int>(Bottleneck::kUnknown); ++i) {
    const auto bottleneck = static_cast<Bottleneck>(i);
    if (analysis::to_string(bottleneck) == row.name) {
      return limit_words(bottleneck);
    }
  }
  return row.name;
}

std::string share_text(const std::optional<double>& points) {
  return format_percent(points.value_or(0) / 100);
}

const Difference* find_named(const std::vector<Difference>& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [name](const Difference& row) {
    return row.name == name && row.difference && row.reality != Reality::kCannotTell;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::string limit_sentence(const ComparisonReport& report) {
  const std::vector<Difference>& classes = report.comparison.classes;
  const Difference* a = leading_class(classes, &Difference::a);
  const Difference* b = leading_class(classes, &Difference::b);
  if (a == nullptr || b == nullptr) {
    return "What limited them cannot be compared: " +
           std::string(a == b ? "neither side has" : (a == nullptr ? "A has no" : "B has no")) +
           (a == b ? " phases that tell." : " phase that tells.");
  }
  if (a != b) {
    return fmt::format("The limit moved: from {} ({} of A) to {} ({} of B).", words_of(*a),
                       share_text(a->a), words_of(*b), share_text(b->b));
  }
  std::string text = fmt::format("The limit is the same: {}, {} of A and {} of B.", words_of(*a),
                                 share_text(a->a), share_text(a->b));
  const Difference* power = find_named(report.comparison.quantities, "package_power");
  if (power != nullptr && is_real(*power) &&
      std::abs(power->relative.value_or(0)) >= kPowerChanged) {
    text += fmt::format(" {:.0f} % {} power did not move it.",
                        100 * std::abs(power->relative.value_or(0)),
                        power->relative.value_or(0) > 0 ? "more" : "less");
  }
  return text;
}

std::string unit_change(const Difference& row) {
  const std::string engine = is_of_engine(row) ? row.register_name + "." : "";
  return fmt::format("{}{} {:+.1f} points", engine, row.name, row.difference.value_or(0));
}

std::string units_sentence(const std::vector<Difference>& units) {
  std::vector<const Difference*> real;
  std::size_t judged = 0;
  for (const Difference& row : units) {
    judged += row.reality == Reality::kCannotTell ? 0U : 1U;
    if (is_real(row)) {
      real.push_back(&row);
    }
  }
  if (judged == 0) {
    return units.empty() ? "No unit was recorded in both." : "Whether units differ cannot be told.";
  }
  if (real.empty()) {
    return fmt::format("None of {} units differs beyond what chance does.", judged);
  }
  // Of a unit that the whole GPU and its engines show, the whole GPU's stands for both.
  std::stable_sort(real.begin(), real.end(), [](const Difference* x, const Difference* y) {
    const bool left = is_of_engine(*x);
    const bool right = is_of_engine(*y);
    return left != right
               ? right
               : std::abs(x->difference.value_or(0)) > std::abs(y->difference.value_or(0));
  });
  std::string most;
  for (std::size_t i = 0; i < std::min(kMostUnitsNamed, real.size()); ++i) {
    most += (i == 0 ? "" : ", ") + unit_change(*real[i]);
  }
  return fmt::format("{} of {} units differ{} for real{}: {}.", real.size(), judged,
                     real.size() == 1 ? "s" : "", real.size() > kMostUnitsNamed ? ", most" : "",
                     most);
}

std::string quantities_sentence(const std::vector<Difference>& quantities) {
  std::string changed;
  for (const std::string_view name : kFirstQuantities) {
    const Difference* row = find_named(quantities, name);
    if (row == nullptr || !is_real(*row)) {
      continue;
    }
    changed += changed.empty() ? "" : "; ";
    changed += fmt::format("{} {:+.3g} {}", name, row->difference.value_or(0), row->unit);
    if (row->relative) {
      changed += fmt::format(" ({:+.1f} %)", 100 * *row->relative);
    }
  }
  return changed.empty() ? std::string() : "B against A: " + changed + ".";
}

}  // namespace

std::vector<std::string> comparison_words(const ComparisonReport& report) {
  std::vector<std::string> words{limit_sentence(report), units_sentence(report.comparison.units)};
  if (std::string sentence = quantities_sentence(report.comparison.quantities); !sentence.empty()) {
    words.push_back(std::move(sentence));
  }
  return words;
}

}  // namespace gputrace::report
