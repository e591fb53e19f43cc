#include "daemon/store/sensor_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace gputrace::store {

namespace {

using sampler::SensorDescription;
using sampler::SensorKind;

// A recording defines its sources anew when its GPU changes: a few times some hundred series.
constexpr std::size_t kMaxSources = 10'000;
constexpr std::int64_t kMaxSeries = 100'000;  // SQLite numbers them from 1
constexpr double kMaxBits = std::numeric_limits<std::uint32_t>::max();

constexpr std::array<std::pair<SensorKind, std::string_view>, 3> kKinds{{
    {SensorKind::kGauge, "gauge"},
    {SensorKind::kCounter, "counter"},
    {SensorKind::kBits, "bits"},
}};

std::string_view to_string(SensorKind kind) {
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const auto& known) { return known.first == kind; });
  GPUTRACE_CHECK(found != kKinds.end());
  return found->second;
}

std::optional<SensorKind> parse_kind(std::string_view text) {
  for (const auto& [kind, name] : kKinds) {
    if (name == text) {
      return kind;
    }
  }
  return std::nullopt;
}

std::int64_t count(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

/// The text of a column; absent when it is longer than any of ours.
std::optional<std::string> short_text(const Statement& row, int column) {
  return row.blob(column).size() > kMaxSensorText ? std::nullopt : std::optional(row.text(column));
}

Result<StoredSensorSource> read_source(const Statement& row) {
  StoredSensorSource stored;
  stored.id = row.integer(0);
  const std::optional<std::string> name = short_text(row, 1);
  const std::optional<std::string> pci = short_text(row, 2);
  const std::optional<std::string> problem = short_text(row, 10);
  if (!name || !pci || !problem) {
    return fail(ErrorCode::kCorrupt, "a source of sensors with a text of impossible length");
  }
  stored.source.name = *name;
  if (!row.is_null(2)) {
    stored.source.gpu_pci = *pci;
  }
  SensorSourceTotals& totals = stored.totals;
  const std::array<std::uint64_t*, 6> counts{&totals.reads, &totals.rejected, &totals.failed,
                                             &totals.late,  &totals.cost_ns,  &totals.worst_ns};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t value = row.integer(3 + static_cast<int>(i));
    if (value < 0) {
      return fail(ErrorCode::kCorrupt, "a source of sensors with a negative count");
    }
    *counts[i] = static_cast<std::uint64_t>(value);
  }
  totals.rate_hz = row.real(9);
  totals.problem = *problem;
  if (!std::isfinite(totals.rate_hz) || totals.rate_hz < 0) {
    return fail(ErrorCode::kCorrupt, "a source of sensors with an impossible rate");
  }
  return stored;
}

Result<SensorDescription> read_sensor(const Statement& row) {
  SensorDescription sensor;
  const std::array<std::string*, 7> texts{&sensor.name,    &sensor.source, &sensor.label,
                                          &sensor.unit,    nullptr,        &sensor.covers,
                                          &sensor.decision};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::optional<std::string> text = short_text(row, 2 + static_cast<int>(i));
    if (!text) {
      return fail(ErrorCode::kCorrupt, "a sensor with a text of impossible length");
    }
    if (texts[i] != nullptr) {
      *texts[i] = std::move(*text);
      continue;
    }
    const std::optional<SensorKind> kind = parse_kind(*text);
    if (!kind) {
      return fail(ErrorCode::kCorrupt, "a sensor of an unknown kind");
    }
    sensor.kind = *kind;
  }
  return sensor;
}

}  // namespace

bool is_value_of(SensorKind kind, double value) {
  return std::isfinite(value) && (kind != SensorKind::kBits ||
                                  (value >= 0 && value <= kMaxBits && value == std::floor(value)));
}

SensorRows::SensorRows(Statement source, Statement sensor, Statement run, Statement totals)
    : insert_source_(std::move(source)),
      insert_sensor_(std::move(sensor)),
      insert_run_(std::move(run)),
      update_totals_(std::move(totals)) {}

Result<SensorRows> SensorRows::create(Database& database) {
  Result<Statement> source = database.prepare(
      "INSERT INTO sensor_sources (name, gpu_pci, reads, rejected, failed, late, cost_ns, "
      "worst_ns, rate_hz, problem) VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, '') RETURNING id");
  Result<Statement> sensor = database.prepare(
      "INSERT INTO sensors (source, name, origin, label, unit, kind, covers, decision) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
  Result<Statement> run = database.prepare(
      "INSERT INTO sensor_runs (series, start_ns, span_ns, readings, value) "
      "VALUES (?, ?, ?, ?, ?)");
  Result<Statement> totals = database.prepare(
      "UPDATE sensor_sources SET reads = ?, rejected = ?, failed = ?, late = ?, cost_ns = ?, "
      "worst_ns = ?, rate_hz = ?, problem = ? WHERE id = ?");
  for (const Result<Statement>* statement : {&source, &sensor, &run, &totals}) {
    if (!*statement) {
      return tl::unexpected<Error>(statement->error());
    }
  }
  return SensorRows(std::move(*source), std::move(*sensor), std::move(*run), std::move(*totals));
}

Status SensorRows::check(const SensorSource& source) {
  bool fits =
      source.name.size() <= kMaxSensorText && source.gpu_pci.value_or("").size() <= kMaxSensorText;
  for (const SensorDescription& sensor : source.sensors) {
    for (const std::string* text : {&sensor.name, &sensor.source, &sensor.label, &sensor.unit,
                                    &sensor.covers, &sensor.decision}) {
      fits = fits && text->size() <= kMaxSensorText;
    }
  }
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a text of the sensors of {:.100} has more than {} bytes", source.name,
                            kMaxSensorText));
  }
  return {};
}

Status SensorRows::check(std::int64_t series, const SensorRun& run) const {
  const auto found = series_.find(series);
  if (found == series_.end()) {
    return fail(ErrorCode::kInvalidArgument, "readings came of a sensor that was not defined");
  }
  const auto& [kind, end_ns] = found->second;
  if (run.start_ns < end_ns || run.end_ns < run.start_ns) {
    return fail(ErrorCode::kInvalidArgument, "the times of a sensor's readings run backwards");
  }
  if (run.readings == 0 || !is_value_of(kind, run.value)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} readings of {} are none of a sensor of kind {}", run.readings,
                            run.value, to_string(kind)));
  }
  return {};
}

Result<SessionWriter::DefinedSource> SensorRows::define(const SensorSource& source) {
  SessionWriter::DefinedSource defined;
  insert_source_.bind(1, source.name).bind_optional(2, source.gpu_pci);
  if (const Result<bool> row = insert_source_.step(); !row) {
    return tl::unexpected<Error>(row.error());
  }
  defined.id = insert_source_.integer(0);
  insert_source_.reset();
  for (const SensorDescription& sensor : source.sensors) {
    insert_sensor_.bind(1, defined.id)
        .bind(2, sensor.name)
        .bind(3, sensor.source)
        .bind(4, sensor.label)
        .bind(5, sensor.unit)
        .bind(6, to_string(sensor.kind))
        .bind(7, sensor.covers)
        .bind(8, sensor.decision);
    if (const Result<bool> row = insert_sensor_.step(); !row) {
      return tl::unexpected<Error>(row.error());
    }
    defined.series.push_back(insert_sensor_.integer(0));
    insert_sensor_.reset();
    series_[defined.series.back()] = {sensor.kind, 0};
  }
  return defined;
}

Status SensorRows::add(std::int64_t series, const SensorRun& run) {
  insert_run_.bind(1, series)
      .bind(2, run.start_ns)
      .bind(3, run.end_ns - run.start_ns)
      .bind(4, std::int64_t{run.readings})
      .bind(5, run.value);
  if (Status status = insert_run_.run(); !status) {
    return status;
  }
  series_[series].end_ns = run.end_ns;
  return {};
}

Status SensorRows::set_totals(std::int64_t source, const SensorSourceTotals& totals) {
  const std::string_view problem = totals.problem;
  update_totals_.bind(1, count(totals.reads))
      .bind(2, count(totals.rejected))
      .bind(3, count(totals.failed))
      .bind(4, count(totals.late))
      .bind(5, count(totals.cost_ns))
      .bind(6, count(totals.worst_ns))
      .bind(7, totals.rate_hz)
      .bind(8, problem.substr(0, kMaxSensorText))
      .bind(9, source);
  return update_totals_.run();
}

Result<std::vector<StoredSensorSource>> load_sensor_sources(Database& database) {
  std::vector<StoredSensorSource> sources;
  std::map<std::int64_t, std::size_t> by_id;
  Status status = for_each_row(
      database,
      "SELECT id, name, gpu_pci, reads, rejected, failed, late, cost_ns, worst_ns, rate_hz, "
      "problem FROM sensor_sources ORDER BY id",
      [&](const Statement& row) -> Status {
        if (sources.size() == kMaxSources) {
          return fail(ErrorCode::kCorrupt, "too many sources of sensors");
        }
        Result<StoredSensorSource> source = read_source(row);
        if (!source) {
          return tl::unexpected<Error>(source.error());
        }
        by_id[source->id] = sources.size();
        sources.push_back(std::move(*source));
        return {};
      });
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  status = for_each_row(
      database,
      "SELECT id, source, name, origin, label, unit, kind, covers, decision FROM sensors "
      "ORDER BY id",
      [&](const Statement& row) -> Status {
        const auto owner = by_id.find(row.integer(1));
        const std::int64_t id = row.integer(0);
        if (owner == by_id.end() || id < 1 || id > kMaxSeries) {
          return fail(ErrorCode::kCorrupt, "a sensor without a source, or too many of them");
        }
        Result<SensorDescription> sensor = read_sensor(row);
        if (!sensor) {
          return tl::unexpected<Error>(sensor.error());
        }
        StoredSensorSource& source = sources[owner->second];
        source.series.push_back(id);
        source.source.sensors.push_back(std::move(*sensor));
        return {};
      });
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return sources;
}

}  // namespace gputrace::store
