#include "daemon/store/busy_rows.h"

#include <algorithm>
#include <utility>

namespace gputrace::store {

Result<BusyRows> BusyRows::create(Database& database, std::vector<std::int64_t> register_ids,
                                  std::vector<Unit> units) {
  Result<Statement> busy =
      database.prepare("INSERT OR REPLACE INTO busy_seconds (key, busy) VALUES (?, ?)");
  Result<Statement> states = database.prepare(
      "INSERT OR REPLACE INTO state_seconds (key, valid, asleep, unknown) VALUES (?, ?, ?, ?)");
  if (!busy || !states) {
    return tl::unexpected<Error>(busy ? states.error() : busy.error());
  }
  return BusyRows(std::move(*busy), std::move(*states), std::move(register_ids), std::move(units));
}

BusyRows::BusyRows(Statement insert_busy, Statement insert_states,
                   std::vector<std::int64_t> register_ids, std::vector<Unit> units)
    : insert_busy_(std::move(insert_busy)),
      insert_states_(std::move(insert_states)),
      register_ids_(std::move(register_ids)),
      units_(std::move(units)),
      busy_(units_.size()),
      states_(register_ids_.size()) {}

Status BusyRows::add(const BlockSummary& summary, const BlockCounts& counts) {
  for (std::size_t cell = 0; cell < summary.cells(); ++cell) {
    const std::int64_t second =
        (summary.first_cell + static_cast<std::int64_t>(cell)) / kCellsPerSecond;
    if (second != second_) {
      if (Status status = flush(); !status) {
        return status;
      }
      second_ = second;
      std::fill(busy_.begin(), busy_.end(), 0);
      std::fill(states_.begin(), states_.end(), CellStates{});
    }
    changed_ = changed_ || summary.cell_ticks[cell] > 0;
    for (std::size_t r = 0; r < states_.size(); ++r) {
      const CellStates& states = counts.states(r, cell);
      states_[r].valid += states.valid;
      states_[r].asleep += states.asleep;
      states_[r].unknown += states.unknown;
    }
    for (std::size_t u = 0; u < units_.size(); ++u) {
      busy_[u] += counts.bit(units_[u].register_index, units_[u].bit, cell).busy;
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
  const std::int64_t key = second_ << kKeyShift;
  for (std::size_t r = 0; r < states_.size(); ++r) {
    insert_states_.bind(1, key | register_ids_[r])
        .bind(2, static_cast<std::int64_t>(states_[r].valid))
        .bind(3, static_cast<std::int64_t>(states_[r].asleep))
        .bind(4, static_cast<std::int64_t>(states_[r].unknown));
    if (Status status = insert_states_.run(); !status) {
      return status;
    }
  }
  for (std::size_t u = 0; u < units_.size(); ++u) {
    insert_busy_.bind(1, key | units_[u].id).bind(2, static_cast<std::int64_t>(busy_[u]));
    if (Status status = insert_busy_.run(); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace gputrace::store
