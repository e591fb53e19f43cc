#include "daemon/store/block_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

}  // namespace

Status for_each_stored_block(Database& database, const StoredSegment& segment,
                             std::optional<TimeSpan> span,
                             const std::function<Status(const StoredBlock&)>& visit) {
  Result<Statement> query = database.prepare(
      "SELECT start_ns, end_ns, ticks, missed, dropped_ticks, summary, times, planes FROM blocks "
      "WHERE segment = ? AND end_ns > ? AND start_ns < ? ORDER BY id");
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  query->bind(1, segment.id)
      .bind(2, span ? span->start_ns : -1)
      .bind(3, span ? span->end_ns : std::numeric_limits<std::int64_t>::max());
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    if (!*row) {
      return {};
    }
    const Result<BlockRow> header = read_header(*query, segment);
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
