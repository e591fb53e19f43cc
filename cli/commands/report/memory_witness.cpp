#include "cli/commands/report/memory_witness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cli/commands/report/report_energy.h"

namespace gputrace::commands {
namespace {

using analysis::ReadingRun;
using analysis::TimeRange;
using report::Sensor;

/// Well below the distance of readings, so that a stretch hardly borrows from its neighbours.
constexpr std::int64_t kMinBinNs = 20 * kNsPerMs;
constexpr std::int64_t kMaxBins = 200'000;
constexpr double kBytesPerGb = 1e9;

/// Turns the readings of one series into rates for ranges of time.
class RateReader {
 public:
  RateReader(report::SensorKind kind, const TimeRange& within) : kind_(kind), spoken_(within) {}

  void add(const ReadingRun& run, RateTrack& track) {
    if (kind_ == report::SensorKind::kGauge) {
      add_gauge(spoken_.add(run), track);
      return;
    }
    if (run.end_ns > run.start_ns) {
      track.add({run.start_ns, run.end_ns}, 0);  // it stood still
    }
    // A smaller value is a new beginning.
    if (last_ && run.value >= last_->value && run.start_ns > last_->end_ns) {
      const double seconds = static_cast<double>(run.start_ns - last_->end_ns) / 1e9;
      track.add({last_->end_ns, run.start_ns}, (run.value - last_->value) / seconds);
    }
    last_ = run;
  }
  void finish(RateTrack& track) {
    while (const std::optional<analysis::SpokenFor::Spoken> spoken = spoken_.finish()) {
      add_gauge(spoken, track);
    }
  }

 private:
  static void add_gauge(const std::optional<analysis::SpokenFor::Spoken>& spoken,
                        RateTrack& track) {
    if (spoken) {
      track.add(spoken->range, spoken->run.value);
    }
  }

  report::SensorKind kind_;
  analysis::SpokenFor spoken_;
  std::optional<ReadingRun> last_;
};

std::optional<std::size_t> index_of(const std::vector<Sensor>& sensors, const Sensor* sensor) {
  return sensor == nullptr ? std::nullopt
                           : std::optional(static_cast<std::size_t>(sensor - sensors.data()));
}

/// One that only ever says 0 or only 100 % is not connected to anything.
const Sensor* find_activity(const std::vector<Sensor>& sensors) {
  const Sensor* sensor = find_sensor(sensors, "mem_activity", report::SensorKind::kGauge, false);
  const bool stuck = sensor != nullptr && sensor->min == sensor->max &&
                     (sensor->max == 0.0 || sensor->max == 100.0);
  return stuck ? nullptr : sensor;
}

}  // namespace

RateTrack::RateTrack(const TimeRange& within) : within_(within) {
  const std::int64_t length = std::max<std::int64_t>(1, within.end_ns - within.start_ns);
  bin_ns_ = std::max(kMinBinNs, length / kMaxBins + 1);
  bins_.resize(static_cast<std::size_t>(length / bin_ns_) + 2);
}

void RateTrack::add(const TimeRange& range, double rate) {
  std::int64_t at = std::max(range.start_ns, within_.start_ns);
  const std::int64_t end = std::min(range.end_ns, within_.end_ns);
  while (at < end) {
    const std::int64_t bin = (at - within_.start_ns) / bin_ns_;
    const std::int64_t next = std::min(end, within_.start_ns + (bin + 1) * bin_ns_);
    Sums& sums = bins_[static_cast<std::size_t>(bin)];
    sums.integral += rate * static_cast<double>(next - at);
    sums.covered_ns += static_cast<double>(next - at);
    at = next;
  }
}

void RateTrack::finish() {
  Sums total;
  for (Sums& bin : bins_) {
    const Sums own = bin;
    bin = total;
    total.integral += own.integral;
    total.covered_ns += own.covered_ns;
  }
}

RateTrack::Sums RateTrack::before(double bin) const {
  const double last = static_cast<double>(bins_.size() - 1);
  const double at = std::clamp(bin, 0.0, last);
  const auto whole = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(whole);
  const Sums& left = bins_[whole];
  const Sums& right = bins_[std::min(whole + 1, bins_.size() - 1)];
  return {left.integral + part * (right.integral - left.integral),
          left.covered_ns + part * (right.covered_ns - left.covered_ns)};
}

std::optional<double> RateTrack::mean(const TimeRange& range) const {
  if (bins_.empty() || range.end_ns <= range.start_ns) {
    return std::nullopt;
  }
  const auto bin_at = [this](std::int64_t time_ns) {
    return static_cast<double>(time_ns - within_.start_ns) / static_cast<double>(bin_ns_);
  };
  const Sums from = before(bin_at(range.start_ns));
  const Sums to = before(bin_at(range.end_ns));
  const double covered = to.covered_ns - from.covered_ns;
  if (covered <= 0 || covered < 0.5 * static_cast<double>(range.end_ns - range.start_ns)) {
    return std::nullopt;
  }
  return (to.integral - from.integral) / covered;
}

Result<MemoryTrack> MemoryTrack::load(const SensorSet& set, std::int64_t session_start_ns) {
  const std::vector<Sensor>& sensors = set.sensors();
  const DramSensors dram = dram_sensors(sensors);
  const std::optional<report::DramTraffic> summary = dram_traffic_of(sensors);
  std::map<std::size_t, RateTrack> tracks;
  for (const Sensor* sensor : {dram.read, dram.write, dram.both, find_activity(sensors)}) {
    if (const std::optional<std::size_t> index = index_of(sensors, sensor)) {
      tracks.emplace(*index, RateTrack(set.shown()));
    }
  }
  MemoryTrack out;
  out.session_start_ns_ = session_start_ns;
  for (const auto& [index, track] : tracks) {
    const Sensor& sensor = sensors[index];
    const double spacing_s =
        sensor.covered_s / static_cast<double>(std::max<std::uint64_t>(1, sensor.samples));
    out.reading_s_ = std::max(out.reading_s_, spacing_s);
    out.bin_s_ = static_cast<double>(track.bin_ns()) / 1e9;
  }
  if (tracks.empty()) {
    return out;
  }
  std::map<std::int64_t, std::pair<std::size_t, RateReader>> series;
  const Status read =
      set.for_each_run([&](std::int64_t id, std::size_t sensor, const ReadingRun& run) {
        if (const auto track = tracks.find(sensor); track != tracks.end()) {
          series.try_emplace(id, sensor, RateReader(sensors[sensor].kind, set.shown()))
              .first->second.second.add(run, track->second);
        }
      });
  if (!read) {
    return tl::unexpected<Error>(read.error());
  }
  for (auto& [id, reader] : series) {
    reader.second.finish(tracks.at(reader.first));
  }
  const auto take = [&](const Sensor* sensor) {
    RateTrack track = std::move(tracks.at(static_cast<std::size_t>(sensor - sensors.data())));
    track.finish();
    return track;
  };
  if (summary && summary->total_gbps) {
    Traffic traffic{{}, summary->source, summary->covers};
    for (const Sensor* sensor : {dram.read, dram.write, dram.both}) {
      if (sensor != nullptr) {
        traffic.parts.push_back(take(sensor));
      }
    }
    out.traffic_ = std::move(traffic);
  }
  if (const Sensor* activity = find_activity(sensors)) {
    out.activity_ = Activity{take(activity), activity->source, activity->covers};
  }
  return out;
}

std::optional<double> MemoryTrack::ceiling_gbps(const TimeRange& range) const {
  if (!ceilings_) {
    return std::nullopt;
  }
  const double copy = ceilings_->copy_gbps;
  if (!traffic_ || traffic_->parts.size() != 2) {
    return copy;
  }
  const double reads = traffic_->parts[0].mean(range).value_or(0);
  const double all = reads + traffic_->parts[1].mean(range).value_or(0);
  if (all <= 0) {
    return copy;
  }
  // How far from half and half, 0 to 1.
  const double one_sided = std::abs(2 * reads / all - 1);
  const double pure =
      (reads * 2 > all ? ceilings_->read_gbps : ceilings_->write_gbps).value_or(copy);
  return copy + one_sided * (pure - copy);
}

std::optional<double> MemoryTrack::gbps(const TimeRange& range) const {
  if (!traffic_) {
    return std::nullopt;
  }
  double sum = 0;
  for (const RateTrack& part : traffic_->parts) {
    const std::optional<double> rate = part.mean(range);
    if (!rate) {
      return std::nullopt;
    }
    sum += *rate / kBytesPerGb;
  }
  return sum;
}

std::optional<analysis::MemoryWitness> MemoryTrack::at(double start_s, double end_s) const {
  const auto time_ns = [this](double at_s) {
    return session_start_ns_ + static_cast<std::int64_t>(at_s * 1e9);
  };
  // The reading over a change is of both of its sides.
  const double edge_s = std::min(reading_s_ + bin_s_, (end_s - start_s) / 4);
  const TimeRange range{time_ns(start_s + edge_s), time_ns(end_s - edge_s)};
  analysis::MemoryWitness witness;
  witness.gbps = gbps(range);
  if (activity_) {
    const std::optional<double> percent = activity_->percent.mean(range);
    witness.activity = percent ? std::optional(*percent / 100) : std::nullopt;
    witness.source = activity_->source;
    witness.covers = activity_->covers;
  }
  if (!witness.gbps && !witness.activity) {
    return std::nullopt;
  }
  if (witness.gbps && traffic_) {
    witness.source = traffic_->source;
    witness.covers = traffic_->covers;
    witness.ceiling_gbps = ceiling_gbps(range);
    witness.ceiling_source = ceilings_ ? ceilings_->source : "";
  }
  return witness;
}

}  // namespace gputrace::commands
