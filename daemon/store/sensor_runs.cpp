#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daemon/store/sensor_rows.h"

namespace gputrace::store {

namespace {

using sampler::SensorKind;

Result<SensorRun> read_run(const Statement& row, SensorKind kind) {
  const std::int64_t start_ns = row.integer(1);
  const std::int64_t span_ns = row.integer(2);
  const std::int64_t readings = row.integer(3);
  const double value = row.real(4);
  if (start_ns < 0 || span_ns < 0 ||
      span_ns > std::numeric_limits<std::int64_t>::max() - start_ns) {
    return fail(ErrorCode::kCorrupt, "readings of a sensor at an impossible time");
  }
  if (readings < 1 || readings > std::numeric_limits<std::uint32_t>::max() ||
      !is_value_of(kind, value)) {
    return fail(ErrorCode::kCorrupt, "readings of a sensor with an impossible value or number");
  }
  return SensorRun{.start_ns = start_ns,
                   .end_ns = start_ns + span_ns,
                   .readings = static_cast<std::uint32_t>(readings),
                   .value = value};
}

/// A day has millions of runs: looking up their series must cost next to nothing.
class RunChecker {
 public:
  explicit RunChecker(const std::vector<StoredSensorSource>& sources) {
    for (const StoredSensorSource& source : sources) {
      for (std::size_t i = 0; i < source.series.size(); ++i) {
        const auto id = static_cast<std::size_t>(source.series[i]);
        by_id_.resize(std::max(by_id_.size(), id + 1));
        by_id_[id] = SensorRows::Series{source.source.sensors[i].kind, 0};
      }
    }
  }

  [[nodiscard]] Result<SensorRun> read(std::int64_t id, const Statement& row) const {
    const auto index = static_cast<std::size_t>(id);  // a negative one is beyond the end
    const auto series = index < by_id_.size() ? by_id_[index] : std::optional<SensorRows::Series>();
    if (!series) {
      return fail(ErrorCode::kCorrupt, "readings of a sensor that is not described");
    }
    return read_run(row, series->kind);
  }
  /// `id` is one that read() knows.
  [[nodiscard]] bool in_order(std::int64_t id, const SensorRun& run) const {
    const auto& series = by_id_[static_cast<std::size_t>(id)];
    return series && run.start_ns >= series->end_ns;
  }
  Status check_order(std::int64_t id, const SensorRun& run) {
    if (!in_order(id, run)) {
      return fail(ErrorCode::kCorrupt, "readings of a sensor out of order");
    }
    if (auto& series = by_id_[static_cast<std::size_t>(id)]; series.has_value()) {
      series->end_ns = run.end_ns;
    }
    return {};
  }

 private:
  std::vector<std::optional<SensorRows::Series>> by_id_;
};

/// The part of a run inside the span, which it touches. Its readings lie evenly between its ends.
SensorRun cut(const SensorRun& run, const TimeSpan& span) {
  SensorRun part = run;
  part.start_ns = std::max(run.start_ns, span.start_ns);
  part.end_ns = std::min(run.end_ns, span.end_ns);
  if (run.readings < 2 || run.start_ns == run.end_ns) {
    return part;
  }
  const double step_ns = static_cast<double>(run.end_ns - run.start_ns) / (run.readings - 1);
  const auto readings_before = [&](std::int64_t time_ns) {
    return time_ns > run.end_ns ? static_cast<double>(run.readings)
                                : std::ceil(static_cast<double>(time_ns - run.start_ns) / step_ns);
  };
  part.readings = static_cast<std::uint32_t>(
      std::clamp(readings_before(span.end_ns) - readings_before(part.start_ns), 1.0,
                 static_cast<double>(run.readings)));
  return part;
}

template <class Visit>
Status visit_inside(const SensorRun& run, const std::optional<TimeSpan>& span, const Visit& visit) {
  if (!span) {
    return visit(run);
  }
  return run.end_ns < span->start_ns || run.start_ns >= span->end_ns ? Status{}
                                                                     : visit(cut(run, *span));
}

}  // namespace

Status for_each_run(Database& database, const std::vector<StoredSensorSource>& sources,
                    std::optional<TimeSpan> span, KeptRuns& kept,
                    const std::function<Status(std::int64_t, const SensorRun&)>& visit) {
  RunChecker checker(sources);
  const auto visit_checked = [&](std::int64_t id, const SensorRun& run) -> Status {
    if (Status ordered = checker.check_order(id, run); !ordered) {
      return ordered;
    }
    return visit_inside(run, span, [&](const SensorRun& part) { return visit(id, part); });
  };
  std::int64_t behind = std::numeric_limits<std::int64_t>::min();
  if (kept.filled()) {
    if (Status status = kept.for_each(visit_checked); !status) {
      return status;
    }
    const auto rest = kept.rest_behind();
    if (!rest) {
      return {};
    }
    behind = *rest;
  }
  Result<Statement> query = database.prepare(
      "SELECT series, start_ns, span_ns, readings, value, id FROM sensor_runs WHERE id > ?1 "
      "ORDER BY id");
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  query->bind(1, behind);
  const bool filling = kept.begin();
  bool room = filling;
  Status status = for_each_row(*query, [&](const Statement& row) -> Status {
    const std::int64_t id = row.integer(0);
    const Result<SensorRun> run = checker.read(id, row);
    if (!run) {
      return tl::unexpected<Error>(run.error());
    }
    // In order of time, or visit_checked() ends the pass and nothing is kept.
    room = room && checker.in_order(id, *run) && kept.add(row.integer(5), id, *run);
    return visit_checked(id, *run);
  });
  if (filling) {
    status ? kept.finish() : kept.forget();
  }
  return status;
}

Status for_each_run_of(Database& database, const std::vector<StoredSensorSource>& sources,
                       std::int64_t series, std::optional<TimeSpan> span,
                       const std::function<Status(const SensorRun&)>& visit) {
  RunChecker checker(sources);
  Result<Statement> query = database.prepare(
      "SELECT series, start_ns, span_ns, readings, value FROM sensor_runs WHERE series = ?1 "
      "ORDER BY id");
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  query->bind(1, series);
  return for_each_row(*query, [&](const Statement& row) -> Status {
    const Result<SensorRun> run = checker.read(series, row);
    if (!run) {
      return tl::unexpected<Error>(run.error());
    }
    if (Status ordered = checker.check_order(series, *run); !ordered) {
      return ordered;
    }
    return visit_inside(*run, span, visit);
  });
}

}  // namespace gputrace::store
