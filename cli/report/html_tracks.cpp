#include "cli/report/html_tracks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace gputrace::report {
namespace {

/// What a lane is about; a reader sees the first track of each before asking for all.
enum class Kind { kPower, kClock, kTemperature, kTraffic, kOther };

struct Known {
  std::string_view name;
  std::string_view label;
  Kind kind;
};
/// Best first within a kind.
constexpr std::array<Known, 13> kKnown{{{"package_power", "Power", Kind::kPower},
                                        {"gfx_power", "GPU power", Kind::kPower},
                                        {"gfx_clock", "Clock", Kind::kClock},
                                        {"gfx_clock_average", "Clock", Kind::kClock},
                                        {"mem_clock", "Mem. clock", Kind::kClock},
                                        {"edge_temperature", "Temp.", Kind::kTemperature},
                                        {"junction_temperature", "Temp.", Kind::kTemperature},
                                        {"gfx_temperature", "Temp.", Kind::kTemperature},
                                        {"cpu_temperature", "CPU temp.", Kind::kTemperature},
                                        {"dram_traffic", "DRAM", Kind::kTraffic},
                                        {"dram_total", "DRAM", Kind::kTraffic},
                                        {"dram_read", "DRAM read", Kind::kTraffic},
                                        {"dram_write", "DRAM write", Kind::kTraffic}}};

struct Extent {
  double low;
  double high;
};
std::optional<Extent> extent_of(const SensorTrack& track) {
  std::optional<Extent> extent;
  for (const auto* values : {&track.min, &track.mean, &track.max}) {
    for (const std::optional<float>& value : *values) {
      if (value && std::isfinite(*value)) {
        const double at = *value;
        extent =
            extent ? Extent{std::min(extent->low, at), std::max(extent->high, at)} : Extent{at, at};
      }
    }
  }
  return extent;
}

void choose_unit(Lane& lane, const std::string& unit, double high) {
  lane.unit = unit;
  if (unit == "bytes/s") {
    lane.unit = "GB/s";
    lane.scale = 1e-9;
  } else if (unit == "bytes") {
    lane.unit = "GiB";
    lane.scale = 1.0 / (1024.0 * 1024 * 1024);
  } else if (unit == "C") {
    lane.unit = "°C";
  }
  const double shown = high * lane.scale;
  lane.decimals = shown < 2 ? 2 : shown < 20 ? 1 : 0;
}

std::string plain_label(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

std::vector<Lane> sensor_lanes(const Report& report) {
  struct Ranked {
    std::size_t rank;
    Kind kind;
    Lane lane;
  };
  std::vector<Ranked> ranked;
  if (!report.timeline) {
    return {};
  }
  for (std::size_t i = 0; i < report.timeline->tracks.size(); ++i) {
    const SensorTrack& track = report.timeline->tracks[i];
    const auto extent = extent_of(track);
    if (!extent) {
      continue;
    }
    const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                    [&track](const Known& one) { return one.name == track.name; });
    const Kind kind = known == kKnown.end() ? Kind::kOther : known->kind;
    Lane lane;
    lane.track = i;
    lane.label = known == kKnown.end() ? plain_label(track.name) : std::string(known->label);
    lane.limit_name = "limit";
    choose_unit(lane, track.unit, extent->high);
    lane.limit = track.limit;
    if (lane.limit) {
      *lane.limit *= lane.scale;
    } else if (kind == Kind::kTraffic && report.machine &&
               !report.machine->roofline.bandwidth.empty()) {
      lane.limit = report.machine->roofline.bandwidth.front().value;
      lane.limit_name = "roof";
    }
    const double low = extent->low * lane.scale;
    constexpr double kTens = 10;
    lane.low = kind == Kind::kTemperature ? std::floor(low / kTens) * kTens : std::min(0.0, low);
    lane.high = std::max(extent->high * lane.scale, lane.limit.value_or(lane.low));
    if (lane.high <= lane.low) {
      lane.high = lane.low + 1;
    }
    ranked.push_back({static_cast<std::size_t>(known - kKnown.begin()), kind, std::move(lane)});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  std::vector<Lane> first;
  std::vector<Lane> others;
  std::array<bool, 5> seen{};
  for (Ranked& one : ranked) {
    bool& taken = seen.at(static_cast<std::size_t>(one.kind));
    one.lane.key = one.kind != Kind::kOther && !taken;
    taken = true;
    (one.lane.key ? first : others).push_back(std::move(one.lane));
  }
  std::move(others.begin(), others.end(), std::back_inserter(first));
  first.resize(std::min(first.size(), kMostTracks));
  return first;
}

}  // namespace gputrace::report
