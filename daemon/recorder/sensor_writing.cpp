#include "daemon/recorder/sensor_writing.h"

#include <algorithm>
#include <utility>

namespace gputrace::recorder {

namespace {

// Without this many periods a source has rested: nothing speaks for the time.
constexpr double kGapPeriods = 2.5;

bool same(const sampler::SensorDescription& a, const sampler::SensorDescription& b) {
  return a.name == b.name && a.source == b.source && a.label == b.label && a.unit == b.unit &&
         a.kind == b.kind && a.covers == b.covers && a.decision == b.decision;
}

bool same(const store::SensorSource& a, const store::SensorSource& b) {
  return a.name == b.name && a.gpu_pci == b.gpu_pci &&
         std::equal(a.sensors.begin(), a.sensors.end(), b.sensors.begin(), b.sensors.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}

bool same(const store::SensorSourceTotals& a, const store::SensorSourceTotals& b) {
  return a.reads == b.reads && a.rejected == b.rejected && a.failed == b.failed &&
         a.late == b.late && a.rate_hz == b.rate_hz && a.problem == b.problem;
}

std::int64_t second_of(std::int64_t time_ns) {
  return time_ns / kNsPerSecond;
}

}  // namespace

Status SensorWriting::take(const SensorBatch& batch, store::SessionWriter& writer) {
  if (batch.sources != loop_) {
    if (Status status = begin_loop(batch, writer); !status) {
      return status;
    }
  }
  for (std::size_t i = 0; i < of_loop_.size(); ++i) {
    if (Status status = count(sources_[of_loop_[i]], batch.states[i], writer); !status) {
      return status;
    }
  }
  for (const sampler::SensorReading& reading : batch.readings) {
    if (Status status = take(sources_[of_loop_[reading.source]], reading, writer); !status) {
      return status;
    }
  }
  return {};
}

Status SensorWriting::begin_loop(const SensorBatch& batch, store::SessionWriter& writer) {
  if (Status status = write_open(writer); !status) {
    return status;
  }
  std::vector<std::size_t> of_loop;
  for (const store::SensorSource& source : batch.sources->sources) {
    const Result<std::size_t> index = find_or_define(source, of_loop, writer);
    if (!index) {
      return tl::unexpected(index.error());
    }
    of_loop.push_back(*index);
    sources_[*index].last = batch.states[of_loop.size() - 1];
  }
  of_loop_ = std::move(of_loop);
  loop_ = batch.sources;
  return {};
}

Result<std::size_t> SensorWriting::find_or_define(const store::SensorSource& source,
                                                  const std::vector<std::size_t>& taken,
                                                  store::SessionWriter& writer) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (same(sources_[i].description, source) &&
        std::find(taken.begin(), taken.end(), i) == taken.end()) {
      return i;
    }
  }
  const Result<store::SessionWriter::DefinedSource> defined = writer.define_sensor_source(source);
  if (!defined) {
    return tl::unexpected(defined.error());
  }
  Source& added = sources_.emplace_back();
  added.description = source;
  added.id = defined->id;
  for (const std::int64_t id : defined->series) {
    added.series.push_back({id, std::nullopt});
  }
  return sources_.size() - 1;
}

Status SensorWriting::count(Source& source, const sampler::SensorSourceState& state,
                            store::SessionWriter& writer) {
  const sampler::SensorSourceState last = std::exchange(source.last, state);
  source.totals.reads += state.reads - last.reads;
  source.totals.rejected += state.rejected - last.rejected;
  source.totals.failed += state.failed - last.failed;
  source.totals.late += state.late - last.late;
  source.totals.cost_ns += state.cost_ns - last.cost_ns;
  if (state.worst_ns > last.worst_ns) {
    source.totals.worst_ns = std::max(source.totals.worst_ns, state.worst_ns);
  }
  source.totals.rate_hz = state.rate_hz;
  source.totals.problem = state.problem;
  const bool failed =
      state.rejected != last.rejected || state.failed != last.failed || state.late != last.late;
  return failed ? end_runs(source, writer) : Status();
}

Status SensorWriting::take(Source& source, const sampler::SensorReading& reading,
                           store::SessionWriter& writer) {
  const std::int64_t time_ns = reading.begin_ns + (reading.end_ns - reading.begin_ns) / 2;
  source.totals.worst_ns = std::max(source.totals.worst_ns,
                                    static_cast<std::uint64_t>(reading.end_ns - reading.begin_ns));
  const auto since_ns = static_cast<double>(time_ns - source.last_ns);
  const bool rested =
      since_ns * source.last.rate_hz > kGapPeriods * static_cast<double>(kNsPerSecond);
  source.last_ns = time_ns;
  for (std::size_t i = 0; i < source.series.size(); ++i) {
    Series& series = source.series[i];
    const std::optional<double> value = reading.values[i];
    if (value && series.run && !rested && series.run->value == *value &&
        second_of(series.run->start_ns) == second_of(time_ns)) {
      series.run->end_ns = time_ns;
      ++series.run->readings;
      continue;
    }
    if (Status status = end_run(series, writer); !status) {
      return status;
    }
    if (value) {
      series.run = store::SensorRun{time_ns, time_ns, 1, *value};
    }
  }
  return {};
}

Status SensorWriting::end_run(Series& series, store::SessionWriter& writer) {
  const std::optional<store::SensorRun> run = std::exchange(series.run, std::nullopt);
  return run ? writer.write_sensor_run(series.id, *run) : Status();
}

Status SensorWriting::end_runs(Source& source, store::SessionWriter& writer) {
  for (Series& series : source.series) {
    if (Status status = end_run(series, writer); !status) {
      return status;
    }
  }
  return {};
}

Status SensorWriting::write_open(store::SessionWriter& writer) {
  for (Source& source : sources_) {
    if (Status status = end_runs(source, writer); !status) {
      return status;
    }
    if (std::exchange(source.is_written, true) && same(source.totals, source.written)) {
      continue;
    }
    source.written = source.totals;
    if (Status status = writer.write_sensor_totals(source.id, source.totals); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace gputrace::recorder
