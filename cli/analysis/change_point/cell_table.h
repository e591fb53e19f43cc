// Counts of one chunk of a recording as the search for changes reads them: columns of units with
// compact counts, and for each cell whether anything is known of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/analysis/busy_grid.h"
#include "daemon/base/result.h"

namespace gputrace::analysis::change_point {

/// A cell with fewer valid samples of a unit says nothing of it; recordings with fewer a cell are
/// searched in longer ones.
inline constexpr std::uint32_t kMinSamples = 25;

struct CellCounts {
  std::uint16_t samples = 0;  ///< 0: nothing usable
  std::uint16_t busy = 0;
};

struct Column {
  std::size_t unit = 0;  ///< in the source
  std::vector<CellCounts> cells;
  double usual_samples = 0;  ///< median of a cell's samples; 0: the unit was never seen
  /// How many times the variance of a mean exceeds that of independent samples, by the number of
  /// changes; 1 where that is unknown.
  double inflation = 1;
};

/// In each cell.
[[nodiscard]] bool have_same_samples(const Column& a, const Column& b);

enum class CellState : std::uint8_t { kAwake, kAsleep, kNothingKnown };

struct CellTable {
  std::size_t first = 0;   ///< cell of the source
  std::size_t factor = 1;  ///< cells of the source in one of these
  double cell_s = 0.1;     ///< of these
  std::vector<Column> columns;
  std::vector<CellState> states;

  [[nodiscard]] std::size_t cells() const { return states.size(); }
};

/// The units that are searched: all but those that repeat others.
[[nodiscard]] std::vector<std::size_t> searched_units(std::span<const UnitKey> units);

/// Cells of the source to be put together, so that usual ones have kMinSamples.
[[nodiscard]] Result<std::size_t> cell_factor(const GridSource& source);

/// Reads `cells` (or fewer at the end) cells of `factor` cells of the source, from its cell
/// `first` on.
[[nodiscard]] Result<CellTable> read_table(const GridSource& source,
                                           std::span<const std::size_t> units, std::size_t first,
                                           std::size_t cells, std::size_t factor);

}  // namespace gputrace::analysis::change_point
