// The plain rows that a person can query: busy counts per unit and second, states per register and
// second. Collects cells of blocks and writes a second once it is complete (or at a commit).
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/store/block_codec.h"
#include "daemon/store/database.h"

namespace gputrace::store {

/// Row keys: second << kKeyShift | id of the unit or register.
inline constexpr int kKeyShift = 16;
inline constexpr std::int64_t kMaxKeyId = (1 << kKeyShift) - 1;
inline constexpr std::int64_t kCellsPerSecond = 10;

class BusyRows {
 public:
  struct Unit {
    std::int64_t id = 0;
    std::size_t register_index = 0;
    unsigned bit = 0;
  };
  static Result<BusyRows> create(Database& database, std::vector<std::int64_t> register_ids,
                                 std::vector<Unit> units);

  /// Adds the cells of a block; seconds before its last one are written.
  Status add(const BlockSummary& summary, const BlockCounts& counts);
  /// Writes what is collected of the current second, to be replaced when more of it comes.
  Status flush();

 private:
  BusyRows(Statement insert_busy, Statement insert_states, std::vector<std::int64_t> register_ids,
           std::vector<Unit> units);
  Status write_second();

  Statement insert_busy_;
  Statement insert_states_;
  std::vector<std::int64_t> register_ids_;
  std::vector<Unit> units_;
  std::int64_t second_ = -1;
  bool changed_ = false;
  std::vector<std::uint64_t> busy_;  ///< per unit
  std::vector<CellStates> states_;   ///< per register
};

}  // namespace gputrace::store
