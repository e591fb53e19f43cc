#include "cli/commands/report/sensor_set.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/commands/report/sensor_sums.h"

namespace gputrace::commands {
namespace {

using analysis::ReadingRun;
using report::Sensor;

report::SensorKind kind_of(sampler::SensorKind kind) {
  switch (kind) {
    case sampler::SensorKind::kGauge:
      return report::SensorKind::kGauge;
    case sampler::SensorKind::kCounter:
      return report::SensorKind::kCounter;
    case sampler::SensorKind::kBits:
      break;
  }
  return report::SensorKind::kBits;
}

/// CPU temperature, energy and DRAM traffic, by the names of their readers (daemon/os/sensors).
bool is_of_machine(std::string_view source) {
  static constexpr std::array<std::string_view, 3> kOfMachine{"pmu ", "powercap", "k10temp"};
  return std::any_of(kOfMachine.begin(), kOfMachine.end(), [source](std::string_view part) {
    return source.find(part) != std::string_view::npos;
  });
}

ReadingRun reading_run(const store::SensorRun& run) {
  return {run.start_ns, run.end_ns, run.readings, run.value};
}

}  // namespace

SensorSet::SensorSet(const store::SessionReader& session, const Timeline& timeline)
    : session_(&session),
      shown_{timeline.start_ns, timeline.end_ns},
      selection_(timeline.selection) {}

Result<SensorSet> SensorSet::load(const store::SessionReader& session, const Timeline& timeline,
                                  const std::string& gpu_pci) {
  const Result<std::vector<store::StoredSensorSource>> stored = session.sensor_sources();
  if (!stored) {
    return tl::unexpected<Error>(stored.error());
  }
  SensorSet set(session, timeline);
  for (const store::StoredSensorSource& source : *stored) {
    if (source.source.gpu_pci && *source.source.gpu_pci != gpu_pci) {
      continue;
    }
    set.add(source, !gpu_pci.empty());
  }
  if (const Status status = set.summarize(); !status) {
    return tl::unexpected<Error>(status.error());
  }
  return set;
}

void SensorSet::add(const store::StoredSensorSource& stored, bool gpu_has_pci) {
  // What other tools wrote is about their GPU, which the file need not name. A simulated GPU has no
  // address to be named by, so there the kind of source tells.
  const bool imported = session_->description().kind == store::SessionKind::kImport;
  const bool of_machine =
      !stored.source.gpu_pci && !imported && (gpu_has_pci || is_of_machine(stored.source.name));
  add_source(stored, of_machine);
  const std::size_t count = std::min(stored.source.sensors.size(), stored.series.size());
  for (std::size_t i = 0; i < count; ++i) {
    sensor_of_[stored.series[i]] = index_of(stored.source.sensors[i], of_machine);
  }
}

void SensorSet::add_source(const store::StoredSensorSource& stored, bool of_machine) {
  auto it = std::find_if(sources_.begin(), sources_.end(), [&](const report::SensorSource& other) {
    return other.name == stored.source.name && other.of_machine == of_machine;
  });
  if (it == sources_.end()) {
    it = sources_.insert(sources_.end(), report::SensorSource{});
    it->name = stored.source.name;
    it->of_machine = of_machine;
  }
  const store::SensorSourceTotals& totals = stored.totals;
  it->reads += totals.reads;
  it->rejected += totals.rejected;
  it->failed += totals.failed;
  it->late += totals.late;
  it->cost_ns += totals.cost_ns;
  it->worst_ns = std::max(it->worst_ns, totals.worst_ns);
  it->rate_hz = totals.rate_hz > 0 ? std::optional(totals.rate_hz) : std::nullopt;
  it->problem = totals.problem;
}

std::size_t SensorSet::index_of(const sampler::SensorDescription& sensor, bool of_machine) {
  const auto [it, inserted] = index_.try_emplace(
      {sensor.name, sensor.source, sensor.unit, sensor.kind, of_machine}, sensors_.size());
  if (!inserted) {
    return it->second;
  }
  Sensor added;
  added.name = sensor.name;
  added.source = sensor.source;
  added.label = sensor.label;
  added.unit = sensor.unit;
  added.kind = kind_of(sensor.kind);
  added.covers = sensor.covers;
  added.decision = sensor.decision;
  added.of_machine = of_machine;
  sensors_.push_back(std::move(added));
  return it->second;
}

Status SensorSet::for_each_run(const VisitRun& visit) const {
  if (sensor_of_.empty()) {
    return {};
  }
  return session_->for_each_sensor_run(
      selection_, [&](std::int64_t series, const store::SensorRun& stored) -> Status {
        if (const auto sensor = sensor_of_.find(series); sensor != sensor_of_.end()) {
          visit(series, sensor->second, reading_run(stored));
        }
        return {};
      });
}

Status SensorSet::summarize() {
  std::unordered_map<std::int64_t, SensorSums> of_series;
  for (const auto& [series, index] : sensor_of_) {
    of_series.emplace(series, SensorSums(sensors_[index].kind, shown_));
  }
  Status status = for_each_run([&](std::int64_t series, std::size_t /*sensor*/,
                                   const ReadingRun& run) { of_series.at(series).add(run); });
  if (!status) {
    return status;
  }
  std::vector<SensorSums> totals;
  totals.reserve(sensors_.size());
  for (const Sensor& sensor : sensors_) {
    totals.emplace_back(sensor.kind, shown_);
  }
  for (auto& [series, sums] : of_series) {
    sums.finish();
    totals[sensor_of_.at(series)].merge(sums);
  }
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    totals[i].fill(sensors_[i]);
  }
  return {};
}

Result<SensorSet::RunsOfSensors> SensorSet::runs(const std::set<std::size_t>& indices) const {
  RunsOfSensors runs;
  for (const std::size_t index : indices) {
    runs[index];
  }
  const Status status =
      for_each_run([&](std::int64_t /*series*/, std::size_t sensor, const ReadingRun& run) {
        if (indices.contains(sensor)) {
          runs[sensor].push_back(run);
        }
      });
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return runs;
}

bool is_numbered(const Sensor& sensor) {
  const std::size_t last = sensor.name.find_last_not_of("0123456789");
  return last != std::string::npos && last + 1 < sensor.name.size() && sensor.name[last] == '_';
}

const Sensor* find_sensor(const std::vector<Sensor>& sensors, std::string_view name,
                          report::SensorKind kind, bool of_machine) {
  const Sensor* best = nullptr;
  for (const Sensor& sensor : sensors) {
    const bool fits = sensor.name == name && sensor.kind == kind &&
                      sensor.of_machine == of_machine &&
                      (sensor.mean || sensor.total.value_or(0) > 0);
    if (fits && (best == nullptr || sensor.covered_s > best->covered_s)) {
      best = &sensor;
    }
  }
  return best;
}

}  // namespace gputrace::commands
