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

struct Batch {
  double mean = 0;
  double weight = 1;  ///< what it counts for in the mean of all
};

/// 95 %, about the mean of all that is told: batches that know less than others, or the time
/// between two of them, make that of the batches another one. Absent for too few.
std::optional<Interval> interval_about(double told, const std::vector<Batch>& batches) {
  double weights = 0;
  double sum = 0;
  for (const Batch& batch : batches) {
    weights += batch.weight;
    sum += batch.weight * batch.mean;
  }
  if (batches.size() < kMinBatches || weights <= 0) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(batches.size());
  double squares = 0;  // of a weighted mean's error
  for (const Batch& batch : batches) {
    const double error = batch.weight / weights * (batch.mean - sum / weights);
    squares += error * error;
  }
  const double half = analysis::t_quantile(0.975, n - 1) * std::sqrt(squares * n / (n - 1));
  return Interval{told - half, told + half};
}

Status add_sensors(const SensorSet& set, const std::vector<TimeRange>& cuts,
                   const report::Report& report, Batches& batches) {
  const auto of_batches = sensors_of_stretches(set, cuts);
  if (!of_batches) {
    return tl::unexpected<Error>(of_batches.error());
  }
  std::map<std::pair<std::string, std::string>, std::vector<Batch>> means;
  for (const std::vector<report::Sensor>& batch : *of_batches) {
    for (const report::Sensor& sensor : batch) {
      if (sensor.kind == report::SensorKind::kGauge && sensor.mean) {
        means[{sensor.name, sensor.source}].push_back({*sensor.mean, sensor.covered_s});
      }
    }
  }
  for (const report::Sensor& sensor : report.sensors) {
    const auto found = means.find({sensor.name, sensor.source});
    if (found == means.end() || !sensor.mean) {
      continue;
    }
    if (const std::optional<Interval> interval = interval_about(*sensor.mean, found->second)) {
      batches.sensors.push_back({sensor.name, sensor.source, *interval});
    }
  }
  return {};
}

Status add_dram(const SensorSet& set, const std::vector<TimeRange>& cuts,
                const report::Report& report, Batches& batches) {
  if (!report.dram || !report.dram->total_gbps) {
    return {};
  }
  const Result<MemoryTrack> memory = MemoryTrack::load(set, set.shown().start_ns);
  if (!memory) {
    return tl::unexpected<Error>(memory.error());
  }
  std::vector<Batch> means;
  for (const TimeRange& batch : cuts) {
    if (const std::optional<double> gbps = memory->gbps(batch)) {
      means.push_back({.mean = *gbps});
    }
  }
  batches.dram_gbps = interval_about(*report.dram->total_gbps, means);
  return {};
}

Status add_frames(const store::SessionReader& session, const TimeRange& range,
                  const report::Report& report, Batches& batches) {
  if (!report.frames || report.frames->fps <= 0) {
    return {};
  }
  const Result<std::vector<store::Frame>> frames =
      session.frames(store::TimeSpan{range.start_ns, range.end_ns});
  if (!frames) {
    return tl::unexpected<Error>(frames.error());
  }
  std::vector<Batch> means;
  const std::size_t count = frames->size();
  for (std::size_t batch = 0; batch < kMostBatches && count >= kMostBatches; ++batch) {
    const std::size_t begin = count * batch / kMostBatches;
    const std::size_t end = count * (batch + 1) / kMostBatches;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += static_cast<double>((*frames)[i].duration_ns) / 1e6;
    }
    const auto in_batch = static_cast<double>(end - begin);
    means.push_back({.mean = sum / in_batch, .weight = in_batch});
  }
  batches.frame_time_ms = interval_about(1000 / report.frames->fps, means);
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
    if (const Status status = add_sensors(*set, cuts, report, batches); !status) {
      return tl::unexpected<Error>(status.error());
    }
    if (const Status status = add_dram(*set, cuts, report, batches); !status) {
      return tl::unexpected<Error>(status.error());
    }
  }
  if (const Status status = add_frames(session, *range, report, batches); !status) {
    return tl::unexpected<Error>(status.error());
  }
  return batches;
}

}  // namespace gputrace::commands
