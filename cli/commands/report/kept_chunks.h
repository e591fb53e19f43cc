// Chunks of counts that were read once: the first ones as they are, the others compressed, so that
// a day of them fits in memory.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/commands/report/grid_chunk.h"
#include "daemon/store/compression.h"

namespace gputrace::commands {

class KeptChunks {
 public:
  /// False when there is no room for it, or its counts are too large to be packed. A chunk that is
  /// there already stays.
  bool put(std::size_t index, const ChunkCounts& chunk);
  /// nullptr: it is not there. Valid until the next call.
  [[nodiscard]] const KeptChunk* find(std::size_t index);
  /// There is room for none.
  [[nodiscard]] bool full() const;

 private:
  using Compressed = std::vector<std::byte>;

  std::map<std::size_t, KeptChunk> plain_;
  std::map<std::size_t, Compressed> compressed_;
  std::size_t plain_bytes_ = 0;
  std::size_t compressed_bytes_ = 0;
  std::optional<std::pair<std::size_t, KeptChunk>> open_;  ///< the last one that was asked for
  store::Compressor compressor_{store::kFastestLevel};
  store::Decompressor decompressor_;
};

}  // namespace gputrace::commands
