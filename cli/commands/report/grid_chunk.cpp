#include "cli/commands/report/grid_chunk.h"

#include <algorithm>
#include <utility>

namespace gputrace::commands {

ChunkCounts::ChunkCounts(const std::vector<analysis::UnitKey>& keys, std::size_t cells)
    : units(keys.size()), asleep(cells), unknown(cells) {
  for (std::size_t u = 0; u < keys.size(); ++u) {
    valid[keys[u].register_name].resize(cells);
    units[u].busy.resize(cells);
    units[u].changes.resize(cells);
  }
}

void ChunkCounts::add(const SegmentLayout& segment, std::span<const store::BitRef> refs,
                      const store::SegmentCounts& counts, std::size_t at) {
  const auto room = [&](std::size_t cells) { return std::min(cells, asleep.size() - at); };
  for (std::size_t r = 0; r < counts.registers.size(); ++r) {
    const auto it = valid.find(segment.segment->description.registers[r].name);
    const std::vector<std::uint32_t>& samples = counts.registers[r].valid;
    for (std::size_t i = 0; it != valid.end() && i < room(samples.size()); ++i) {
      it->second[at + i] += samples[i];
    }
  }
  for (const GridBit& wanted : segment.bits) {
    const auto ref = std::ranges::find_if(refs, [&wanted](const store::BitRef& each) {
      return each.register_index == wanted.ref.register_index && each.bit == wanted.ref.bit;
    });
    if (ref == refs.end()) {
      continue;
    }
    const store::BitCells& bit = counts.bits[static_cast<std::size_t>(ref - refs.begin())];
    Unit& unit = units[wanted.unit];
    for (std::size_t i = 0; i < room(bit.busy.size()); ++i) {
      unit.busy[at + i] += bit.busy[i];
      unit.changes[at + i] += bit.changes[i];
    }
  }
  const std::size_t cells = counts.registers.empty() ? 0 : counts.registers[0].valid.size();
  for (std::size_t i = 0; i < room(cells); ++i) {
    const auto least = [&](std::vector<std::uint32_t> store::RegisterCells::* member) {
      std::uint32_t smallest = (counts.registers[0].*member)[i];
      for (const store::RegisterCells& reg : counts.registers) {
        smallest = std::min(smallest, (reg.*member)[i]);
      }
      return smallest;
    };
    asleep[at + i] += least(&store::RegisterCells::asleep);
    unknown[at + i] += least(&store::RegisterCells::unknown);
  }
}

std::size_t KeptChunk::bytes() const {
  std::size_t sum = asleep.bytes() + unknown.bytes();
  for (const auto& [name, counts] : valid) {
    sum += counts.bytes();
  }
  for (const Unit& unit : units) {
    sum += unit.busy.bytes() + unit.changes.bytes();
  }
  return sum;
}

std::optional<KeptChunk> pack(const ChunkCounts& chunk) {
  KeptChunk kept;
  bool fits = true;
  const auto packed = [&fits](const std::vector<std::uint32_t>& counts) {
    std::optional<PackedCounts> made = PackedCounts::pack(counts);
    fits = fits && made.has_value();
    return std::move(made).value_or(PackedCounts{});
  };
  for (const auto& [name, counts] : chunk.valid) {
    kept.valid.emplace(name, packed(counts));
  }
  for (const ChunkCounts::Unit& unit : chunk.units) {
    kept.units.push_back({packed(unit.busy), packed(unit.changes)});
  }
  kept.asleep = packed(chunk.asleep);
  kept.unknown = packed(chunk.unknown);
  return fits ? std::optional(std::move(kept)) : std::nullopt;
}

}  // namespace gputrace::commands
