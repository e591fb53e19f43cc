#include "cli/commands/report/report_units.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "cli/commands/report/grid_chunk.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kEnginePrefix = "GRBM_STATUS_SE";
/// Counts of so long at a time keep memory flat for sessions of any length.
constexpr std::int64_t kChunkNs = static_cast<std::int64_t>(kGridChunkCells) * store::kCellNs;
/// Cells kept for the batches of ci95; more would not change 30 batch means by anything.
constexpr std::size_t kMaxMergedCells = 3000;

}  // namespace

std::optional<int> shader_engine_of(const std::string& register_name) {
  if (register_name.rfind(kEnginePrefix, 0) != 0) {
    return std::nullopt;
  }
  int engine = 0;
  const char* first = register_name.data() + kEnginePrefix.size();
  const char* last = register_name.data() + register_name.size();
  const auto [end, error] = std::from_chars(first, last, engine);
  return error == std::errc() && end == last && engine >= 0 ? std::optional(engine) : std::nullopt;
}

Timeline make_timeline(std::int64_t start_ns, std::int64_t end_ns, std::size_t max_columns,
                       bool selected) {
  Timeline timeline;
  timeline.start_ns = start_ns;
  timeline.end_ns = std::max(start_ns, end_ns);
  const auto cells = static_cast<std::size_t>(
      (timeline.end_ns - timeline.start_ns + store::kCellNs - 1) / store::kCellNs);
  const std::size_t length = analysis::round_column_length(cells, max_columns);
  timeline.column_ns = static_cast<std::int64_t>(length) * store::kCellNs;
  timeline.columns = (cells + length - 1) / length;
  // Recordings end a sample or two after a whole second; that is no column of its own.
  constexpr std::int64_t kWorthAColumn = 20;
  const std::int64_t last_ns = timeline.end_ns - timeline.start_ns -
                               static_cast<std::int64_t>(timeline.columns) * timeline.column_ns +
                               timeline.column_ns;
  if (timeline.columns > 1 && last_ns < timeline.column_ns / kWorthAColumn) {
    --timeline.columns;
  }
  if (selected) {
    timeline.selection = store::TimeSpan{start_ns, end_ns};
  }
  return timeline;
}

UnitCollector::UnitCollector(const Timeline& timeline) : timeline_(timeline) {
  const auto cells =
      static_cast<std::size_t>((timeline.end_ns - timeline.start_ns) / store::kCellNs);
  merge_factor_ = cells / kMaxMergedCells + 1;
}

Status UnitCollector::add(const store::SessionReader& session, const store::StoredSegment& segment,
                          const regdb::RegisterMap& map) {
  const std::vector<Bit> bits = bits_of(segment, map);
  if (Status status = add_samples(session, segment, bits); !status) {
    return status;
  }
  return add_means(session, segment, bits);
}

std::vector<UnitCollector::Bit> UnitCollector::bits_of(const store::StoredSegment& segment,
                                                       const regdb::RegisterMap& map) {
  std::vector<Bit> bits;
  for (std::size_t i = 0; i < segment.description.registers.size(); ++i) {
    const std::string& name = segment.description.registers[i].name;
    const regdb::Register* reg = map.find(name);
    if (reg == nullptr) {
      continue;
    }
    for (const regdb::RegisterField& field : reg->fields) {
      if (field.kind != regdb::FieldKind::kBusy || field.width != 1) {
        continue;
      }
      const auto [it, inserted] = index_.try_emplace({name, field.name}, series_.size());
      if (inserted) {
        report::Unit unit;
        unit.name = field.name;
        unit.register_name = name;
        unit.engine = shader_engine_of(name);
        unit.group = field.group;
        unit.meaning = field.meaning;
        unit.suggests = field.suggests;
        series_.push_back({std::move(unit),
                           {},
                           analysis::CellMerger(merge_factor_),
                           {},
                           std::vector<Column>(timeline_.columns)});
      }
      bits.push_back({{i, field.shift}, it->second});
    }
  }
  return bits;
}

Status UnitCollector::add_samples(const store::SessionReader& session,
                                  const store::StoredSegment& segment, std::span<const Bit> bits) {
  std::vector<store::BitRef> refs;
  for (const Bit& bit : bits) {
    refs.push_back(bit.ref);
  }
  const std::int64_t start = segment.description.start_ns;
  for (std::int64_t from = start; from < segment.end_ns; from += kChunkNs) {
    // Chunks begin on the segment's own grid, so that only the selection cuts cells.
    store::TimeSpan chunk{from, std::min(from + kChunkNs, segment.end_ns)};
    if (timeline_.selection) {
      chunk.start_ns = std::max(chunk.start_ns, timeline_.selection->start_ns);
      chunk.end_ns = std::min(chunk.end_ns, timeline_.selection->end_ns);
    }
    if (chunk.start_ns >= chunk.end_ns) {
      continue;
    }
    const bool whole = chunk.start_ns == start && chunk.end_ns == segment.end_ns;
    const Result<store::SegmentCounts> counts =
        session.counts(segment, refs, whole ? std::nullopt : std::optional(chunk));
    if (!counts) {
      return tl::unexpected<Error>(counts.error());
    }
    add_counts(segment, bits, *counts);
    if (on_counts_) {
      on_counts_(segment, refs, *counts);
    }
  }
  return {};
}

void UnitCollector::add_counts(const store::StoredSegment& segment, std::span<const Bit> bits,
                               const store::SegmentCounts& counts) {
  const auto column_of = [&](std::size_t cell) {
    return column_at(counts.first_ns + static_cast<std::int64_t>(cell) * store::kCellNs +
                     store::kCellNs / 2);
  };
  for (std::size_t i = 0; i < counts.registers.size(); ++i) {
    const store::RegisterCells& cells = counts.registers[i];
    RegisterColumns& columns = registers_[segment.description.registers[i].name];
    columns.asleep.resize(timeline_.columns);
    columns.unknown.resize(timeline_.columns);
    for (std::size_t cell = 0; cell < cells.valid.size(); ++cell) {
      if (const auto column = column_of(cell)) {
        columns.asleep[*column] += cells.asleep[cell];
        columns.unknown[*column] += cells.unknown[cell];
      }
    }
  }
  for (std::size_t b = 0; b < bits.size(); ++b) {
    Series& series = series_[bits[b].series];
    const store::BitCells& bit = counts.bits[b];
    const std::vector<std::uint32_t>& valid = counts.registers[bit.register_index].valid;
    for (std::size_t cell = 0; cell < bit.busy.size(); ++cell) {
      const analysis::Cell sums{valid[cell], bit.busy[cell], bit.changes[cell]};
      series.total.samples += sums.samples;
      series.total.busy += sums.busy;
      series.total.changes += sums.changes;
      series.cells.add(sums);
      if (const auto column = column_of(cell)) {
        series.columns[*column].known += sums.samples;
        series.columns[*column].busy += sums.busy;
      }
    }
  }
}

Status UnitCollector::add_means(const store::SessionReader& session,
                                const store::StoredSegment& segment, std::span<const Bit> bits) {
  const Result<std::vector<store::WindowMean>> means = session.window_means(segment);
  if (!means) {
    return tl::unexpected<Error>(means.error());
  }
  std::map<std::pair<std::size_t, std::uint8_t>, std::size_t> series_of;
  for (const Bit& bit : bits) {
    series_of[{bit.ref.register_index, bit.ref.bit}] = bit.series;
  }
  for (const store::WindowMean& mean : *means) {
    const auto it = series_of.find({mean.register_index, mean.bit});
    if (it != series_of.end()) {
      add_mean(series_[it->second], mean);
    }
  }
  return {};
}

void UnitCollector::add_mean(Series& series, const store::WindowMean& mean) {
  const std::int64_t start = std::max(mean.start_ns, timeline_.start_ns);
  const std::int64_t end = std::min(mean.end_ns, timeline_.end_ns);
  if (end <= start) {
    return;
  }
  has_window_means_ = true;
  const auto inside = static_cast<double>(end - start);
  series.means.weight_ns += inside;
  series.means.busy_ns += mean.busy * inside;
  series.means.samples_known = series.means.samples_known && mean.samples.has_value();
  const double samples =
      mean.samples.value_or(0) * inside / static_cast<double>(mean.end_ns - mean.start_ns);
  series.means.samples += samples;
  series.means.busy_samples += mean.busy * samples;
  for (std::int64_t at = start; at < end;) {
    const std::int64_t column = (at - timeline_.start_ns) / timeline_.column_ns;
    const std::int64_t next =
        std::min(end, timeline_.start_ns + (column + 1) * timeline_.column_ns);
    if (const auto index = column_at(at)) {
      series.columns[*index].known += static_cast<double>(next - at);
      series.columns[*index].busy += mean.busy * static_cast<double>(next - at);
    }
    at = next;
  }
}

std::optional<std::size_t> UnitCollector::column_at(std::int64_t time_ns) const {
  if (timeline_.columns == 0) {
    return std::nullopt;
  }
  const std::int64_t since = std::max<std::int64_t>(0, time_ns - timeline_.start_ns);
  return std::min(static_cast<std::size_t>(since / timeline_.column_ns), timeline_.columns - 1);
}

std::vector<report::Unit> UnitCollector::units() const {
  std::vector<report::Unit> units;
  for (const Series& series : series_) {
    report::Unit unit = series.unit;
    const MeanSums& means = series.means;
    if (series.total.samples > 0) {
      unit.busy =
          static_cast<double>(series.total.busy) / static_cast<double>(series.total.samples);
      unit.samples = series.total.samples;
      unit.ci95 = analysis::ci95(series.total, series.cells.cells());
      unit.ci95_run = analysis::ci95_run(series.total);
    } else if (means.weight_ns > 0) {
      const bool weighted = means.samples_known && means.samples > 0;
      unit.busy = weighted ? means.busy_samples / means.samples : means.busy_ns / means.weight_ns;
      if (weighted) {
        unit.samples = static_cast<std::uint64_t>(std::llround(means.samples));
      }
    } else {
      continue;
    }
    units.push_back(std::move(unit));
  }
  return units;
}

report::BandCell UnitCollector::band_cell(const Series& series, std::size_t column) const {
  const Column& sums = series.columns[column];
  double asleep = 0;
  double unknown = 0;
  if (const auto it = registers_.find(series.unit.register_name); it != registers_.end()) {
    asleep = it->second.asleep[column];
    unknown = it->second.unknown[column];
  }
  if (sums.known + asleep + unknown <= 0) {
    return {report::BandState::kNoData, 0};
  }
  if (sums.known >= std::max(asleep, unknown)) {
    return {report::BandState::kMeasured, sums.busy / sums.known};
  }
  return {asleep > unknown ? report::BandState::kAsleep : report::BandState::kUnknown, 0};
}

report::BandRow UnitCollector::band_row(const Series& series) const {
  report::BandRow row{.label = series.unit.name, .cells = {}};
  for (std::size_t column = 0; column < timeline_.columns; ++column) {
    row.cells.push_back(band_cell(series, column));
  }
  return row;
}

report::Band UnitCollector::band() const {
  report::Band band{.column_s = static_cast<double>(timeline_.column_ns) / 1e9, .rows = {}};
  const auto busy_of = [](const Series& series) {
    double known = 0;
    double busy = 0;
    for (const Column& column : series.columns) {
      known += column.known;
      busy += column.busy;
    }
    return known > 0 ? busy / known : -1;
  };
  std::map<regdb::UnitGroup, const Series*> busiest;
  for (const Series& series : series_) {
    if (is_whole_pipe(series.unit)) {
      band.rows.push_back(band_row(series));
    }
    const Series*& best = busiest[series.unit.group];
    const bool candidate = !series.unit.engine && busy_of(series) > 0 &&
                           series.unit.group != regdb::UnitGroup::kFrontEnd;
    if (candidate && (best == nullptr || busy_of(series) > busy_of(*best))) {
      best = &series;
    }
  }
  for (const auto& [group, series] : busiest) {
    if (series != nullptr) {
      band.rows.push_back(band_row(*series));
    }
  }
  return band;
}

}  // namespace gputrace::commands
