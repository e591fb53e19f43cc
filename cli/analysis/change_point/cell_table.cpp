#include "cli/analysis/change_point/cell_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gputrace::analysis::change_point {
namespace {

/// Cells of the source that are in memory at once in their own form.
constexpr std::size_t kPieceCells = 4096;
/// Parts of the recording that are looked at for its usual number of samples, and their cells.
constexpr std::size_t kProbes = 5;
constexpr std::size_t kProbeCells = 40;
/// Longer cells would blur more than they show.
constexpr double kMaxCellS = 5;
/// Columns are compared in pieces, the sooner to see that they differ.
constexpr std::size_t kComparedCells = 1024;

double median(std::vector<std::uint32_t>& values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Changes and what independent samples would show, to tell how correlated samples are. Busy
/// fractions are taken over about a second, because a change of the load is no correlation.
class Inflation {
 public:
  explicit Inflation(std::size_t block_cells) : block_cells_(block_cells) {}

  void add(const Cell& cell) {
    samples_ += cell.samples;
    busy_ += cell.busy;
    changes_ += cell.changes;
    mixed_ += cell.busy > 0 && cell.busy < cell.samples ? 1U : 0U;
    if (++in_block_ == block_cells_) {
      close_block();
    }
  }

  [[nodiscard]] double value() {
    close_block();
    // A cell that was busy and idle changed at least once; so these counts are not of samples.
    if (changes_ < mixed_) {
      return 1;
    }
    const double omega =
        std::min(1.0, (static_cast<double>(changes_) + kPriorOmega * kPriorWeight) /
                          (expected_changes_ + kPriorWeight));
    return (2 - omega) / omega;
  }

 private:
  static constexpr double kPriorOmega = 0.2;
  static constexpr double kPriorWeight = 20;

  void close_block() {
    if (samples_ > 0) {
      expected_changes_ += 2 * static_cast<double>(busy_) *
                           static_cast<double>(samples_ - std::min(busy_, samples_)) /
                           static_cast<double>(samples_);
    }
    samples_ = 0;
    busy_ = 0;
    in_block_ = 0;
  }

  std::size_t block_cells_;
  std::size_t in_block_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t busy_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t mixed_ = 0;
  double expected_changes_ = 0;
};

/// Counts beyond 16 bits keep their share.
CellCounts compact(std::uint32_t samples, std::uint32_t busy) {
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint16_t>::max();
  if (samples > kMax) {
    busy = static_cast<std::uint32_t>(std::uint64_t{busy} * kMax / samples);
    samples = kMax;
  }
  return {static_cast<std::uint16_t>(samples), static_cast<std::uint16_t>(std::min(busy, samples))};
}

Cell sum_of(std::span<const Cell> cells) {
  Cell sum;
  for (const Cell& cell : cells) {
    sum.samples += cell.samples;
    sum.busy += cell.busy;
    sum.changes += cell.changes;
  }
  return sum;
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& values, std::size_t first,
                     std::size_t last) {
  std::uint64_t sum = 0;
  for (std::size_t i = first; i < last; ++i) {
    sum += values[i];
  }
  return sum;
}

CellState state_of(std::uint64_t valid, std::uint64_t asleep, std::uint64_t unknown) {
  if (asleep > valid + unknown) {
    return CellState::kAsleep;
  }
  return valid > 0 ? CellState::kAwake : CellState::kNothingKnown;
}

Status check_shape(const BusyGrid& grid, std::size_t units, std::size_t cells) {
  bool fits =
      grid.units.size() == units && grid.asleep.size() == cells && grid.unknown.size() == cells;
  for (const GridUnit& unit : grid.units) {
    fits = fits && unit.cells.size() == cells;
  }
  if (!fits) {
    return fail(
        ErrorCode::kCorrupt,
        "the busy counts of this recording do not fit together: units or cells are missing");
  }
  return {};
}

double usual_samples(const Column& column) {
  std::vector<std::uint32_t> samples;
  samples.reserve(column.cells.size());
  for (const CellCounts& cell : column.cells) {
    if (cell.samples > 0) {
      samples.push_back(cell.samples);
    }
  }
  return median(samples);
}

void drop_thin_cells(Column& column) {
  const auto least = static_cast<std::uint16_t>(
      std::ceil(std::min<double>(kMinSamples, column.usual_samples / 4)));
  for (CellCounts& cell : column.cells) {
    const bool kept = cell.samples >= least;
    cell = {.samples = kept ? cell.samples : std::uint16_t{0},
            .busy = kept ? cell.busy : std::uint16_t{0}};
  }
}

/// Puts `factor` cells together, appends them to the column, and raises `valid` to their samples.
void append(std::span<const Cell> cells, std::size_t factor, Inflation& inflation,
            std::vector<CellCounts>& to, std::span<std::uint32_t> valid) {
  Inflation running = inflation;  // in registers
  const std::size_t before = to.size();
  to.resize(before + valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const Cell sum =
        factor == 1
            ? cells[i]
            : sum_of(cells.subspan(i * factor, std::min(factor, cells.size() - i * factor)));
    running.add(sum);
    to[before + i] = compact(sum.samples, sum.busy);
    valid[i] = std::max(valid[i], sum.samples);
  }
  inflation = running;
}

}  // namespace

bool have_same_samples(const Column& a, const Column& b) {
  for (std::size_t from = 0; from < a.cells.size(); from += kComparedCells) {
    const std::size_t end = std::min(a.cells.size(), from + kComparedCells);
    unsigned differing = 0;  // no way out of the inner loop, so that it is vectorised
    for (std::size_t i = from; i < end; ++i) {
      differing |= static_cast<unsigned>(a.cells[i].samples ^ b.cells[i].samples);
    }
    if (differing != 0) {
      return false;
    }
  }
  return true;
}

std::vector<std::size_t> searched_units(std::span<const UnitKey> units) {
  std::vector<std::size_t> searched;
  for (std::size_t u = 0; u < units.size(); ++u) {
    // The OR of the others in its register on GFX11 and later.
    if (units[u].name != "ANY_ACTIVE") {
      searched.push_back(u);
    }
  }
  return searched;
}

Result<std::size_t> cell_factor(const GridSource& source) {
  std::vector<std::uint32_t> samples;
  const std::size_t cells = source.cells();
  const std::size_t probe = std::min(cells, kProbeCells);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const auto grid = source.read((cells - probe) * i / (kProbes - 1), probe);
    if (!grid) {
      return tl::unexpected(grid.error());
    }
    if (Status fits = check_shape(*grid, source.units().size(), probe); !fits) {
      return tl::unexpected(fits.error());
    }
    for (std::size_t cell = 0; cell < probe; ++cell) {
      std::uint32_t most = 0;
      for (const GridUnit& unit : grid->units) {
        most = std::max(most, unit.cells[cell].samples);
      }
      if (most > 0) {
        samples.push_back(most);
      }
    }
  }
  const double usual = median(samples);
  if (usual <= 0 || usual >= kMinSamples) {
    return 1;
  }
  const double longest = std::max(1.0, std::floor(kMaxCellS / source.cell_s() + 1e-9));
  return static_cast<std::size_t>(std::min(longest, std::ceil(kMinSamples / usual)));
}

Result<CellTable> read_table(const GridSource& source, std::span<const std::size_t> units,
                             std::size_t first, std::size_t cells, std::size_t factor) {
  GPUTRACE_CHECK(first <= source.cells() && factor > 0);
  CellTable table;
  table.first = first;
  table.factor = factor;
  table.cell_s = source.cell_s() * static_cast<double>(factor);
  const std::size_t left = source.cells() - first;
  const std::size_t last = first + std::min(left, cells * factor);
  const std::size_t count = (last - first + factor - 1) / factor;
  const auto block_cells = static_cast<std::size_t>(std::max(1L, std::lround(1 / table.cell_s)));
  std::vector<Inflation> inflations(units.size(), Inflation(block_cells));
  for (const std::size_t unit : units) {
    table.columns.push_back({.unit = unit, .cells = {}});
    table.columns.back().cells.reserve(count);
  }
  table.states.reserve(count);
  const std::size_t piece = std::max<std::size_t>(1, kPieceCells / factor) * factor;
  for (std::size_t at = first; at < last; at += piece) {
    const std::size_t size = std::min(piece, last - at);
    const auto grid = source.read(at, size);
    if (!grid) {
      return tl::unexpected(grid.error());
    }
    if (Status fits = check_shape(*grid, source.units().size(), size); !fits) {
      return tl::unexpected(fits.error());
    }
    std::vector<std::uint32_t> valid((size + factor - 1) / factor);
    for (std::size_t c = 0; c < units.size(); ++c) {
      append(grid->units[units[c]].cells, factor, inflations[c], table.columns[c].cells, valid);
    }
    for (std::size_t cell = 0; cell < size; cell += factor) {
      const std::size_t end = std::min(size, cell + factor);
      table.states.push_back(state_of(valid[cell / factor], sum_of(grid->asleep, cell, end),
                                      sum_of(grid->unknown, cell, end)));
    }
  }
  for (std::size_t c = 0; c < units.size(); ++c) {
    Column& column = table.columns[c];
    column.inflation = inflations[c].value();
    // Mostly all units of a register, or of all, have the same samples.
    const bool as_before = c > 0 && have_same_samples(table.columns[c - 1], column);
    column.usual_samples = as_before ? table.columns[c - 1].usual_samples : usual_samples(column);
  }
  for (Column& column : table.columns) {
    drop_thin_cells(column);
  }
  return table;
}

}  // namespace gputrace::analysis::change_point
