#include "daemon/store/block_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace gputrace::store {

namespace {

Result<BlockRow> read_header(const Statement& row, const StoredSegment& segment) {
  BlockRow header;
  header.start_ns = row.integer(0);
  header.end_ns = row.integer(1);
  const std::int64_t ticks = row.integer(2);
  if (ticks < 0 || ticks > static_cast<std::int64_t>(kMaxBlockTicks) ||
      header.start_ns < segment.description.start_ns || header.end_ns < header.start_ns ||
      header.end_ns > segment.end_ns) {
    return fail(ErrorCode::kCorrupt, "a block of an impossible size or time");
  }
  header.ticks = static_cast<std::size_t>(ticks);
  header.missed = static_cast<std::uint32_t>(row.integer(3));
  header.dropped_ticks = static_cast<std::uint32_t>(row.integer(4));
  return header;
}

/// Whether the blocks of a segment stand together and in order of time, as they are written.
class BlockOrder {
 public:
  explicit BlockOrder(std::int64_t segment) : segment_(segment) {}

  /// Each row from the first one that is looked at.
  [[nodiscard]] bool in_order(std::int64_t segment, std::int64_t start_ns, std::int64_t end_ns) {
    if (segment != segment_) {
      behind_ = inside_;
      return true;
    }
    const bool fits = !behind_ && (!inside_ || (start_ns >= start_ns_ && end_ns >= end_ns_));
    inside_ = true;
    start_ns_ = start_ns;
    end_ns_ = end_ns;
    return fits;
  }

 private:
  std::int64_t segment_;
  bool inside_ = false;
  bool behind_ = false;
  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
};

/// The first block that does not end before a time, by its id: blocks are in order of segment and
/// time, and BlockOrder refuses files that are not. Without this a look at a second of a day reads
/// a page of every block.
Result<std::int64_t> first_block(Database& database, const StoredSegment& segment,
                                 std::int64_t time_ns) {
  // Two queries: SQLite finds one end of an index at once, and both by reading everything.
  Result<Statement> ends =
      database.prepare("SELECT (SELECT min(id) FROM blocks), (SELECT max(id) FROM blocks)");
  Result<Statement> next =
      database.prepare("SELECT id, segment, end_ns FROM blocks WHERE id >= ? ORDER BY id LIMIT 1");
  if (!ends || !next) {
    return tl::unexpected<Error>(ends ? next.error() : ends.error());
  }
  const Result<bool> any = ends->step();
  if (!any) {
    return tl::unexpected<Error>(any.error());
  }
  if (!*any || ends->is_null(0)) {
    return 0;
  }
  std::int64_t low = ends->integer(0);
  std::int64_t high = ends->integer(1);
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    next->reset();
    next->bind(1, middle);
    const Result<bool> row = next->step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    const bool before = *row && (next->integer(1) < segment.id ||
                                 (next->integer(1) == segment.id && next->integer(2) <= time_ns));
    if (before) {
      low = std::min(high, next->integer(0) + 1);
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

Status for_each_stored_block(Database& database, const StoredSegment& segment,
                             std::optional<TimeSpan> span, BlockBlobs blobs,
                             const std::function<Status(const StoredBlock&)>& visit) {
  Result<Statement> query = database.prepare(
      fmt::format("SELECT start_ns, end_ns, ticks, missed, dropped_ticks, summary, {}, segment "
                  "FROM blocks WHERE id >= ? ORDER BY id",
                  blobs == BlockBlobs::kAll ? "times, planes" : "x'', x''"));
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  Result<std::int64_t> first = std::numeric_limits<std::int64_t>::min();
  if (span) {
    first = first_block(database, segment, span->start_ns);
  }
  if (!first) {
    return tl::unexpected<Error>(first.error());
  }
  query->bind(1, *first);
  BlockOrder order(segment.id);
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    if (!*row) {
      return {};
    }
    if (!order.in_order(query->integer(8), query->integer(0), query->integer(1))) {
      return fail(ErrorCode::kCorrupt, "blocks of samples out of order");
    }
    if (query->integer(8) != segment.id || (span && query->integer(1) <= span->start_ns)) {
      continue;
    }
    const Result<BlockRow> header = read_header(*query, segment);
    if (header && span && header->start_ns >= span->end_ns) {
      return {};
    }
    const Status status = header ? visit(StoredBlock(*query, *header))
                                 : Status(tl::unexpected<Error>(header.error()));
    if (!status) {
      return status;
    }
  }
}

Result<sampler::SampleBlock*> TickDecoder::ticks(const StoredBlock& block,
                                                 const BlockSummary& summary) {
  const std::size_t ticks = block.header().ticks;
  if (!block_ || block_->capacity < ticks) {
    block_.emplace(register_count_, std::max<std::size_t>(ticks, 1));
  }
  if (Status status =
          decoder_.decode_ticks(block.header(), summary, block.times(), block.planes(), *block_);
      !status) {
    return tl::unexpected<Error>(status.error());
  }
  return &*block_;
}

void trim_block(sampler::SampleBlock& block, const TimeSpan& span) {
  const auto times = std::span(block.time_ns).first(block.size);
  const auto lower = std::lower_bound(times.begin(), times.end(), span.start_ns);
  const auto upper = std::lower_bound(lower, times.end(), span.end_ns);
  const auto begin = lower - times.begin();
  const auto size = upper - lower;
  if (static_cast<std::size_t>(size) == block.size) {
    return;
  }
  const auto shift = [&](auto& column, std::size_t offset) {
    const auto first = column.begin() + static_cast<std::ptrdiff_t>(offset);
    std::copy(first + begin, first + begin + size, first);
  };
  shift(block.time_ns, 0);
  for (std::size_t r = 0; r < block.register_count; ++r) {
    shift(block.words, r * block.capacity);
    shift(block.states, r * block.capacity);
  }
  block.size = static_cast<std::size_t>(size);
  block.start_ns = std::max(block.start_ns, span.start_ns);
  block.end_ns = std::min(block.end_ns, span.end_ns);
}

}  // namespace gputrace::store
