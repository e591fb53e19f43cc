#include "cli/commands/calibration/busy_units.h"

#include <algorithm>
#include <utility>

#include "cli/analysis/statistics.h"

namespace gputrace::commands {

namespace {

struct Bit {
  store::BitRef ref;
  analysis::UnitKey key;
};

std::vector<Bit> bits_of(const store::StoredSegment& segment, const regdb::RegisterMap& map) {
  std::vector<Bit> bits;
  for (std::size_t i = 0; i < segment.description.registers.size(); ++i) {
    const std::string& name = segment.description.registers[i].name;
    const regdb::Register* reg = map.find(name);
    if (reg == nullptr) {
      continue;
    }
    for (const regdb::RegisterField& field : reg->fields) {
      if (field.kind == regdb::FieldKind::kBusy && field.width == 1) {
        bits.push_back({{i, field.shift}, {name, field.name}});
      }
    }
  }
  return bits;
}

}  // namespace

Result<std::vector<analysis::BusyUnit>> busy_units(const store::SessionReader& session,
                                                   const store::StoredSegment& segment,
                                                   const regdb::RegisterMap& map,
                                                   const store::TimeSpan& span) {
  const std::vector<Bit> bits = bits_of(segment, map);
  std::vector<store::BitRef> refs(bits.size());
  std::ranges::transform(bits, refs.begin(), &Bit::ref);
  const Result<store::SegmentCounts> counts = session.counts(segment, refs, span);
  if (!counts) {
    return tl::unexpected<Error>(counts.error());
  }
  std::vector<analysis::BusyUnit> units;
  for (std::size_t b = 0; b < bits.size(); ++b) {
    const store::BitCells& bit = counts->bits[b];
    const std::vector<std::uint32_t>& valid = counts->registers[bit.register_index].valid;
    analysis::Counts total;
    std::vector<analysis::Cell> cells;
    cells.reserve(bit.busy.size());
    for (std::size_t c = 0; c < bit.busy.size(); ++c) {
      cells.push_back({valid[c], bit.busy[c], bit.changes[c]});
      total.samples += cells.back().samples;
      total.busy += cells.back().busy;
      total.changes += cells.back().changes;
    }
    if (total.samples < analysis::kMinSamplesForInterval) {
      continue;
    }
    units.push_back({.key = bits[b].key,
                     .busy = static_cast<double>(total.busy) / static_cast<double>(total.samples),
                     .counts = total,
                     .ci95 = analysis::ci95(total, cells)});
  }
  return units;
}

Result<std::vector<analysis::BusyUnit>> busy_units_at(const store::SessionReader& session,
                                                      const regdb::RegisterDatabase& regdb,
                                                      const store::TimeSpan& span) {
  const auto& segments = session.segments();
  const auto segment = std::ranges::find_if(segments, [&](const store::StoredSegment& each) {
    return each.description.start_ns <= span.start_ns && span.start_ns < each.end_ns;
  });
  if (segment == segments.end()) {
    return std::vector<analysis::BusyUnit>();
  }
  const Result<regdb::RegisterMap> map = regdb.map_for_table(segment->description.regdb_table);
  return map ? busy_units(session, *segment, *map, span)
             : Result<std::vector<analysis::BusyUnit>>(tl::unexpected<Error>(map.error()));
}

}  // namespace gputrace::commands
