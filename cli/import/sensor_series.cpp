#include "cli/import/sensor_series.h"

#include <limits>
#include <utility>

namespace gputrace::import {

namespace {
constexpr std::size_t kBatch = 4096;
// Runs of doubtful zeros end at gaps alone: hours of a log have a few.
constexpr std::size_t kMaxHeld = 10'000;
}  // namespace

Result<SensorSeries> SensorSeries::define(SessionSink& sink, store::SensorSource source,
                                          std::int64_t max_gap_ns) {
  const Result<store::SessionWriter::DefinedSource> defined = sink.add_sensor_source(source);
  if (!defined) {
    return tl::unexpected(defined.error());
  }
  SensorSeries series(sink, std::move(source), max_gap_ns);
  series.id_ = defined->id;
  for (const std::int64_t id : defined->series) {
    series.series_.emplace_back().id = id;
  }
  return series;
}

Status SensorSeries::add(std::size_t sensor, std::int64_t time_ns, double value) {
  Series& series = series_[sensor];
  store::SensorRun& run = series.run;
  const bool goes_on = series.open && run.value == value && time_ns - run.end_ns <= max_gap_ns_ &&
                       run.readings < std::numeric_limits<std::uint32_t>::max();
  if (goes_on) {
    run.end_ns = time_ns;
    ++run.readings;
    return {};
  }
  if (Status status = close_run(series); !status) {
    return status;
  }
  run = {.start_ns = time_ns, .end_ns = time_ns, .readings = 1, .value = value};
  series.open = true;
  return {};
}

Status SensorSeries::close_run(Series& series) {
  if (!series.open) {
    return {};
  }
  series.open = false;
  if (series.doubtful && series.run.value == 0 && series.held.size() < kMaxHeld) {
    series.held.push_back(series.run);
    return {};
  }
  series.doubtful = false;
  for (const store::SensorRun& run : std::exchange(series.held, {})) {
    if (Status status = write(series, run); !status) {
      return status;
    }
  }
  return write(series, series.run);
}

Status SensorSeries::write(Series& series, const store::SensorRun& run) {
  series.written = true;
  batch_.push_back({series.id, run});
  return batch_.size() < kBatch ? Status{} : flush();
}

Status SensorSeries::flush() {
  const Status added = sink_->add_sensor_runs(batch_);
  batch_.clear();
  return added;
}

Status SensorSeries::finish(std::int64_t start_ns, std::int64_t end_ns) {
  for (Series& series : series_) {
    if (Status status = close_run(series); !status) {
      return status;
    }
  }
  if (Status status = flush(); !status) {
    return status;
  }
  if (end_ns > start_ns) {
    totals_.rate_hz =
        static_cast<double>(totals_.reads) * 1e9 / static_cast<double>(end_ns - start_ns);
  }
  return sink_->set_sensor_totals(id_, totals_);
}

bool SensorSeries::has_readings(std::size_t sensor) const {
  const Series& series = series_[sensor];
  return series.written || (series.open && !(series.doubtful && series.run.value == 0));
}

bool SensorSeries::only_zeros(std::size_t sensor) const {
  const Series& series = series_[sensor];
  return !has_readings(sensor) && (series.open || !series.held.empty());
}

}  // namespace gputrace::import
