#include "cli/commands/compare/batches.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "cli/analysis/student.h"
#include "cli/commands/report/memory_witness.h"
#include "cli/commands/report/sensor_set.h"
#include "cli/commands/report/stretch_sensors.h"

namespace gputrace::commands {
namespace {

using analysis::Interval;
using analysis::TimeRange;

constexpr double kNsPerSecond = 1e9;

/// What the report is about, on the recording's own clock. Absent when the session holds nothing.
std::optional<TimeRange> shown_range(const store::SessionReader& session,
                                     const report::Report& report) {
  const std::optional<store::TimeSpan> span = session.span();
  if (!span || !report.session.duration_s) {
    return std::nullopt;
  }
  const auto& started = session.description().started;
  const std::int64_t start = started ? started->monotonic_ns : span->start_ns;
  const auto at = [start](double seconds) {
    return start + static_cast<std::int64_t>(seconds * kNsPerSecond);
  };
  return report.selection ? TimeRange{at(report.selection->from_s), at(report.selection->to_s)}
                          : TimeRange{start, at(*report.session.duration_s)};
}

std::vector<TimeRange> cut(const TimeRange& range) {
  const auto length = static_cast<double>(range.end_ns - range.start_ns);
  const auto count =
      std::min(kMostBatches, static_cast<std::size_t>(std::max(0.0, length / kNsPerSecond)));
  std::vector<TimeRange> batches;
  if (count < kMinBatches) {
    return batches;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto edge = [&](std::size_t n) {
      return range.start_ns + static_cast<std::int64_t>(length * static_cast<double>(n) /
                                                        static_cast<double>(count));
    };
    batches.push_back({edge(i), edge(i + 1)});
  }
  return batches;
}

/// 95 %, of the mean of all; absent for too few.
std::optional<Interval> interval_of(const std::vector<double>& means) {
  if (means.size() < kMinBatches) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(means.size());
  double sum = 0;
  for (const double mean : means) {
    sum += mean;
  }
  double squares = 0;
  for (const double mean : means) {
    squares += (mean - sum / n) * (mean - sum / n);
  }
  const double half = analysis::t_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
  return Interval{sum / n - half, sum / n + half};
}

Status add_sensors(const SensorSet& set, const std::vector<TimeRange>& cuts, Batches& batches) {
  const auto of_batches = sensors_of_stretches(set, cuts);
  if (!of_batches) {
    return tl::unexpected<Error>(of_batches.error());
  }
  std::map<std::pair<std::string, std::string>, std::vector<double>> means;
  for (const std::vector<report::Sensor>& batch : *of_batches) {
    for (const report::Sensor& sensor : batch) {
      if (sensor.kind == report::SensorKind::kGauge && sensor.mean) {
        means[{sensor.name, sensor.source}].push_back(*sensor.mean);
      }
    }
  }
  for (const auto& [key, values] : means) {
    if (const std::optional<Interval> interval = interval_of(values)) {
      batches.sensors.push_back({key.first, key.second, *interval});
    }
  }
  return {};
}

Status add_dram(const SensorSet& set, const std::vector<TimeRange>& cuts, Batches& batches) {
  const Result<MemoryTrack> memory = MemoryTrack::load(set, set.shown().start_ns);
  if (!memory) {
    return tl::unexpected<Error>(memory.error());
  }
  std::vector<double> means;
  for (const TimeRange& batch : cuts) {
    if (const std::optional<double> gbps = memory->gbps(batch)) {
      means.push_back(*gbps);
    }
  }
  batches.dram_gbps = interval_of(means);
  return {};
}

Status add_frames(const store::SessionReader& session, const TimeRange& range, Batches& batches) {
  const Result<std::vector<store::Frame>> frames =
      session.frames(store::TimeSpan{range.start_ns, range.end_ns});
  if (!frames) {
    return tl::unexpected<Error>(frames.error());
  }
  std::vector<double> means;
  const std::size_t count = frames->size();
  for (std::size_t batch = 0; batch < kMostBatches && count >= kMostBatches; ++batch) {
    const std::size_t begin = count * batch / kMostBatches;
    const std::size_t end = count * (batch + 1) / kMostBatches;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += static_cast<double>((*frames)[i].duration_ns) / 1e6;
    }
    means.push_back(sum / static_cast<double>(end - begin));
  }
  batches.frame_time_ms = interval_of(means);
  return {};
}

}  // namespace

std::optional<Interval> Batches::of_sensor(std::string_view name, std::string_view source) const {
  const auto found = std::find_if(sensors.begin(), sensors.end(), [&](const SensorInterval& it) {
    return it.name == name && it.source == source;
  });
  return found == sensors.end() ? std::nullopt : std::optional(found->interval);
}

Result<Batches> batches_of(const store::SessionReader& session, const report::Report& report) {
  Batches batches;
  const std::optional<TimeRange> range = shown_range(session, report);
  if (!range) {
    return batches;
  }
  const std::vector<TimeRange> cuts = cut(*range);
  const Timeline timeline = make_timeline(range->start_ns, range->end_ns, 1, true);
  const Result<SensorSet> set =
      SensorSet::load(session, timeline, report.gpu.pci.value_or(std::string()));
  if (!set) {
    return tl::unexpected<Error>(set.error());
  }
  if (!cuts.empty()) {
    if (const Status status = add_sensors(*set, cuts, batches); !status) {
      return tl::unexpected<Error>(status.error());
    }
    if (const Status status = add_dram(*set, cuts, batches); !status) {
      return tl::unexpected<Error>(status.error());
    }
  }
  if (const Status status = add_frames(session, *range, batches); !status) {
    return tl::unexpected<Error>(status.error());
  }
  return batches;
}

}  // namespace gputrace::commands
