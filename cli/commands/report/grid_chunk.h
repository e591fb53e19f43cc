// Counts of many cells of a grid: as they are added up, and packed to be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/busy_grid.h"
#include "cli/commands/report/grid_units.h"
#include "cli/commands/report/packed_cells.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// Read from the file at once, and kept at once: ten minutes. An hour of counts is 45 MB.
inline constexpr std::size_t kGridChunkCells = 6'000;

/// Counts of a chunk, each register's valid samples once.
class ChunkCounts {
 public:
  ChunkCounts(const std::vector<analysis::UnitKey>& keys, std::size_t cells);

  /// Counts of a segment whose first cell is cell `at` here. `refs`: the bits that were counted;
  /// those that the layout does not have are left out.
  void add(const SegmentLayout& segment, std::span<const store::BitRef> refs,
           const store::SegmentCounts& counts, std::size_t at);

  struct Unit {
    std::vector<std::uint32_t> busy;
    std::vector<std::uint32_t> changes;
  };
  std::map<std::string, std::vector<std::uint32_t>> valid;  ///< by register
  std::vector<Unit> units;
  std::vector<std::uint32_t> asleep;
  std::vector<std::uint32_t> unknown;
};

struct KeptChunk {
  struct Unit {
    PackedCounts busy;
    PackedCounts changes;
  };
  std::map<std::string, PackedCounts> valid;
  std::vector<Unit> units;
  PackedCounts asleep;
  PackedCounts unknown;

  [[nodiscard]] std::size_t bytes() const;
};
/// Absent for counts that are too large to be packed.
[[nodiscard]] std::optional<KeptChunk> pack(const ChunkCounts& chunk);

}  // namespace gputrace::commands
