// Walks the stored blocks of one segment, in order, optionally only those that touch a time span.
// Blocks out of order are an error: of a walk over all of them always, of a span where it sees
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "daemon/store/block_codec.h"
#include "daemon/store/database.h"
#include "daemon/store/session_reader.h"

namespace gputrace::store {

/// What of a block is read. SQLite fetches every column that a statement names, looked at or not,
/// and nine tenths of a block are its planes.
enum class BlockBlobs { kAll, kSummary };

/// A row of `blocks`.
class StoredBlock {
 public:
  StoredBlock(const Statement& row, BlockRow header) : row_(&row), header_(header) {}

  [[nodiscard]] const BlockRow& header() const { return header_; }
  [[nodiscard]] std::span<const std::byte> summary() const { return row_->blob(5); }
  /// Empty unless all blobs were asked for, as are planes().
  [[nodiscard]] std::span<const std::byte> times() const { return row_->blob(6); }
  [[nodiscard]] std::span<const std::byte> planes() const { return row_->blob(7); }

 private:
  const Statement* row_;
  BlockRow header_;
};

Status for_each_stored_block(Database& database, const StoredSegment& segment,
                             std::optional<TimeSpan> span, BlockBlobs blobs,
                             const std::function<Status(const StoredBlock&)>& visit);

/// Decodes the ticks of stored blocks into one block that it reuses.
class TickDecoder {
 public:
  explicit TickDecoder(const StoredSegment& segment)
      : register_count_(segment.description.registers.size()),
        decoder_(segment.description.start_ns, register_count_) {}

  Result<BlockSummary> summary(const StoredBlock& block) {
    return decoder_.decode_summary(block.header(), block.summary());
  }
  /// `wanted` as for BlockCounts.
  Result<BlockCounts> counts(const StoredBlock& block, const BlockSummary& summary,
                             std::span<const std::uint32_t> wanted) {
    return decoder_.decode_counts(block.header(), summary, block.planes(), wanted);
  }
  /// Valid until the next call.
  Result<sampler::SampleBlock*> ticks(const StoredBlock& block, const BlockSummary& summary);

 private:
  std::size_t register_count_;
  BlockDecoder decoder_;
  std::optional<sampler::SampleBlock> block_;
};

/// Keeps the ticks inside the span.
void trim_block(sampler::SampleBlock& block, const TimeSpan& span);

}  // namespace gputrace::store
