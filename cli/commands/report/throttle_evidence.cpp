#include "cli/commands/report/throttle_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cli/commands/report/report_energy.h"
#include "cli/commands/report/report_throttling.h"

namespace gputrace::commands {
namespace {

using report::Sensor;
using report::SensorKind;

constexpr std::string_view kTemperature = "_temperature";
/// amdgpu's temp2_crit is 110 C on boards from Navi on; the maximum junction temperature that AMD
/// states for its APUs (Ryzen 7040 series) is 100 C.
constexpr double kUsualJunctionLimitC = 110;
constexpr double kUsualLimitC = 100;

bool is_junction(const Sensor& sensor) {
  return sensor.name.rfind("junction", 0) == 0;
}

double usual_limit_c(const Sensor& temperature) {
  return is_junction(temperature) ? kUsualJunctionLimitC : kUsualLimitC;
}

/// Of those that never came near the limit nothing needs to be read again.
bool was_hot(const Sensor& sensor) {
  return sensor.name.find(kTemperature) != std::string::npos && sensor.unit == "C" &&
         sensor.kind == SensorKind::kGauge && sensor.max &&
         *sensor.max >= usual_limit_c(sensor) - kNearLimitC;
}

/// A word in the name of a bit, and how the temperatures begin that it is about.
struct Place {
  std::string_view word;
  std::vector<std::string_view> sensors;
};

/// TEMP_VR_MEM is about a voltage regulator: first come, first served. A bit without a place here
/// (PROCHOT, TEMP_SKIN) is about any temperature.
bool is_about(std::string bit, const Sensor& temperature) {
  static const std::vector<Place> kPlaces{
      {"vr", {"vr"}},           {"liquid", {"liquid"}},
      {"plx", {"plx"}},         {"hotspot", {"junction", "hotspot"}},
      {"edge", {"edge"}},       {"mem", {"mem", "hbm"}},
      {"soc", {"soc"}},         {"core", {"core", "l3", "cpu"}},
      {"gpu", {"gfx", "edge"}}, {"gfx", {"gfx", "edge"}},
  };
  std::transform(bit.begin(), bit.end(), bit.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (bit.rfind("prochot", 0) == 0) {  // a pin that any part of the machine may pull
    return true;
  }
  const auto place = std::find_if(kPlaces.begin(), kPlaces.end(), [&bit](const Place& known) {
    return bit.find(known.word) != std::string::npos;
  });
  return place == kPlaces.end() ||
         std::any_of(place->sensors.begin(), place->sensors.end(), [&](std::string_view begins) {
           return temperature.name.rfind(begins, 0) == 0;
         });
}

std::optional<std::size_t> index_in(const std::vector<Sensor>& sensors, const Sensor* sensor) {
  return sensor == nullptr ? std::nullopt
                           : std::optional(static_cast<std::size_t>(sensor - sensors.data()));
}

/// A gauge of the GPU.
std::optional<std::size_t> find_gauge(const std::vector<Sensor>& sensors, std::string_view name) {
  return index_in(sensors, find_sensor(sensors, name, SensorKind::kGauge, false));
}

}  // namespace

std::set<std::size_t> Witnesses::all() const {
  std::set<std::size_t> indices(temperatures.begin(), temperatures.end());
  for (const std::optional<std::size_t>& index : {power, cap, clock, activity}) {
    if (index) {
      indices.insert(*index);
    }
  }
  return indices;
}

Witnesses choose_witnesses(const SensorSet& set, bool use_activity) {
  const std::vector<Sensor>& sensors = set.sensors();
  Witnesses witnesses;
  witnesses.power = find_gauge(sensors, "package_power");
  const bool one_package = witnesses.power && covers_cpu(sensors[*witnesses.power]);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    // The CPU's temperature can throttle a GPU only where both share a package.
    if (was_hot(sensors[i]) && (!sensors[i].of_machine || one_package) &&
        witnesses.temperatures.size() < kMaxSensorsJudged) {
      witnesses.temperatures.push_back(i);
    }
  }
  witnesses.cap = find_gauge(sensors, "power_cap");
  const bool near_cap = witnesses.power && witnesses.cap &&
                        sensors[*witnesses.power].max.value_or(0) >=
                            kNearCap * sensors[*witnesses.cap].min.value_or(0);
  if (!near_cap) {
    witnesses.power.reset();
    witnesses.cap.reset();
  }
  witnesses.clock = find_gauge(sensors, "gfx_clock");
  if (!witnesses.clock) {
    witnesses.clock = find_gauge(sensors, "gfx_clock_average");
  }
  if (use_activity) {
    witnesses.activity = find_gauge(sensors, "gfx_activity");
  }
  return witnesses;
}

ThrottleEvidence::Witness ThrottleEvidence::open(const SensorSet& set,
                                                 const SensorSet::RunsOfSensors& runs,
                                                 std::size_t index) {
  const std::vector<analysis::ReadingRun>& readings = runs.at(index);
  std::vector<analysis::TimeRange> ranges = analysis::spoken_for(readings, set.shown());
  const analysis::SeriesCursor cursor(readings, ranges);  // a move leaves the ranges in place
  return {std::move(ranges), cursor};
}

ThrottleEvidence::ThrottleEvidence(const SensorSet& set, const Witnesses& witnesses,
                                   const SensorSet::RunsOfSensors& runs) {
  const std::vector<Sensor>& sensors = set.sensors();
  for (const std::size_t index : witnesses.temperatures) {
    temperatures_.push_back(
        {open(set, runs, index), &sensors[index], usual_limit_c(sensors[index])});
  }
  const auto open_if = [&](const std::optional<std::size_t>& index, std::optional<Witness>& into) {
    if (index) {
      into = open(set, runs, *index);
    }
  };
  open_if(witnesses.power, power_);
  open_if(witnesses.cap, cap_);
  open_if(witnesses.clock, clock_);
  open_if(witnesses.activity, activity_);
  clock_name_ = witnesses.clock ? sensors[*witnesses.clock].name : "";
}

std::string ThrottleEvidence::heat_text(std::size_t temperature, double celsius) const {
  const Temperature& hot = temperatures_[temperature];
  return fmt::format("{} up to {:.0f} C, usual limit {:.0f} C", hot.sensor->name, celsius,
                     hot.limit_c);
}

void ThrottleEvidence::begin(const std::string& bit) {
  for (Temperature& temperature : temperatures_) {
    temperature.witness.cursor.rewind();
    temperature.asked = is_about(bit, *temperature.sensor);
  }
  for (std::optional<Witness>* witness : {&power_, &cap_, &clock_, &activity_}) {
    if (*witness) {
      (*witness)->cursor.rewind();
    }
  }
}

Moment ThrottleEvidence::at(std::int64_t time_ns) {
  const auto ask = [time_ns](std::optional<Witness>& witness) {
    return witness ? witness->cursor.at(time_ns) : std::nullopt;
  };
  Moment moment;
  double nearest = kNearLimitC;
  for (std::size_t i = 0; i < temperatures_.size(); ++i) {
    const std::optional<double> celsius =
        temperatures_[i].asked ? temperatures_[i].witness.cursor.at(time_ns) : std::nullopt;
    if (celsius && temperatures_[i].limit_c - *celsius <= nearest) {
      nearest = temperatures_[i].limit_c - *celsius;
      moment.hot = i;
      moment.hot_c = *celsius;
    }
  }
  const std::optional<double> power = ask(power_);
  moment.cap_w = ask(cap_);
  if (power && moment.cap_w && *moment.cap_w > 0 && *power >= kNearCap * *moment.cap_w) {
    moment.power_w = power;
  }
  const std::optional<double> activity = ask(activity_);
  const std::optional<double> clock = ask(clock_);
  if (activity && *activity >= kBusyPercent) {
    moment.busy_clock_mhz = clock;
  }
  return moment;
}

}  // namespace gputrace::commands
