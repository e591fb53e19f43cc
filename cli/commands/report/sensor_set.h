// The sensor series of a session that speak for one GPU and its machine, summed up over the stretch
// that a report shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cli/analysis/readings.h"
#include "cli/commands/report/report_units.h"
#include "cli/report/report.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

class SensorSet {
 public:
  /// Sources of other GPUs than `gpu_pci` are left out. `session` must outlive the set.
  static Result<SensorSet> load(const store::SessionReader& session, const Timeline& timeline,
                                const std::string& gpu_pci);

  /// In the order of the file. A series that was opened more than once is one sensor.
  [[nodiscard]] const std::vector<report::Sensor>& sensors() const { return sensors_; }
  [[nodiscard]] const std::vector<report::SensorSource>& sources() const { return sources_; }
  /// Readings of sensors(), in order of time, by their indices. One pass over the file.
  using RunsOfSensors = std::map<std::size_t, std::vector<analysis::ReadingRun>>;
  [[nodiscard]] Result<RunsOfSensors> runs(const std::set<std::size_t>& indices) const;
  /// The runs of a series in order of time; a sensor may have several. One pass over the file.
  using VisitRun =
      std::function<void(std::int64_t series, std::size_t sensor, const analysis::ReadingRun& run)>;
  Status for_each_run(const VisitRun& visit) const;
  [[nodiscard]] const analysis::TimeRange& shown() const { return shown_; }

 private:
  SensorSet(const store::SessionReader& session, const Timeline& timeline);
  void add(const store::StoredSensorSource& stored, bool gpu_has_pci);
  void add_source(const store::StoredSensorSource& stored, bool of_machine);
  std::size_t index_of(const sampler::SensorDescription& sensor, bool of_machine);
  Status summarize();

  const store::SessionReader* session_;
  analysis::TimeRange shown_;
  std::optional<store::TimeSpan> selection_;
  std::vector<report::Sensor> sensors_;
  using Key = std::tuple<std::string, std::string, std::string, sampler::SensorKind, bool>;
  std::map<Key, std::size_t> index_;
  std::unordered_map<std::int64_t, std::size_t> sensor_of_;  ///< by series
  std::vector<report::SensorSource> sources_;
};

/// Of the sensors with that name, kind and scope the one whose readings speak for most time; null
/// when none has readings. A counter that never moved counts nothing, so it is none.
[[nodiscard]] const report::Sensor* find_sensor(const std::vector<report::Sensor>& sensors,
                                                std::string_view name, report::SensorKind kind,
                                                bool of_machine);

/// "core_power_3": one of many of its kind, which say little about the GPU.
[[nodiscard]] bool is_numbered(const report::Sensor& sensor);

}  // namespace gputrace::commands
