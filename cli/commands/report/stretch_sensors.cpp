#include "cli/commands/report/stretch_sensors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "cli/commands/report/sensor_sums.h"

namespace gputrace::commands {
namespace {

using analysis::ReadingRun;
using analysis::TimeRange;
using report::Sensor;

class StretchCollector {
 public:
  StretchCollector(const std::vector<Sensor>& sensors, std::span<const TimeRange> stretches)
      : sensors_(&sensors), stretches_(stretches), sums_(sensors.size()) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const Sensor& sensor = sensors[i];
      const bool chosen =
          sensor.kind != report::SensorKind::kBits && !is_numbered(sensor) &&
          find_sensor(sensors, sensor.name, sensor.kind, sensor.of_machine) == &sensor;
      if (chosen) {
        sums_[i].resize(stretches.size());
      }
    }
  }

  void add(std::int64_t series, std::size_t sensor, const ReadingRun& run) {
    if (sums_[sensor].empty()) {
      return;
    }
    Series& state = series_.try_emplace(series, Series{sensor, 0, std::nullopt}).first->second;
    std::size_t at = state.stretch;
    while (at < stretches_.size() && stretches_[at].end_ns <= run.start_ns) {
      ++at;
    }
    for (; at < stretches_.size() && stretches_[at].start_ns <= run.end_ns; ++at) {
      if (at != state.stretch || !state.sums) {
        close(state);
        state.stretch = at;
        state.sums.emplace((*sensors_)[sensor].kind, stretches_[at]);
      }
      state.sums->add(part_of(run, stretches_[at]));
    }
  }

  std::vector<std::vector<Sensor>> take() {
    for (auto& [id, state] : series_) {
      close(state);
    }
    std::vector<std::vector<Sensor>> out(stretches_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      for (std::size_t at = 0; at < sums_[i].size(); ++at) {
        if (const std::optional<SensorSums>& sums = sums_[i][at]) {
          Sensor sensor = (*sensors_)[i];
          sums->fill(sensor);
          out[at].push_back(std::move(sensor));
        }
      }
    }
    return out;
  }

 private:
  struct Series {
    std::size_t sensor = 0;
    std::size_t stretch = 0;
    std::optional<SensorSums> sums;  ///< of that stretch
  };

  void close(Series& state) {
    if (!state.sums) {
      return;
    }
    state.sums->finish();
    std::optional<SensorSums>& total = sums_[state.sensor][state.stretch];
    if (total) {
      total->merge(*state.sums);
    } else {
      total = std::move(state.sums);
    }
    state.sums.reset();
  }

  const std::vector<Sensor>* sensors_;
  std::span<const TimeRange> stretches_;
  std::vector<std::vector<std::optional<SensorSums>>> sums_;  ///< [sensor][stretch]
  std::map<std::int64_t, Series> series_;
};

}  // namespace

ReadingRun part_of(const ReadingRun& run, const TimeRange& stretch) {
  if (run.readings < 2 || run.end_ns <= run.start_ns) {
    return run;
  }
  const double step = static_cast<double>(run.end_ns - run.start_ns) / (run.readings - 1);
  const auto readings_before = [&](std::int64_t time_ns) {
    const double steps = std::ceil(static_cast<double>(time_ns - run.start_ns) / step);
    return static_cast<std::uint32_t>(std::clamp(steps, 0.0, static_cast<double>(run.readings)));
  };
  const std::uint32_t first = readings_before(stretch.start_ns);
  const std::uint32_t end = readings_before(stretch.end_ns);
  if (first >= end) {
    const std::int64_t at = std::clamp(stretch.start_ns, run.start_ns, run.end_ns);
    return {at, std::clamp(stretch.end_ns, at, run.end_ns), 1, run.value};
  }
  const auto time_of = [&](std::uint32_t reading) {
    return run.start_ns + static_cast<std::int64_t>(reading * step);
  };
  return {time_of(first), time_of(end - 1), end - first, run.value};
}

Result<std::vector<std::vector<Sensor>>> sensors_of_stretches(
    const SensorSet& set, std::span<const TimeRange> stretches) {
  StretchCollector collector(set.sensors(), stretches);
  if (stretches.empty()) {
    return collector.take();
  }
  const Status read =
      set.for_each_run([&](std::int64_t series, std::size_t sensor, const ReadingRun& run) {
        collector.add(series, sensor, run);
      });
  if (!read) {
    return tl::unexpected<Error>(read.error());
  }
  return collector.take();
}

}  // namespace gputrace::commands
