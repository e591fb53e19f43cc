#include "cli/analysis/position_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace gputrace::analysis {
namespace {

constexpr std::string_view kActive = "GUI_ACTIVE";
/// Below it fractions of the active time are fractions of next to nothing.
constexpr double kLeastActive = 0.02;
/// A unit that moves less over all of the curve says nothing about the place on it.
constexpr double kLeastMove = 0.05;
/// Pressure from behind fills these units wherever memory is the limit, however the requests look.
/// What stays below is the rate of requests times the time that each takes, and depends on their
/// shape.
constexpr double kFilled = 0.7;
constexpr double kFarBelowRidge = 4;
/// Streams that only read, only write or copy reach the same bandwidth. A unit that they fill so
/// differently tells what a workload writes, not its intensity.
constexpr double kMostSpreadOfStreams = 0.1;
/// More units cost time and repeat what these say.
constexpr std::size_t kMostUnits = 12;
/// A 95 % interval is so many standard deviations wide.
constexpr double kInterval95 = 2 * 1.96;

const BusyUnit* find(std::span<const BusyUnit> units, const UnitKey& key) {
  const auto exact = std::find_if(units.begin(), units.end(),
                                  [&key](const BusyUnit& unit) { return unit.key == key; });
  if (exact != units.end()) {
    return &*exact;
  }
  // Percentages of other tools name no register.
  const auto named = std::find_if(units.begin(), units.end(), [&key](const BusyUnit& unit) {
    return unit.key.name == key.name;
  });
  return named == units.end() ? nullptr : &*named;
}

std::optional<double> active_of(std::span<const BusyUnit> units) {
  const auto at = std::find_if(units.begin(), units.end(),
                               [](const BusyUnit& unit) { return unit.key.name == kActive; });
  return at == units.end() ? std::nullopt : std::optional(at->busy);
}

bool is_fraction(double value) {
  return value >= 0 && value <= 1;
}

double variance_of(const BusyUnit& unit) {
  auto interval = unit.ci95;
  if (!interval && unit.counts) {
    interval = ci95(*unit.counts, {});
  }
  if (!interval) {
    return 0;  // percentages without n: workloads scatter by far more
  }
  const double sd = (interval->upper - interval->lower) / kInterval95;
  return sd * sd;
}

void append(BusyVector& to, const BusyUnit& unit, double active) {
  to.busy.push_back(std::min(1.0, unit.busy / active));
  to.variance.push_back(variance_of(unit) / (active * active));
}

bool is_usable(const CalibrationPoint& point) {
  const bool all_fractions =
      std::all_of(point.units.begin(), point.units.end(),
                  [](const BusyUnit& unit) { return is_fraction(unit.busy); });
  return !point.suspect && !point.units.empty() && all_fractions;
}

bool has_intensity(const CalibrationPoint& point) {
  return point.intensity && std::isfinite(*point.intensity) && *point.intensity >= 0;
}

bool is_at_roof(const CalibrationPoint& point) {
  switch (point.truth) {
    case Bottleneck::kBandwidth:
    case Bottleneck::kMemory:
    case Bottleneck::kCompute:
    case Bottleneck::kMixed:
    case Bottleneck::kUnknown:
      return has_intensity(point);
    default:
      return false;
  }
}

/// Copies of a shader engine say what the whole GPU's register says.
bool is_copy(const UnitKey& key, std::span<const BusyUnit> units) {
  return key.register_name.find("_SE") != std::string::npos &&
         std::any_of(units.begin(), units.end(), [&key](const BusyUnit& other) {
           return other.key.name == key.name &&
                  other.key.register_name.find("_SE") == std::string::npos;
         });
}

/// Between the workloads that bandwidth limits and that compute nothing.
bool tells_streams_apart(const UnitKey& key, const Calibration& calibration, bool of_active) {
  double low = 1;
  double high = 0;
  for (const CalibrationPoint& point : calibration.points) {
    const BusyUnit* unit = find(point.units, key);
    if (!is_usable(point) || has_intensity(point) || point.truth != Bottleneck::kBandwidth ||
        unit == nullptr || (of_active && !has_active(point.units))) {
      continue;
    }
    const double busy = unit->busy / (of_active ? active_of(point.units).value_or(1) : 1);
    low = std::min(low, busy);
    high = std::max(high, busy);
  }
  return high - low > kMostSpreadOfStreams;
}

std::vector<UnitKey> moving_units(std::span<const CalibrationPoint* const> points,
                                  const Calibration& calibration, double ridge, bool of_active) {
  struct Moved {
    UnitKey key;
    double by = 0;
    bool fills = false;
  };
  std::vector<Moved> moved;
  for (const BusyUnit& first : points.front()->units) {
    if (first.key.name == kActive || is_copy(first.key, points.front()->units)) {
      continue;
    }
    double low = 1;
    double high = 0;
    double low_at_memory = 1;
    bool everywhere = true;
    for (const CalibrationPoint* point : points) {
      const auto at =
          std::find_if(point->units.begin(), point->units.end(),
                       [&first](const BusyUnit& unit) { return unit.key == first.key; });
      if (at == point->units.end()) {
        everywhere = false;
        break;
      }
      const double busy = at->busy / (of_active ? active_of(point->units).value_or(1) : 1);
      low = std::min(low, busy);
      high = std::max(high, busy);
      if (point->intensity.value_or(0) <= ridge / kFarBelowRidge) {
        low_at_memory = std::min(low_at_memory, busy);
      }
    }
    if (everywhere && high - low >= kLeastMove) {
      moved.push_back({first.key, high - low, low_at_memory >= kFilled});
    }
  }
  if (std::any_of(moved.begin(), moved.end(), [](const Moved& unit) { return unit.fills; })) {
    std::erase_if(moved, [](const Moved& unit) { return !unit.fills; });
  }
  const auto is_of_streams = [&](const Moved& unit) {
    return tells_streams_apart(unit.key, calibration, of_active);
  };
  if (!std::all_of(moved.begin(), moved.end(), is_of_streams)) {
    std::erase_if(moved, is_of_streams);
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const Moved& a, const Moved& b) { return a.by > b.by; });
  moved.resize(std::min(moved.size(), kMostUnits));
  std::vector<UnitKey> keys;
  keys.reserve(moved.size());
  for (Moved& unit : moved) {
    keys.push_back(std::move(unit.key));
  }
  return keys;
}

/// Absent when a unit is missing.
std::optional<BusyVector> vector_of(const CalibrationPoint& point, const KnownPoints& known) {
  const double active = known.of_active ? active_of(point.units).value_or(0) : 1;
  if (known.of_active && active < kLeastActive) {
    return std::nullopt;
  }
  BusyVector result;
  for (const UnitKey& key : known.units) {
    const BusyUnit* unit = find(point.units, key);
    if (unit == nullptr) {
      return std::nullopt;
    }
    append(result, *unit, active);
  }
  return result;
}

double octave_of(double intensity, double ridge) {
  return std::log2(std::clamp(intensity, kLowestIntensity, kHighestIntensity) / ridge);
}

}  // namespace

bool has_active(std::span<const BusyUnit> units) {
  return active_of(units).value_or(0) >= kLeastActive;
}

std::optional<KnownPoints> known_points(const Calibration& calibration, double ridge,
                                        bool of_active) {
  std::vector<const CalibrationPoint*> at_roof;
  for (const CalibrationPoint& point : calibration.points) {
    if (is_usable(point) && is_at_roof(point)) {
      if (of_active && !has_active(point.units)) {
        return std::nullopt;
      }
      at_roof.push_back(&point);
    }
  }
  if (at_roof.empty()) {
    return std::nullopt;
  }
  KnownPoints known;
  known.ridge = ridge;
  known.of_active = of_active;
  known.units = moving_units(at_roof, calibration, ridge, of_active);
  if (known.units.empty()) {
    return std::nullopt;
  }
  std::map<std::pair<std::string, std::uint32_t>, KnownFamily> families;
  for (const CalibrationPoint* point : at_roof) {
    auto units = vector_of(*point, known);
    if (!units) {
      continue;
    }
    KnownFamily& family = families[{point->family, point->group_threads}];
    family.name = point->family;
    family.points.push_back({octave_of(point->intensity.value_or(0), ridge), std::move(*units)});
  }
  for (auto& [key, family] : families) {
    std::stable_sort(family.points.begin(), family.points.end(),
                     [](const KnownPoint& a, const KnownPoint& b) { return a.octave < b.octave; });
    known.families.push_back(std::move(family));
  }
  for (const CalibrationPoint& point : calibration.points) {
    if (!is_usable(point) || is_at_roof(point) || point.truth == Bottleneck::kIdle) {
      continue;
    }
    if (auto units = vector_of(point, known)) {
      known.off_roof.push_back(
          {point.workload,
           has_intensity(point) ? std::optional(octave_of(*point.intensity, ridge)) : std::nullopt,
           std::move(*units)});
    }
  }
  return known;
}

RecordedUnits recorded_units(std::span<const BusyUnit> units, const KnownPoints& known) {
  RecordedUnits recorded;
  recorded.active = active_of(units);
  const double active = known.of_active ? recorded.active.value_or(1) : 1;
  for (std::size_t i = 0; i < known.units.size(); ++i) {
    const BusyUnit* unit = find(units, known.units[i]);
    if (unit != nullptr && is_fraction(unit->busy)) {
      recorded.index.push_back(i);
      append(recorded.units, *unit, active);
    }
  }
  return recorded;
}

std::vector<double> monotone(std::span<const double> values, std::span<const double> weights,
                             bool rising) {
  struct Block {
    double mean;
    double weight;
    std::size_t length;
  };
  const double sign = rising ? 1 : -1;
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    blocks.push_back({sign * values[i], weights[i], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean > blocks.back().mean) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& pooled = blocks.back();
      pooled.mean =
          (pooled.mean * pooled.weight + last.mean * last.weight) / (pooled.weight + last.weight);
      pooled.weight += last.weight;
      pooled.length += last.length;
    }
  }
  std::vector<double> result;
  for (const Block& block : blocks) {
    result.insert(result.end(), block.length, sign * block.mean);
  }
  return result;
}

}  // namespace gputrace::analysis
