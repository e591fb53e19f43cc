// Runs of sensor readings that were read once, compressed: a report goes over them several times,
// and rows of SQLite cost more than everything that is done with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/store/compression.h"
#include "daemon/store/session.h"

namespace gputrace::store {

/// Of the first rows of a file, as many as there is room for.
class KeptRuns {
 public:
  explicit KeptRuns(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Begins to fill it. False when it was or is being filled already.
  [[nodiscard]] bool begin();
  /// Rows in the order of the file, each series' in order of time. False when there is no room
  /// left, for it and for all that follow.
  [[nodiscard]] bool add(std::int64_t row, std::int64_t series, const SensorRun& run);
  /// No row follows: all of the file's were given.
  void finish() { state_ = State::kFilled; }
  /// The pass failed; another one may begin.
  void forget();

  [[nodiscard]] bool filled() const { return state_ == State::kFilled; }
  /// What it has no room for comes behind this row; absent when it has all.
  [[nodiscard]] std::optional<std::int64_t> rest_behind() const {
    return full_ ? std::optional(last_row_) : std::nullopt;
  }
  /// In the order in which they were added.
  Status for_each(const std::function<Status(std::int64_t, const SensorRun&)>& visit) const;

 private:
  enum class State { kEmpty, kFilling, kFilled };
  /// What the next run of a series is told by its difference to.
  struct Last {
    std::int64_t end_ns = 0;
    std::int64_t gap_ns = 0;
    std::int64_t value = 0;
  };
  class Reader;
  /// Makes room for another run in `open_`.
  [[nodiscard]] bool close_chunk();

  State state_ = State::kEmpty;
  std::size_t most_bytes_;
  std::size_t kept_bytes_ = 0;
  bool full_ = false;
  std::int64_t last_row_ = 0;
  std::vector<std::vector<std::byte>> closed_;  ///< chunks, compressed
  std::vector<std::uint8_t> open_;              ///< the last one
  Compressor compressor_{kFastestLevel};
  std::vector<Last> last_;  ///< by series
};

}  // namespace gputrace::store
