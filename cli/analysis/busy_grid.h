// Busy bits of a recording as counts on a grid of equal cells, and as single ticks where a change
// must be placed more finely: what the search for phases reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/analysis/statistics.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

/// The key of a unit is (register_name, name).
struct UnitKey {
  std::string register_name;  ///< "GRBM_STATUS2"
  std::string name;           ///< "EA_BUSY"

  bool operator==(const UnitKey&) const = default;
};

struct GridUnit {
  UnitKey key;
  std::vector<Cell> cells;
};

/// Cells of one stretch of a recording. All units and both lists have the same number of cells.
struct BusyGrid {
  std::vector<GridUnit> units;
  std::vector<std::uint32_t> asleep;   ///< samples of a cell in which the GPU slept
  std::vector<std::uint32_t> unknown;  ///< that could not be read
};

/// One moment. Bit i speaks of the i-th unit of the source.
struct Tick {
  double at_s = 0;  ///< from the session's start
  std::uint64_t busy = 0;
  std::uint64_t valid = 0;
};

/// At most this many units fit a Tick; a source leaves out copies of a shader engine first.
inline constexpr std::size_t kMaxGridUnits = 64;

/// Where the cells come from. Long recordings are read in chunks, so that a day needs no more
/// memory than hours.
class GridSource {
 public:
  virtual ~GridSource() = default;

  [[nodiscard]] virtual const std::vector<UnitKey>& units() const = 0;
  [[nodiscard]] virtual double start_s() const = 0;  ///< of cell 0, from the session's start
  [[nodiscard]] virtual double cell_s() const = 0;   ///< 0.1, longer for windows of other tools
  [[nodiscard]] virtual std::size_t cells() const = 0;
  [[nodiscard]] virtual Result<BusyGrid> read(std::size_t first, std::size_t count) const = 0;
  /// In order of time; empty where the recording has no ticks (imports of percentages).
  [[nodiscard]] virtual Result<std::vector<Tick>> ticks(double from_s, double to_s) const = 0;
};

}  // namespace gputrace::analysis
