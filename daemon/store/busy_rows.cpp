#include "daemon/store/busy_rows.h"

#include <algorithm>
#include <string>
#include <utility>

namespace gputrace::store {

namespace {
constexpr int kFirstBitColumn = 5;
}  // namespace

Result<BusyRows> BusyRows::create(Database& database, std::vector<Register> registers) {
  std::string sql = "INSERT OR REPLACE INTO register_seconds VALUES (?, ?, ?, ?";
  for (int bit = 0; bit < 32; ++bit) {
    sql += ", ?";
  }
  Result<Statement> insert = database.prepare(sql + ")");
  if (!insert) {
    return tl::unexpected<Error>(insert.error());
  }
  return BusyRows(std::move(*insert), std::move(registers));
}

BusyRows::BusyRows(Statement insert, std::vector<Register> registers)
    : insert_(std::move(insert)), registers_(std::move(registers)), counts_(registers_.size()) {}

Status BusyRows::add(const BlockSummary& summary, const BlockCounts& counts) {
  for (std::size_t cell = 0; cell < summary.cells(); ++cell) {
    const std::int64_t second =
        (summary.first_cell + static_cast<std::int64_t>(cell)) / kCellsPerSecond;
    if (second != second_) {
      if (Status status = flush(); !status) {
        return status;
      }
      second_ = second;
      std::fill(counts_.begin(), counts_.end(), Counts{});
    }
    changed_ = changed_ || summary.cell_ticks[cell] > 0;
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      const CellStates& states = counts.states(r, cell);
      counts_[r].states.valid += states.valid;
      counts_[r].states.asleep += states.asleep;
      counts_[r].states.unknown += states.unknown;
      for (unsigned bit = 0; bit < 32; ++bit) {
        counts_[r].busy[bit] += counts.bit(r, bit, cell).busy;
      }
    }
  }
  return {};
}

Status BusyRows::flush() {
  if (!changed_) {
    return {};
  }
  changed_ = false;
  return write_second();
}

Status BusyRows::write_second() {
  for (std::size_t r = 0; r < counts_.size(); ++r) {
    const Counts& counts = counts_[r];
    insert_.bind(1, second_ << kKeyShift | registers_[r].id)
        .bind(2, std::int64_t{counts.states.valid})
        .bind(3, std::int64_t{counts.states.asleep})
        .bind(4, std::int64_t{counts.states.unknown});
    for (int bit = 0; bit < 32; ++bit) {
      if ((registers_[r].units >> bit & 1U) == 0) {
        insert_.bind_null(kFirstBitColumn + bit);
      } else {
        insert_.bind(kFirstBitColumn + bit,
                     static_cast<std::int64_t>(counts.busy[static_cast<std::size_t>(bit)]));
      }
    }
    if (Status status = insert_.run(); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace gputrace::store
