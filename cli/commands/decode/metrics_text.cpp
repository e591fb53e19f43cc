#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "cli/commands/decode/decode_metrics.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kNoteColumn = 64;

std::string name_of(const DecodedMetric& first, const DecodedMetric& last) {
  if (!first.element || !last.element) {
    return first.field->name;
  }
  return *first.element == *last.element
             ? fmt::format("{}[{}]", first.field->name, *first.element)
             : fmt::format("{}[{}..{}]", first.field->name, *first.element, *last.element);
}

std::string raw_in_text(const DecodedMetric& metric) {
  return metric.field->value_unit == "bits" || !metric.value
             ? fmt::format("0x{:0{}x}", metric.raw, 2 * metric.field->width)
             : std::to_string(metric.raw);
}

std::string decoded_in_text(const DecodedMetric& metric, const regdb::MetricsUnits& units) {
  return metric.value ? fmt::format("{} {}", value_in_text(*metric.value),
                                    regdb::metric_unit(*metric.field, units))
                      : std::string("-");
}

std::string note_of(const DecodedMetric& metric, const DecodedTable& table) {
  std::vector<std::string> parts;
  if (!metric.value) {
    parts.push_back("absent: " + metric.absent);
  }
  if (!metric.reasons.empty()) {
    std::vector<std::string> names;
    names.reserve(metric.reasons.size());
    for (const regdb::ThrottleReason& reason : metric.reasons) {
      names.push_back(fmt::format("{} ({})", reason.name, regdb::to_string(reason.group)));
    }
    parts.push_back(fmt::format("{}", fmt::join(names, ", ")));
  }
  if (const auto why = regdb::why_unrecorded(*table.layout, *metric.field, table.gc);
      !why.empty()) {
    parts.push_back(fmt::format("not recorded: {}", why));
  } else if (metric.value && !metric.field->meaning.empty()) {
    parts.push_back(metric.field->meaning);
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Elements of one array that have nothing are one line.
bool is_same_line(const DecodedMetric& one, const DecodedMetric& next) {
  return one.field == next.field && !one.value && !next.value && one.raw == next.raw;
}

void append_unit(std::string& text, std::string_view quantity, const regdb::MetricsScale& scale) {
  if (!scale.decision.empty()) {
    text += fmt::format("  {:<12} {}\n", quantity, scale.decision);
  }
}

}  // namespace

std::string metrics_to_text(const DecodedTable& table) {
  const regdb::MetricsUnits& units = table.units;
  std::string text = fmt::format(
      "{}: gpu_metrics {}.{}, {} bytes, {}\n", report::escape_for_terminal(table.file, false),
      table.layout->format, table.layout->content, table.layout->size,
      table.gc ? "GC " + regdb::to_string(*table.gc) : std::string("GC version not stated (--gc)"));
  if (table.trailing_bytes > 0) {
    text += fmt::format("{} bytes behind the table are not part of it.\n", table.trailing_bytes);
  }
  if (!units.activity.decision.empty() || !units.power.decision.empty() ||
      !units.temperature.decision.empty()) {
    text += "\nUnits that differ between chips\n";
    append_unit(text, "activity", units.activity);
    append_unit(text, "socket power", units.power);
    append_unit(text, "temperature", units.temperature);
  }
  text += fmt::format("\n{:<32}{:>18}  {:<12}\n", "field", "raw", "value");
  for (auto metric = table.metrics.begin(); metric != table.metrics.end(); ++metric) {
    auto last = metric;
    while (last + 1 != table.metrics.end() && is_same_line(*metric, *(last + 1))) {
      ++last;
    }
    const std::string line = fmt::format("{:<32}{:>18}  {}", name_of(*metric, *last),
                                         raw_in_text(*metric), decoded_in_text(*metric, units));
    const std::string note = note_of(*metric, table);
    for (const std::string& part :
         report::wrap(note.empty() ? line : fmt::format("{:<{}}  {}", line, kNoteColumn, note),
                      kWidth, kNoteColumn + 2)) {
      text += part + "\n";
    }
    metric = last;
  }
  return text;
}

}  // namespace gputrace::commands
