#include "cli/commands/report/sensor_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "cli/commands/report/report_energy.h"
#include "cli/commands/report/sensor_set.h"
#include "cli/report/text_format.h"

namespace gputrace::commands {
namespace {

using report::format_count;
using report::format_percent;
using report::Report;
using report::Sensor;
using report::SensorKind;
using report::Unit;
using report::Warning;

/// Two series of fewer readings than these may differ by when they were read.
constexpr std::uint64_t kMinReadings = 30;
/// A busy percentage is an average over some milliseconds, GUI_ACTIVE one of instants: both means
/// agree within a few points over a recording.
constexpr double kActivityDistance = 0.25;
constexpr double kStuckDistance = 0.1;
/// Firmware filters power, and counts in steps of up to 1 W.
constexpr double kPowerShare = 0.15;
constexpr double kPowerStepW = 1;
constexpr double kClockShare = 0.15;
/// Firmware filters what it reports by up to about this time constant, so that each change of the
/// load moves the mean of a recording of length T by up to kFilterS / T of the change.
constexpr double kFilterS = 2;
/// The load differed by so much for kSteadyS: what follows it must have moved.
constexpr double kLoadChanged = 0.5;
constexpr double kSteadyS = 2;
/// A clock may stand at its limit through all loads but this one.
constexpr double kIdleLoad = 0.1;
/// Clocks of a GPU that idles mean something else to each source.
constexpr double kLoadOfClocks = 0.5;
/// More unknown samples than these, and GUI_ACTIVE is no witness.
constexpr double kUnknownShare = 0.05;
/// Two means of one stretch of time: the shorter one covers so much of the longer one.
constexpr double kSameStretch = 0.9;
/// Fewer reads without a value than this share harm nothing.
constexpr double kBadReads = 0.01;

const Unit* find_pipe(const Report& report) {
  const auto it = std::find_if(report.units.begin(), report.units.end(), [](const Unit& unit) {
    return is_whole_pipe(unit) && unit.samples.value_or(0) >= analysis::kMinSamplesForInterval;
  });
  if (unknown_share(report.sampling) > kUnknownShare) {
    return nullptr;
  }
  return it == report.units.end() ? nullptr : &*it;
}

std::string pipe_text(const Unit& pipe) {
  return fmt::format("{} was set in {} of {} samples", pipe.name, format_percent(pipe.busy),
                     format_count(pipe.samples.value_or(0)));
}

std::string readings_text(const Sensor& sensor) {
  return fmt::format("{} readings", format_count(sensor.samples));
}

double filter_error(const Sensor& sensor) {
  return sensor.covered_s > 0 ? kFilterS / sensor.covered_s : 1;
}

/// A unit's share is of the time awake; a busy percentage may count sleep as idle or not.
analysis::Interval activity_expected(const Report& report, const Unit& pipe) {
  return {pipe.busy * (1 - report.sampling.asleep_share.value_or(0)), pipe.busy};
}

void warn_activity(const Report& report, std::vector<Warning>& out) {
  const Unit* pipe = find_pipe(report);
  if (pipe == nullptr) {
    return;
  }
  const analysis::Interval expected = activity_expected(report, *pipe);
  for (const Sensor& sensor : report.sensors) {
    if (sensor.name != "gfx_activity" || sensor.of_machine || !sensor.mean ||
        sensor.samples < analysis::kMinSamplesForInterval) {
      continue;
    }
    if (is_activity_stuck(sensor, report)) {
      out.push_back(
          {"activity_stuck",
           fmt::format("{} said {:.0f} % in all of {}, while {}: it does not follow "
                       "the load.",
                       sensor.source, *sensor.mean, readings_text(sensor), pipe_text(*pipe)),
           "go by the units: the driver of some chips (Raven, Picasso) is known to say "
           "100 % always."});
    } else if (const double said = *sensor.mean / 100;
               sensor.samples >= kMinReadings &&
               std::max(expected.lower - said, said - expected.upper) >
                   kActivityDistance + filter_error(sensor)) {
      out.push_back(
          {"activity_conflict",
           fmt::format("{} says {:.0f} % busy (mean of {}), while {}: one of them is "
                       "wrong.",
                       sensor.source, *sensor.mean, readings_text(sensor), pipe_text(*pipe)),
           "go by the units: their samples are the register itself."});
    }
  }
}

/// Means of one quantity from several sources; covers tells apart what is not the same quantity.
struct Opinion {
  std::string source;
  double mean = 0;
  double covered_s = 0;
  double filter_error = 0;  ///< by which the mean may be off, in its unit
};

Opinion opinion_of(const Sensor& sensor) {
  const double mean = sensor.mean.value_or(0);
  const double range = sensor.max.value_or(mean) - sensor.min.value_or(mean);
  return {sensor.source, mean, sensor.covered_s, range * filter_error(sensor)};
}

void warn_opinions(std::string_view code, std::string_view quantity, std::string_view unit,
                   const std::vector<Opinion>& opinions, double share, double step,
                   std::string_view hint, std::vector<Warning>& out) {
  if (opinions.size() < 2) {
    return;
  }
  const auto [low, high] =
      std::minmax_element(opinions.begin(), opinions.end(),
                          [](const Opinion& a, const Opinion& b) { return a.mean < b.mean; });
  const auto [shorter, longer] = std::minmax(low->covered_s, high->covered_s);
  if (shorter >= kSameStretch * longer &&
      high->mean - low->mean >
          std::max(share * high->mean, step) + std::max(low->filter_error, high->filter_error)) {
    out.push_back(
        {std::string(code),
         fmt::format("two sources disagree on {}: {:.1f} {} by {}, {:.1f} {} by {}.", quantity,
                     high->mean, unit, high->source, low->mean, unit, low->source),
         std::string(hint)});
  }
}

void warn_power(const Report& report, std::vector<Warning>& out) {
  std::vector<Opinion> opinions;
  const Sensor* first = nullptr;
  for (const Sensor& sensor : report.sensors) {
    if (sensor.name == "package_power" && !sensor.of_machine && sensor.mean &&
        sensor.samples >= kMinReadings && (first == nullptr || first->covers == sensor.covers)) {
      first = first == nullptr ? &sensor : first;
      opinions.push_back(opinion_of(sensor));
    }
  }
  const Sensor* counter = find_sensor(report.sensors, "package_energy", SensorKind::kCounter, true);
  if (first != nullptr && covers_cpu(*first) && counter != nullptr &&
      counter->samples >= kMinReadings && counter->covered_s > 0) {
    opinions.push_back(
        {counter->source, counter->total.value_or(0) / counter->covered_s, counter->covered_s, 0});
  }
  warn_opinions("power_conflict", "package power", "W", opinions, kPowerShare, kPowerStepW,
                "they may include different parts, or one of them is in another unit; compare "
                "with a meter before you trust either.",
                out);
}

void warn_clocks(const Report& report, std::vector<Warning>& out) {
  if (const Unit* pipe = find_pipe(report); pipe != nullptr && pipe->busy < kLoadOfClocks) {
    return;
  }
  for (const std::string_view name : {"gfx_clock", "mem_clock"}) {
    std::vector<Opinion> opinions;
    for (const Sensor& sensor : report.sensors) {
      // pp_dpm_* tells the level that is asked for, not what the clock does.
      if (sensor.name == name && !sensor.of_machine && sensor.mean &&
          sensor.samples >= kMinReadings && sensor.source.rfind("pp_dpm", 0) != 0) {
        opinions.push_back(opinion_of(sensor));
      }
    }
    warn_opinions("clock_conflict", name, "MHz", opinions, kClockShare, 0,
                  "firmware of some chips leaves one of its clock values unused; one that never "
                  "moves is the wrong one.",
                  out);
  }
}

/// The lowest and the highest load that lasted for kSteadyS, by the columns of the band; absent for
/// a shorter recording. Frames and pauses between them are shorter, and move no clock.
std::optional<analysis::Interval> load_range(const Report& report) {
  if (report.band.rows.empty() || !(report.band.column_s > 0)) {
    return std::nullopt;
  }
  const auto steady =
      static_cast<std::size_t>(std::max(1.0, std::ceil(kSteadyS / report.band.column_s)));
  std::optional<analysis::Interval> range;
  double sum = 0;
  std::size_t count = 0;
  for (const report::BandCell& cell : report.band.rows.front().cells) {
    if (cell.state != report::BandState::kMeasured) {
      sum = 0;
      count = 0;
      continue;
    }
    sum += cell.busy;
    if (++count == steady) {
      const double load = sum / static_cast<double>(steady);
      range = range ? analysis::Interval{std::min(range->lower, load), std::max(range->upper, load)}
                    : analysis::Interval{load, load};
      sum = 0;
      count = 0;
    }
  }
  return range;
}

void warn_standing_still(const Report& report, std::vector<Warning>& out) {
  static constexpr std::array<std::string_view, 4> kFollowLoad{"package_power", "gfx_power",
                                                               "gfx_clock", "gfx_clock_average"};
  const std::optional<analysis::Interval> load = load_range(report);
  if (!load || load->upper - load->lower < kLoadChanged) {
    return;
  }
  for (const Sensor& sensor : report.sensors) {
    const bool follows =
        std::find(kFollowLoad.begin(), kFollowLoad.end(), sensor.name) != kFollowLoad.end();
    const bool clock = sensor.unit == "MHz";
    if (follows && sensor.mean && sensor.min == sensor.max && sensor.samples >= kMinReadings &&
        (!clock || load->lower < kIdleLoad)) {
      out.push_back(
          {"sensor_stuck",
           fmt::format("{} of {} was {:g} {} in all of {}, although the load changed.", sensor.name,
                       sensor.source, *sensor.mean, sensor.unit, readings_text(sensor)),
           "a clock may be held there (power_dpm_force_performance_level); else do not "
           "trust the sensor."});
    }
  }
}

void warn_dead_counters(const Report& report, std::vector<Warning>& out) {
  const Unit* pipe = find_pipe(report);
  if (pipe == nullptr || pipe->busy < kStuckDistance) {
    return;
  }
  for (const Sensor& sensor : report.sensors) {
    const bool must_move = sensor.name.rfind("dram_", 0) == 0 || sensor.name == "package_energy";
    if (must_move && sensor.kind == SensorKind::kCounter && sensor.samples >= kMinReadings &&
        sensor.total && *sensor.total <= 0) {
      out.push_back({"counter_stuck",
                     fmt::format("{} of {} never moved in {}: it counts nothing on this machine, "
                                 "which is not the same as 0.",
                                 sensor.name, sensor.source, readings_text(sensor)),
                     ""});
    }
  }
}

void warn_sources(const Report& report, std::vector<Warning>& out) {
  std::string text;
  for (const report::SensorSource& source : report.sensor_sources) {
    const std::uint64_t bad = source.rejected + source.failed + source.late;
    const bool few = static_cast<double>(bad) <= kBadReads * static_cast<double>(attempts(source));
    if (source.problem.empty() && few) {
      continue;
    }
    text += fmt::format("{}{}: ", text.empty() ? "" : "; ", source.name);
    if (bad > 0) {
      text += fmt::format("{} of {} reads gave nothing (rejected {}, failed {}, late {})",
                          format_count(bad), format_count(attempts(source)),
                          format_count(source.rejected), format_count(source.failed),
                          format_count(source.late));
    }
    if (!source.problem.empty()) {
      text += fmt::format("{}{}", bad > 0 ? ", " : "", source.problem);
    }
  }
  if (!text.empty()) {
    out.push_back({"sensor_sources", text + ". Nothing stands for that time.",
                   "`gputrace doctor` says what each source of this machine lacks."});
  }
}

bool has_dram_series(const Report& report) {
  return std::any_of(report.sensors.begin(), report.sensors.end(), [](const Sensor& sensor) {
    return sensor.name.rfind("dram_", 0) == 0 && sensor.samples > 0;
  });
}

/// What a stronger verdict would need. Old files and imports have no sensors to speak of.
void warn_missing(const Report& report, std::vector<Warning>& out) {
  if (report.session.imported || report.gpu.simulated || report.sensor_sources.empty() ||
      has_dram_series(report)) {
    return;
  }
  out.push_back({"no_dram_traffic",
                 "DRAM traffic was not counted: high bandwidth and slow answers of memory cannot "
                 "be told apart.",
                 "gputraced counts it where the machine can; without it that takes CAP_PERFMON or "
                 "kernel.perf_event_paranoid <= 0. `gputrace doctor` says what is missing."});
}

void warn_other_gpu(const Report& report, std::vector<Warning>& out) {
  if (!report.gpu.pci || report.processes.empty()) {
    return;
  }
  const auto works_elsewhere = [&report](const report::Process& process) {
    return process.gpu != *report.gpu.pci;
  };
  if (std::all_of(report.processes.begin(), report.processes.end(), works_elsewhere)) {
    out.push_back({"other_gpu",
                   fmt::format("the recorded processes used the GPU {} and never {}, which was "
                               "sampled: its units and sensors are not about them.",
                               report.processes.front().gpu, *report.gpu.pci),
                   "record again with --gpu " + report.processes.front().gpu + "."});
  }
}

}  // namespace

bool is_activity_stuck(const Sensor& sensor, const Report& report) {
  const Unit* pipe = find_pipe(report);
  if (pipe == nullptr || !sensor.min || !sensor.max ||
      sensor.samples < analysis::kMinSamplesForInterval) {
    return false;
  }
  const double distance = kStuckDistance + filter_error(sensor);
  return (*sensor.min >= 99.5 && pipe->busy < 1 - distance) ||
         (*sensor.max <= 0.5 && activity_expected(report, *pipe).lower > distance);
}

void warn_sensors(const Report& report, std::vector<Warning>& out) {
  warn_other_gpu(report, out);
  warn_activity(report, out);
  warn_power(report, out);
  warn_clocks(report, out);
  warn_standing_still(report, out);
  warn_dead_counters(report, out);
  warn_sources(report, out);
  warn_missing(report, out);
}

}  // namespace gputrace::commands
