#include "cli/analysis/window.h"

#include <array>

#include "daemon/base/result.h"

namespace gputrace::analysis {
namespace {

constexpr std::array<std::size_t, 8> kTenths{10, 15, 20, 30, 40, 50, 60, 80};

}  // namespace

Counts sum(std::span<const Cell> cells) {
  Counts total;
  for (const Cell& cell : cells) {
    total.samples += cell.samples;
    total.busy += cell.busy;
    total.changes += cell.changes;
  }
  return total;
}

void CellMerger::add(const Cell& cell) {
  if (cells_.empty() || in_last_ >= factor_) {
    cells_.emplace_back();
    in_last_ = 0;
  }
  Cell& last = cells_.back();
  last.samples += cell.samples;
  last.busy += cell.busy;
  last.changes += cell.changes;
  ++in_last_;
}

std::size_t round_column_length(std::size_t cells, std::size_t columns) {
  GPUTRACE_CHECK(columns > 0);
  const std::size_t needed = (cells + columns - 1) / columns;
  if (needed <= 6) {
    return needed == 0 ? 1 : needed;
  }
  for (std::size_t scale = 1;; scale *= 10) {
    for (const std::size_t tenths : kTenths) {
      const std::size_t length = tenths * scale / 10;
      if (length >= needed) {
        return length;
      }
    }
  }
}

}  // namespace gputrace::analysis
