// The plain rows that a person can query: for each register and second the samples of each state
// and the busy samples of each unit. Collects cells of blocks and writes a second once it is
// complete (or at a commit).
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/store/block_codec.h"
#include "daemon/store/database.h"

namespace gputrace::store {

/// Row keys: second << kKeyShift | id of the register.
inline constexpr int kKeyShift = 16;
inline constexpr std::int64_t kMaxKeyId = (1 << kKeyShift) - 1;
inline constexpr std::int64_t kCellsPerSecond = 10;

class BusyRows {
 public:
  struct Register {
    std::int64_t id = 0;
    std::uint32_t units = 0;  ///< mask of the bits that are units
  };
  static Result<BusyRows> create(Database& database, std::vector<Register> registers);

  /// Adds the cells of a block; seconds before its last one are written.
  Status add(const BlockSummary& summary, const BlockCounts& counts);
  /// Writes what is collected of the current second, to be replaced when more of it comes.
  Status flush();

 private:
  struct Counts {
    CellStates states;
    std::array<std::uint64_t, 32> busy{};
  };

  BusyRows(Statement insert, std::vector<Register> registers);
  Status write_second();

  Statement insert_;
  std::vector<Register> registers_;
  std::int64_t second_ = -1;
  bool changed_ = false;
  std::vector<Counts> counts_;  ///< per register
};

}  // namespace gputrace::store
