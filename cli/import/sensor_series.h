// The sensors of one source of an import: readings become runs of equal values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/import/session_sink.h"

namespace gputrace::import {

class SensorSeries {
 public:
  /// Adds the source to the sink. Two readings further apart than `max_gap_ns` are no run.
  static Result<SensorSeries> define(SessionSink& sink, store::SensorSource source,
                                     std::int64_t max_gap_ns);

  /// Zero may be how the tool writes that it has no value: zeros are kept only when another value
  /// shows that the sensor works.
  void doubt_zeros(std::size_t sensor) { series_[sensor].doubtful = true; }
  /// In order of time for each sensor.
  Status add(std::size_t sensor, std::int64_t time_ns, double value);
  /// A read of the whole source that gave values, or one that cannot be true.
  void count_read() { ++totals_.reads; }
  void count_rejected() { ++totals_.rejected; }
  /// Writes what is open, and the totals over the time from `start_ns` to `end_ns`.
  Status finish(std::int64_t start_ns, std::int64_t end_ns);

  [[nodiscard]] std::size_t size() const { return series_.size(); }
  [[nodiscard]] const sampler::SensorDescription& sensor(std::size_t index) const {
    return source_.sensors[index];
  }
  /// Whether readings of it were, or will be, written.
  [[nodiscard]] bool has_readings(std::size_t sensor) const;
  /// Readings of a doubtful sensor that never gave another value than zero.
  [[nodiscard]] bool only_zeros(std::size_t sensor) const;

 private:
  struct Series {
    std::int64_t id = 0;
    store::SensorRun run;
    bool open = false;
    bool doubtful = false;
    bool written = false;
    std::vector<store::SensorRun> held;  ///< zeros in doubt
  };
  SensorSeries(SessionSink& sink, store::SensorSource source, std::int64_t max_gap_ns)
      : sink_(&sink), source_(std::move(source)), max_gap_ns_(max_gap_ns) {}
  Status close_run(Series& series);
  Status write(Series& series, const store::SensorRun& run);
  Status flush();

  SessionSink* sink_;
  store::SensorSource source_;
  std::int64_t max_gap_ns_;
  std::int64_t id_ = 0;
  std::vector<Series> series_;
  std::vector<SeriesRun> batch_;
  store::SensorSourceTotals totals_;
};

}  // namespace gputrace::import
