#include "cli/import/mangohud.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "cli/import/bad_lines.h"
#include "cli/import/mangohud_columns.h"
#include "cli/import/mangohud_frames.h"
#include "cli/import/sensor_series.h"
#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

constexpr double kPauseMs = 99'999;
/// Rows further apart than this are a pause of the log: nothing speaks for it.
constexpr std::int64_t kMaxGapNs = 2 * kNsPerSecond;
constexpr std::int64_t kMaxStepBackNs = kNsPerSecond;
constexpr std::int64_t kMaxJumpNs = 86'400 * kNsPerSecond;
/// Far from the end of int64, so that sums cannot overflow.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

/// What a cell says. Text that is no number makes a line bad; "nan" is a value that is none.
struct Number {
  std::optional<double> value;
  bool bad = false;
};

Number read_number(const std::string& text) {
  if (text.empty()) {
    return {};
  }
  const auto value = parse_number<double>(text);
  if (!value) {
    return {std::nullopt, true};
  }
  return {std::isfinite(*value) ? value : std::nullopt, false};
}

/// Cells of a column that were not taken as readings.
struct LeftOut {
  std::uint64_t zeros = 0;
  std::uint64_t impossible = 0;
};

class MangoHudImporter {
 public:
  MangoHudImporter(LineReader& input, MangoHudHeader header, BadLines bad_lines, SessionSink& sink)
      : input_(input),
        header_(std::move(header)),
        bad_lines_(std::move(bad_lines)),
        sink_(sink),
        frames_(sink),
        left_out_(header_.columns.size()) {}

  Result<ImportSummary> run();

 private:
  struct Row {
    std::optional<std::int64_t> elapsed_ns;
    std::optional<double> frametime_ms;
    std::vector<std::optional<double>> values;  ///< in the order of the header's columns
  };

  std::optional<BadCell> parse(const Line& line);
  std::optional<BadCell> parse_times(std::size_t count);
  Status begin();
  Status add_row(std::uint64_t line);
  std::int64_t place(std::uint64_t line);
  void describe(ImportSummary& summary) const;
  Result<ImportSummary> finish();

  LineReader& input_;
  MangoHudHeader header_;
  BadLines bad_lines_;
  SessionSink& sink_;
  MangoHudFrames frames_;
  std::unique_ptr<SensorSeries> series_;  ///< from the first good row on
  std::optional<std::int64_t> started_realtime_ns_;

  std::vector<CsvCell> cells_;
  Row row_;
  std::int64_t offset_ns_ = 0;  ///< of the axis to `elapsed`
  std::int64_t last_ns_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t pauses_ = 0;
  std::uint64_t steps_back_ = 0;
  std::uint64_t first_step_back_ = 0;  ///< line
  std::uint64_t restarts_ = 0;         ///< another log goes on
  std::uint64_t first_restart_ = 0;    ///< line
  std::uint64_t values_ = 0;
  std::vector<LeftOut> left_out_;
};

std::optional<BadCell> MangoHudImporter::parse_times(std::size_t count) {
  row_.elapsed_ns.reset();
  row_.frametime_ms.reset();
  if (header_.elapsed) {
    if (*header_.elapsed >= count) {
      return BadCell{1, "the row has no elapsed time"};
    }
    const CsvCell& cell = cells_[*header_.elapsed];
    const auto elapsed = parse_number<std::int64_t>(cell.text);
    if (!elapsed || *elapsed < 0 || *elapsed > kMaxTimeNs) {
      return BadCell{cell.column,
                     "elapsed: " + excerpt(cell.text) + " is not a whole number of nanoseconds"};
    }
    row_.elapsed_ns = elapsed;
  }
  if (header_.frametime && *header_.frametime < count) {
    const CsvCell& cell = cells_[*header_.frametime];
    const Number number = read_number(cell.text);
    if (number.bad || number.value.value_or(0) < 0) {
      return BadCell{cell.column,
                     "frametime: " + excerpt(cell.text) + " is not a time in milliseconds"};
    }
    row_.frametime_ms = number.value;
  }
  if (!header_.elapsed && !row_.frametime_ms) {
    return BadCell{1, "the row has no frame time"};
  }
  return std::nullopt;
}

std::optional<BadCell> MangoHudImporter::parse(const Line& line) {
  if (line.too_long) {
    return BadCell{kMaxLineLength, "the line is too long"};
  }
  std::size_t count = 0;
  if (auto bad = split_csv(line.text, cells_, count)) {
    return bad;
  }
  if (!line.terminated && count < header_.cells) {
    return BadCell{line.text.size() + 1, "the file ends in the middle of this line"};
  }
  if (count > header_.cells) {
    return BadCell{cells_[header_.cells].column,
                   fmt::format("more cells than the {} columns of the header", header_.cells)};
  }
  if (auto bad = parse_times(count)) {
    return bad;
  }
  row_.values.assign(header_.columns.size(), std::nullopt);
  for (std::size_t i = 0; i < header_.columns.size(); ++i) {
    const MangoHudColumn& column = header_.columns[i];
    if (column.cell >= count) {
      continue;
    }
    const CsvCell& cell = cells_[column.cell];
    const Number number = read_number(cell.text);
    if (number.bad) {
      return BadCell{cell.column, column.name + ": " + excerpt(cell.text) + " is not a number"};
    }
    row_.values[i] = number.value;
  }
  if (row_.elapsed_ns && *row_.elapsed_ns + offset_ns_ - last_ns_ > kMaxJumpNs) {
    return BadCell{1, "elapsed: time jumps by more than a day"};
  }
  if (last_ns_ > kMaxTimeNs) {
    return BadCell{1, "the log lasts longer than any can"};
  }
  return std::nullopt;
}

Status MangoHudImporter::begin() {
  store::SessionDescription session;
  session.kind = store::SessionKind::kImport;
  session.origin = "MangoHud log " + input_.name();
  started_realtime_ns_ = realtime_of_log_name(input_.name());
  if (started_realtime_ns_) {
    session.started = TimeAnchor{0, 0, *started_realtime_ns_};
  }
  store::SegmentDescription segment;
  segment.gpu.name = header_.gpu.empty() ? "GPU of a MangoHud log" : header_.gpu;
  segment.gpu.driver = header_.driver;
  segment.reason = "start";
  if (Status status = sink_.begin(session, segment); !status) {
    return status;
  }
  store::SensorSource source;
  source.name = "MangoHud";
  for (const MangoHudColumn& column : header_.columns) {
    source.sensors.push_back(column.sensor);
  }
  Result<SensorSeries> series = SensorSeries::define(sink_, std::move(source), kMaxGapNs);
  if (!series) {
    return tl::unexpected(series.error());
  }
  series_ = std::make_unique<SensorSeries>(std::move(*series));
  for (std::size_t i = 0; i < header_.columns.size(); ++i) {
    if (header_.columns[i].sensor.unit == "%") {
      series_->doubt_zeros(i);
    }
  }
  return {};
}

/// The row's time on the session's axis.
std::int64_t MangoHudImporter::place(std::uint64_t line) {
  const auto frame_ns = static_cast<std::int64_t>(
      std::min(row_.frametime_ms.value_or(0), kPauseMs) * static_cast<double>(kNsPerMs));
  if (!row_.elapsed_ns) {
    return last_ns_ + frame_ns;
  }
  const std::int64_t time_ns = *row_.elapsed_ns + offset_ns_;
  if (rows_ == 0 || time_ns >= last_ns_) {
    return time_ns;
  }
  if (last_ns_ - time_ns <= kMaxStepBackNs) {
    ++steps_back_;
    first_step_back_ = first_step_back_ == 0 ? line : first_step_back_;
    return last_ns_;
  }
  ++restarts_;
  first_restart_ = first_restart_ == 0 ? line : first_restart_;
  offset_ns_ = last_ns_ + frame_ns - *row_.elapsed_ns;
  return last_ns_ + frame_ns;
}

Status MangoHudImporter::add_row(std::uint64_t line) {
  last_ns_ = place(line);
  ++rows_;
  const double frametime_ms = row_.frametime_ms.value_or(0);
  if (frametime_ms >= kPauseMs) {
    ++pauses_;
  } else if (frametime_ms > 0) {
    const auto duration_ns =
        static_cast<std::int64_t>(std::llround(frametime_ms * static_cast<double>(kNsPerMs)));
    if (Status status = frames_.add({.end_ns = last_ns_, .duration_ns = duration_ns}); !status) {
      return status;
    }
  }
  bool any = false;
  for (std::size_t i = 0; i < header_.columns.size(); ++i) {
    const MangoHudColumn& column = header_.columns[i];
    const std::optional<double>& value = row_.values[i];
    if (!value) {
      continue;
    }
    if (column.zero_is_absent && *value == 0) {
      ++left_out_[i].zeros;
    } else if (*value < 0 || *value > column.max.value_or(*value)) {
      ++left_out_[i].impossible;
    } else {
      any = true;
      ++values_;
      if (Status status = series_->add(i, last_ns_, *value * column.scale); !status) {
        return status;
      }
    }
  }
  if (any) {
    series_->count_read();
  }
  return {};
}

Result<ImportSummary> MangoHudImporter::run() {
  Line line;
  for (;;) {
    const Result<bool> more = input_.next(line);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return finish();
    }
    if (trimmed(line.text).empty()) {
      continue;
    }
    Status status;
    if (const auto bad = parse(line)) {
      status = bad_lines_.add(line.number, *bad);
    } else {
      status = series_ ? Status{} : begin();
      if (status) {
        status = add_row(line.number);
      }
    }
    if (!status) {
      return tl::unexpected(status.error());
    }
  }
}

void MangoHudImporter::describe(ImportSummary& summary) const {
  std::vector<std::string> zeros;
  std::vector<std::string> impossible;
  std::vector<std::string> loads;
  for (std::size_t i = 0; i < header_.columns.size(); ++i) {
    const std::string& name = header_.columns[i].name;
    if (left_out_[i].zeros > 0) {
      zeros.push_back(fmt::format("{} ({} rows)", name, left_out_[i].zeros));
    }
    if (left_out_[i].impossible > 0) {
      impossible.push_back(fmt::format("{} ({} rows)", name, left_out_[i].impossible));
    }
    if (series_->only_zeros(i)) {
      loads.push_back(name);
    }
    if (series_->has_readings(i)) {
      summary.sensors.push_back(series_->sensor(i).name);
    }
  }
  if (!zeros.empty()) {
    summary.notes.push_back(
        fmt::format("0 where 0 cannot be, which MangoHud writes for no value; left out: {}",
                    fmt::join(zeros, ", ")));
  }
  if (!loads.empty()) {
    summary.notes.push_back(
        fmt::format("0 in every row, so taken for no value: {}", fmt::join(loads, ", ")));
  }
  if (!impossible.empty()) {
    summary.warnings.push_back(
        fmt::format("values that cannot be, left out: {}", fmt::join(impossible, ", ")));
  }
  if (!header_.unknown.empty()) {
    summary.notes.push_back(
        fmt::format("columns without a meaning here: {}", fmt::join(header_.unknown, ", ")));
  }
  if (pauses_ > 0) {
    summary.notes.push_back(
        fmt::format("{} rows with a frame time of {:.0f} ms stand for pauses", pauses_, kPauseMs));
  }
  if (steps_back_ > 0) {
    summary.warnings.push_back(
        fmt::format("elapsed steps back in {} rows, first in line {}; they count for the time of "
                    "the row before",
                    steps_back_, first_step_back_));
  }
  if (restarts_ > 0) {
    summary.warnings.push_back(fmt::format(
        "elapsed begins anew {} times, first in line {}: the rows that follow were put behind "
        "those before, what lay between is not known",
        restarts_, first_restart_));
  }
  if (!header_.elapsed) {
    summary.notes.emplace_back("no column elapsed: times are the sum of the frame times");
  }
  if (frames_.sampled()) {
    summary.sensors.emplace_back("frame_time");
    summary.notes.emplace_back(
        "rows came by a timer (log_interval), not one a frame: frame times are a series, and the "
        "number of frames is not known");
  }
  summary.notes.emplace_back(
      started_realtime_ns_
          ? "the date and time are from the file's name, as local time of this machine"
          : "no date and time: a log has none, and this name is not game_YYYY-MM-DD_HH-MM-SS.csv");
}

Result<ImportSummary> MangoHudImporter::finish() {
  ImportSummary summary;
  summary.format = Format::kMangoHud;
  summary.rows = rows_;
  summary.bad_lines = bad_lines_.count();
  summary.bad_line_examples = bad_lines_.examples();
  if (!series_) {
    return summary;
  }
  summary.end_ns = last_ns_ + 1;
  Status status = frames_.finish(0, summary.end_ns);
  if (status) {
    status = series_->finish(0, summary.end_ns);
  }
  if (!status) {
    return tl::unexpected(status.error());
  }
  summary.frames = frames_.frames();
  summary.values = values_;
  describe(summary);
  return summary;
}

}  // namespace

Result<ImportSummary> import_mangohud(LineReader& input, const ImportOptions& options,
                                      SessionSink& sink) {
  if (options.ticks || options.gc) {
    return fail(ErrorCode::kUsage, "--ticks and --gc are about busy bits; a MangoHud log has none");
  }
  BadLines bad_lines(input.name(), options.lenient);
  Result<MangoHudHeader> header = read_mangohud_header(input, bad_lines);
  if (!header) {
    return tl::unexpected(header.error());
  }
  return MangoHudImporter(input, std::move(*header), std::move(bad_lines), sink).run();
}

}  // namespace gputrace::import
