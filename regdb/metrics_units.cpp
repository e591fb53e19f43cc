// How the doubtful units of a metrics table are decided: by chip, then by what the values can be.
#include <algorithm>
#include <string>

#include "regdb/gpu_metrics.h"
#include "regdb/metrics_tables.h"

namespace gputrace::regdb {
namespace {

/// What the values say of one of the two units that a quantity may have.
enum class Evidence { kNone, kCoarse, kFine };

struct Quantity {
  std::string_view name;
  std::string_view coarse;  ///< "percent", "W", "C": raw = value
  std::string_view fine;    ///< "centi-percent", "mW", "centi-C"
  double fine_scale;
  std::string_view unit;
};

std::optional<std::uint64_t> raw_of(std::span<const std::byte> table, const MetricsLayout& layout,
                                    std::string_view name) {
  const MetricsField* field = layout.find(name);
  return field != nullptr ? raw_metric(table, *field, 0) : std::nullopt;
}

/// Only of the graphics core: some firmware states the video engines in a unit of their own
/// (Radeon 8060S: far above 100).
Evidence activity_evidence(std::span<const std::byte> table, const MetricsLayout& layout) {
  const auto raw = raw_of(table, layout, "average_gfx_activity");
  return raw && *raw > 105 && *raw <= 10500 ? Evidence::kFine : Evidence::kNone;
}

/// Rails of an APU (always mW) are parts of the socket; cores are parts of the CPU's rail.
std::uint64_t rails_mw(std::span<const std::byte> table, const MetricsLayout& layout) {
  std::uint64_t sum = 0;
  for (const std::string_view name :
       {"average_cpu_power", "average_soc_power", "average_gfx_power"}) {
    sum += raw_of(table, layout, name).value_or(0);
  }
  return sum;
}

Evidence power_evidence(std::span<const std::byte> table, const MetricsLayout& layout) {
  const std::uint64_t raw = raw_of(table, layout, "average_socket_power").value_or(0);
  // No socket that runs a program draws 0.3 W, and no APU 400 W.
  constexpr std::uint64_t kLeastMilliwatts = 300;
  constexpr std::uint64_t kMostWatts = 400;
  if (raw == 0) {
    return Evidence::kNone;
  }
  if (raw > kMostWatts) {
    return Evidence::kFine;
  }
  // As mW the socket would draw less than half of what its rails do: it is W.
  return raw < kLeastMilliwatts || rails_mw(table, layout) > 2 * raw ? Evidence::kCoarse
                                                                     : Evidence::kNone;
}

Evidence temperature_evidence(std::span<const std::byte> table, const MetricsLayout& layout) {
  std::uint64_t hottest = 0;
  for (const std::string_view name : {"temperature_gfx", "temperature_soc"}) {
    hottest = std::max(hottest, raw_of(table, layout, name).value_or(0));
  }
  if (hottest >= 1000 && hottest <= 15000) {
    return Evidence::kFine;
  }
  // As centi-degrees these would be a few degrees above freezing.
  return hottest >= 10 && hottest <= 150 ? Evidence::kCoarse : Evidence::kNone;
}

const UnitRule* find_rule(std::string_view quantity, const MetricsLayout& layout,
                          const std::optional<GcVersion>& gc) {
  for (const UnitRule& rule : metrics_tables().units) {
    if (rule.quantity == quantity && rule.format == layout.format &&
        rule.content.value_or(layout.content) == layout.content && rule.range.contains(gc)) {
      return &rule;
    }
  }
  return nullptr;
}

MetricsScale decide(const Quantity& quantity, const MetricsLayout& layout,
                    const std::optional<GcVersion>& gc, Evidence evidence) {
  const auto doubtful = [&](const MetricsField& field) { return field.unit == quantity.name; };
  if (std::none_of(layout.fields.begin(), layout.fields.end(), doubtful)) {
    return {.scale = 1, .unit = std::string(quantity.unit), .decision = {}};
  }
  const UnitRule* rule = find_rule(quantity.name, layout, gc);
  bool fine = rule != nullptr && rule->unit == quantity.fine;
  std::string source = rule != nullptr ? rule->why : std::string("no table says");
  if (gc && rule != nullptr && rule->range.first) {
    source = "driver of GC " + to_string(*gc) + " (" + rule->why + ")";
  } else if (!gc) {
    source = "GC version not known; " + source;
  }
  std::string verdict = "; range test says nothing";
  if (evidence != Evidence::kNone) {
    const bool agrees = fine == (evidence == Evidence::kFine);
    verdict = agrees ? "; range test agrees" : "; overruled by the range test";
    fine = evidence == Evidence::kFine;
  }
  return {
      .scale = fine ? quantity.fine_scale : 1,
      .unit = std::string(quantity.unit),
      .decision = std::string(fine ? quantity.fine : quantity.coarse) + ": " + source + verdict};
}

}  // namespace

MetricsUnits decide_metrics_units(std::span<const std::byte> table, const MetricsLayout& layout,
                                  const std::optional<GcVersion>& gc) {
  static constexpr Quantity kActivity{"activity", "percent", "centi-percent", 0.01, "%"};
  static constexpr Quantity kPower{"power", "W", "mW", 0.001, "W"};
  static constexpr Quantity kTemperature{"temperature", "C", "centi-C", 0.01, "C"};
  return {.activity = decide(kActivity, layout, gc, activity_evidence(table, layout)),
          .power = decide(kPower, layout, gc, power_evidence(table, layout)),
          .temperature = decide(kTemperature, layout, gc, temperature_evidence(table, layout))};
}

}  // namespace gputrace::regdb
