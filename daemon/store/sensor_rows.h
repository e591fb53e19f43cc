// Rows of sensors: sources, their series, and runs of equal readings.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "daemon/store/database.h"
#include "daemon/store/kept_runs.h"
#include "daemon/store/session.h"
#include "daemon/store/session_reader.h"
#include "daemon/store/session_writer.h"

namespace gputrace::store {

/// Longest text of a sensor or a client that is written or believed.
inline constexpr std::size_t kMaxSensorText = 4096;

/// Whether a sensor of that kind can have it.
[[nodiscard]] bool is_value_of(sampler::SensorKind kind, double value);

class SensorRows {
 public:
  static Result<SensorRows> create(Database& database);

  /// What is wrong with it; checked before anything is written, as these are the caller's faults.
  [[nodiscard]] static Status check(const SensorSource& source);
  [[nodiscard]] Status check(std::int64_t series, const SensorRun& run) const;

  Result<SessionWriter::DefinedSource> define(const SensorSource& source);
  Status add(std::int64_t series, const SensorRun& run);
  Status set_totals(std::int64_t source, const SensorSourceTotals& totals);

  struct Series {
    sampler::SensorKind kind = sampler::SensorKind::kGauge;
    std::int64_t end_ns = 0;  ///< of its last run
  };

 private:
  SensorRows(Statement source, Statement sensor, Statement run, Statement totals);

  Statement insert_source_;
  Statement insert_sensor_;
  Statement insert_run_;
  Statement update_totals_;
  std::map<std::int64_t, Series> series_;
};

/// Every value is checked: the rows may come from a stranger.
[[nodiscard]] Result<std::vector<StoredSensorSource>> load_sensor_sources(Database& database);
/// `sources`: those of the file. `kept`: is filled by the first pass and read instead of the file
/// by later ones. See SessionReader::for_each_sensor_run.
Status for_each_run(Database& database, const std::vector<StoredSensorSource>& sources,
                    std::optional<TimeSpan> span, KeptRuns& kept,
                    const std::function<Status(std::int64_t, const SensorRun&)>& visit);
/// Those of one series, from the file.
Status for_each_run_of(Database& database, const std::vector<StoredSensorSource>& sources,
                       std::int64_t series, std::optional<TimeSpan> span,
                       const std::function<Status(const SensorRun&)>& visit);

}  // namespace gputrace::store
