#include "daemon/store/segment_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "regdb/register_database.h"

namespace gputrace::store {

namespace {

// A recording begins a segment when its registers, its GPU or its rate change: a few.
constexpr std::size_t kMaxSegments = 10'000;

/// Trailing empty buckets are left out: "[0,12,903]".
std::string lateness_text(const sampler::SamplingTotals& totals) {
  std::size_t used = totals.lateness.size();
  while (used > 0 && totals.lateness[used - 1] == 0) {
    --used;
  }
  return fmt::format("[{}]",
                     fmt::join(totals.lateness.begin(),
                               totals.lateness.begin() + static_cast<std::ptrdiff_t>(used), ","));
}

bool parse_lateness(std::string_view text, sampler::SamplingTotals& totals) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return false;
  }
  const char* at = text.data() + 1;
  const char* end = text.data() + text.size() - 1;
  for (std::size_t i = 0; at < end; ++i) {
    if (i == totals.lateness.size()) {
      return false;
    }
    const auto [next, error] = std::from_chars(at, end, totals.lateness[i]);
    if (error != std::errc() || (next != end && *next != ',')) {
      return false;
    }
    at = next == end ? end : next + 1;
  }
  return true;
}

Status insert_units(Database& database, const SegmentDescription& description,
                    std::vector<BusyRows::Register>& registers) {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  const Result<regdb::RegisterMap> map = regdb.map_for_table(description.regdb_table);
  Result<Statement> insert =
      database.prepare("INSERT INTO units (register, bit, name) VALUES (?, ?, ?)");
  if (!insert) {
    return tl::unexpected<Error>(insert.error());
  }
  for (std::size_t r = 0; map && r < registers.size(); ++r) {
    const regdb::Register* known = map->find(description.registers[r].name);
    if (known == nullptr) {
      continue;
    }
    for (const regdb::RegisterField& field : known->fields) {
      if (field.kind != regdb::FieldKind::kBusy || field.width != 1) {
        continue;
      }
      insert->bind(1, registers[r].id).bind(2, std::int64_t{field.shift}).bind(3, field.name);
      if (Status status = insert->run(); !status) {
        return status;
      }
      registers[r].units |= 1U << field.shift;
    }
  }
  return {};
}

template <class T>
std::optional<T> narrow(std::optional<std::int64_t> value) {
  return value ? std::optional<T>(static_cast<T>(*value)) : std::nullopt;
}

Result<std::vector<std::int64_t>> load_registers(Database& database, StoredSegment& segment) {
  std::vector<std::int64_t> ids;
  Result<Statement> query = database.prepare(
      "SELECT id, name, dword_offset, source, reads, read_cost_ns FROM registers "
      "WHERE segment = ? ORDER BY position");
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  query->bind(1, segment.id);
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    if (!*row) {
      return ids;
    }
    if (ids.size() == sampler::kMaxRegisters) {
      return fail(ErrorCode::kCorrupt, "a segment with too many registers");
    }
    segment.totals.reads[ids.size()] = static_cast<std::uint64_t>(query->integer(4));
    segment.totals.read_cost_ns[ids.size()] = static_cast<std::uint64_t>(query->integer(5));
    ids.push_back(query->integer(0));
    segment.description.registers.push_back(
        {query->text(1), static_cast<std::uint32_t>(query->integer(2)), query->text(3)});
  }
}

/// Columns of the SELECT in load_segments.
Result<StoredSegment> read_segment_row(const Statement& row) {
  StoredSegment segment;
  segment.id = row.integer(0);
  segment.end_ns = row.integer(2);
  SegmentDescription& description = segment.description;
  description.start_ns = row.integer(1);
  description.reason = row.text(3);
  if (!row.is_null(4)) {
    description.rate_hz = row.real(4);
  }
  description.regdb_table = row.text(5);
  description.regdb_revision = row.text(6);
  sampler::GpuIdentity& gpu = description.gpu;
  gpu.name = row.text(7);
  if (!row.is_null(8)) {
    const Result<regdb::GcVersion> gc = regdb::parse_gc_version(row.text(8));
    if (!gc) {
      return tl::unexpected<Error>(gc.error());
    }
    gpu.gc = *gc;
  }
  gpu.pci = row.text(9);
  gpu.vendor_id = narrow<std::uint16_t>(row.optional_integer(10));
  gpu.device_id = narrow<std::uint16_t>(row.optional_integer(11));
  gpu.revision_id = narrow<std::uint8_t>(row.optional_integer(12));
  gpu.driver = row.text(13);
  gpu.simulated = row.integer(14) != 0;
  gpu.scenario = row.text(15);
  segment.totals.ticks = static_cast<std::uint64_t>(row.integer(16));
  segment.totals.missed = static_cast<std::uint64_t>(row.integer(17));
  segment.totals.dropped_ticks = static_cast<std::uint64_t>(row.integer(18));
  segment.totals.cpu_ns = row.integer(19);
  if (!parse_lateness(row.text(20), segment.totals)) {
    return fail(ErrorCode::kCorrupt, "a lateness histogram that is none");
  }
  if (description.start_ns < 0 || segment.end_ns < description.start_ns ||
      description.rate_hz.value_or(1) <= 0) {
    return fail(ErrorCode::kCorrupt, "a segment with an impossible time or rate");
  }
  return segment;
}

}  // namespace

Result<InsertedSegment> insert_segment(Database& database, const SegmentDescription& description) {
  if (description.registers.size() > sampler::kMaxRegisters || description.start_ns < 0) {
    return fail(ErrorCode::kInvalidArgument, "a segment with too many registers or no start");
  }
  InsertedSegment inserted;
  Result<Statement> segment = database.prepare(
      "INSERT INTO segments (start_ns, end_ns, reason, rate_hz, regdb_table, regdb_revision, "
      "gpu_name, gc, pci, vendor_id, device_id, revision_id, driver, simulated, scenario, "
      "ticks, missed, dropped_ticks, cpu_ns, lateness) "
      "VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, 0, 0, 0, '[]') "
      "RETURNING id");
  Result<Statement> reg = database.prepare(
      "INSERT INTO registers (segment, position, name, dword_offset, source, reads, read_cost_ns) "
      "VALUES (?, ?, ?, ?, ?, 0, 0) RETURNING id");
  if (!segment || !reg) {
    return tl::unexpected<Error>(segment ? reg.error() : segment.error());
  }
  const sampler::GpuIdentity& gpu = description.gpu;
  segment->bind(1, description.start_ns)
      .bind(2, description.reason)
      .bind_optional(3, description.rate_hz)
      .bind(4, description.regdb_table)
      .bind(5, description.regdb_revision)
      .bind(6, gpu.name)
      .bind_optional(7, gpu.gc ? std::optional(regdb::to_string(*gpu.gc)) : std::nullopt)
      .bind(8, gpu.pci)
      .bind_optional(9, gpu.vendor_id)
      .bind_optional(10, gpu.device_id)
      .bind_optional(11, gpu.revision_id)
      .bind(12, gpu.driver)
      .bind(13, std::int64_t{gpu.simulated ? 1 : 0})
      .bind(14, gpu.scenario);
  if (const Result<bool> row = segment->step(); !row) {
    return tl::unexpected<Error>(row.error());
  }
  inserted.id = segment->integer(0);
  segment->reset();
  for (const sampler::OfferedRegister& offered : description.registers) {
    reg->bind(1, inserted.id)
        .bind(2, static_cast<std::int64_t>(inserted.registers.size()))
        .bind(3, offered.name)
        .bind(4, std::int64_t{offered.dword_offset})
        .bind(5, offered.source);
    if (const Result<bool> row = reg->step(); !row) {
      return tl::unexpected<Error>(row.error());
    }
    inserted.registers.push_back({reg->integer(0), 0});
    reg->reset();
    if (inserted.registers.back().id > kMaxKeyId) {
      return fail(ErrorCode::kUnsupported, "too many segments for one session file");
    }
  }
  if (const Status units = insert_units(database, description, inserted.registers); !units) {
    return tl::unexpected<Error>(units.error());
  }
  return inserted;
}

Status update_segment(Database& database, const InsertedSegment& segment, std::int64_t end_ns,
                      const sampler::SamplingTotals& totals) {
  Result<Statement> update = database.prepare(
      "UPDATE segments SET end_ns = ?, ticks = ?, missed = ?, dropped_ticks = ?, cpu_ns = ?, "
      "lateness = ? WHERE id = ?");
  Result<Statement> reg =
      database.prepare("UPDATE registers SET reads = ?, read_cost_ns = ? WHERE id = ?");
  if (!update || !reg) {
    return tl::unexpected<Error>(update ? reg.error() : update.error());
  }
  update->bind(1, end_ns)
      .bind(2, static_cast<std::int64_t>(totals.ticks))
      .bind(3, static_cast<std::int64_t>(totals.missed))
      .bind(4, static_cast<std::int64_t>(totals.dropped_ticks))
      .bind(5, totals.cpu_ns)
      .bind(6, lateness_text(totals))
      .bind(7, segment.id);
  if (Status status = update->run(); !status) {
    return status;
  }
  for (std::size_t r = 0; r < segment.registers.size(); ++r) {
    reg->bind(1, static_cast<std::int64_t>(totals.reads[r]))
        .bind(2, static_cast<std::int64_t>(totals.read_cost_ns[r]))
        .bind(3, segment.registers[r].id);
    if (Status status = reg->run(); !status) {
      return status;
    }
  }
  return {};
}

Result<std::vector<LoadedSegment>> load_segments(Database& database) {
  std::vector<LoadedSegment> segments;
  Result<Statement> query = database.prepare(
      "SELECT id, start_ns, end_ns, reason, rate_hz, regdb_table, regdb_revision, gpu_name, gc, "
      "pci, vendor_id, device_id, revision_id, driver, simulated, scenario, ticks, missed, "
      "dropped_ticks, cpu_ns, lateness FROM segments ORDER BY id");
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    if (!*row) {
      return segments;
    }
    if (segments.size() == kMaxSegments) {
      return fail(ErrorCode::kCorrupt, "too many segments");
    }
    Result<StoredSegment> segment = read_segment_row(*query);
    if (!segment) {
      return tl::unexpected<Error>(segment.error());
    }
    Result<std::vector<std::int64_t>> ids = load_registers(database, *segment);
    if (!ids) {
      return tl::unexpected<Error>(ids.error());
    }
    segments.push_back({std::move(*segment), std::move(*ids)});
  }
}

}  // namespace gputrace::store
