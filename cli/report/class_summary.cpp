#include "cli/report/class_summary.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "cli/report/class_style.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

/// Of a cap; the same share that lets throttling by power be believed.
constexpr double kAtCap = 0.95;
constexpr double kMostUncovered = 0.05;
/// So that a phase without valid samples divides by no zero.
constexpr double kLeastWeight = 1e-9;

double length_of(const Phase& phase) {
  return std::max(0.0, phase.end_s - phase.start_s);
}

double weight_of(const Phase& phase) {
  const double valid = 1 - std::clamp(phase.unknown_share + phase.asleep_share, 0.0, 1.0);
  return std::max(length_of(phase) * valid, kLeastWeight);
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::toupper(static_cast<unsigned char>(x)) ==
           std::toupper(static_cast<unsigned char>(y));
  });
}

struct Sum {
  double weight = 0;
  double busy = 0;
  double below = 0;  ///< squares of weighted half intervals
  double above = 0;
  std::size_t phases = 0;
  bool intervals = true;
};

std::vector<UnitMean> unit_means(const std::vector<const Phase*>& phases) {
  std::map<std::pair<std::string, std::string>, Sum> sums;  // (register, name)
  std::vector<std::pair<std::string, std::string>> order;
  for (const Phase* phase : phases) {
    const double weight = weight_of(*phase);
    for (const Unit& unit : phase->units) {
      if (unit.engine) {
        continue;
      }
      const auto [it, inserted] = sums.try_emplace({unit.register_name, unit.name});
      if (inserted) {
        order.push_back(it->first);
      }
      Sum& sum = it->second;
      sum.weight += weight;
      sum.busy += weight * unit.busy;
      ++sum.phases;
      sum.intervals = sum.intervals && unit.ci95.has_value();
      if (unit.ci95) {
        sum.below += std::pow(weight * (unit.busy - unit.ci95->lower), 2);
        sum.above += std::pow(weight * (unit.ci95->upper - unit.busy), 2);
      }
    }
  }
  std::vector<UnitMean> means;
  for (const auto& key : order) {
    const Sum& sum = sums.at(key);
    if (sum.phases != phases.size()) {
      continue;
    }
    UnitMean mean{.name = key.second, .busy = sum.busy / sum.weight, .ci95 = std::nullopt};
    if (sum.intervals) {
      mean.ci95 = analysis::Interval{std::max(0.0, mean.busy - std::sqrt(sum.below) / sum.weight),
                                     std::min(1.0, mean.busy + std::sqrt(sum.above) / sum.weight)};
    }
    means.push_back(mean);
  }
  return means;
}

const Sensor* find_sensor(std::span<const Sensor> sensors, std::string_view name) {
  const Sensor* found = nullptr;
  for (const Sensor& sensor : sensors) {
    if (sensor.name == name && sensor.mean &&
        (found == nullptr || sensor.samples > found->samples)) {
      found = &sensor;
    }
  }
  return found;
}

/// Traffic and power of phases that have them, if those are nearly all of the time.
void add_readings(ClassSummary& summary) {
  double dram_s = 0;
  double bytes = 0;
  double power_s = 0;
  double joules = 0;
  double most_w = 0;
  for (const Phase* phase : summary.phases) {
    const double length = length_of(*phase);
    if (phase->dram && phase->dram->total_gbps) {
      dram_s += length;
      bytes += length * *phase->dram->total_gbps;
    }
    const Sensor* power = find_sensor(phase->sensors, "package_power");
    if (power != nullptr && power->mean) {
      power_s += length;
      joules += length * *power->mean;
      most_w = std::max(most_w, power->max.value_or(*power->mean));
    }
  }
  const double enough = (1 - kMostUncovered) * summary.seconds;
  if (dram_s > 0 && dram_s >= enough) {
    summary.gbps = bytes / dram_s;
  }
  if (power_s > 0 && power_s >= enough) {
    summary.power_w = joules / power_s;
    summary.max_power_w = most_w;
  }
}

std::size_t rank_of(analysis::Bottleneck bottleneck) {
  const auto* it = std::find(kAllClasses.begin(), kAllClasses.end(), bottleneck);
  return static_cast<std::size_t>(it - kAllClasses.begin());
}

}  // namespace

std::vector<ClassSummary> summarize_classes(std::span<const Phase> phases) {
  std::vector<ClassSummary> classes;
  for (const analysis::Bottleneck bottleneck : kAllClasses) {
    ClassSummary summary;
    summary.bottleneck = bottleneck;
    for (const Phase& phase : phases) {
      if (phase.bottleneck == bottleneck) {
        summary.phases.push_back(&phase);
        summary.seconds += length_of(phase);
        summary.confidence += length_of(phase) * phase.confidence;
      }
    }
    if (summary.seconds <= 0) {
      continue;
    }
    summary.confidence /= summary.seconds;
    std::stable_sort(summary.phases.begin(), summary.phases.end(),
                     [](const Phase* a, const Phase* b) { return length_of(*a) > length_of(*b); });
    summary.units = unit_means(summary.phases);
    add_readings(summary);
    classes.push_back(std::move(summary));
  }
  std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds
                                  : rank_of(a.bottleneck) < rank_of(b.bottleneck);
  });
  return classes;
}

const UnitMean* find_mean(const ClassSummary& summary, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (const UnitMean& unit : summary.units) {
      if (same_letters(short_name(unit.name), name)) {
        return &unit;
      }
    }
  }
  return nullptr;
}

const Unit* find_unit(const Phase& phase, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (const Unit& unit : phase.units) {
      if (!unit.engine && same_letters(short_name(unit.name), name)) {
        return &unit;
      }
    }
  }
  return nullptr;
}

const analysis::Ceiling* memory_roof(const Report& report) {
  const bool fits = report.machine &&
                    report.machine->fit.use != analysis::CalibrationUse::kRefused &&
                    !report.machine->roofline.bandwidth.empty();
  return fits ? &report.machine->roofline.bandwidth.front() : nullptr;
}

PowerFacts power_facts(const ClassSummary& summary, const Report& report) {
  PowerFacts facts;
  bool throttled = false;
  if (report.throttling) {
    for (const ThrottleBit& bit : report.throttling->bits) {
      throttled = throttled || !bit.evidence.empty();
    }
  }
  const Sensor* cap = find_sensor(report.sensors, "power_cap");
  if (cap != nullptr && cap->min == cap->max) {
    facts.cap_w = cap->mean;
  }
  const bool known = facts.cap_w && *facts.cap_w > 0 && summary.power_w && summary.max_power_w;
  if (known && *summary.power_w >= kAtCap * *facts.cap_w) {
    facts.limit = PowerLimit::kAtLimit;
    facts.power_w = summary.power_w;
  } else if (known && *summary.max_power_w < kAtCap * *facts.cap_w && !throttled) {
    facts.limit = PowerLimit::kBelowLimit;
    facts.power_w = summary.max_power_w;
  }
  return facts;
}

}  // namespace gputrace::report
