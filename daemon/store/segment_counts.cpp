#include "daemon/store/segment_counts.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/store/block_rows.h"

namespace gputrace::store {

namespace {

using sampler::SampleState;

// Half a gigabyte: all units of a GPU for more than a day. A longer session is asked for in spans.
constexpr std::int64_t kMaxCounts = std::int64_t{1} << 27;

bool inside(std::int64_t time_ns, const std::optional<TimeSpan>& span) {
  return !span || (time_ns >= span->start_ns && time_ns < span->end_ns);
}

/// Fills one SegmentCounts block by block.
class CellCounter {
 public:
  static Result<CellCounter> create(const StoredSegment& segment, std::span<const BitRef> bits,
                                    std::optional<TimeSpan> span) {
    const std::int64_t grid_ns = segment.description.start_ns;
    const std::int64_t start_ns = std::max(grid_ns, span ? span->start_ns : grid_ns);
    const std::int64_t end_ns = std::min(segment.end_ns, span ? span->end_ns : segment.end_ns);
    CellCounter counter(segment, bits, span);
    counter.first_cell_ = (start_ns - grid_ns) / kCellNs;
    const std::int64_t end_cell =
        end_ns > start_ns ? (end_ns - grid_ns - 1) / kCellNs + 1 : counter.first_cell_;
    const std::int64_t cells = end_cell - counter.first_cell_;
    const auto columns =
        static_cast<std::int64_t>(2 * bits.size() + 3 * segment.description.registers.size() + 1);
    if (cells > kMaxCounts / columns) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("the counts of {} s at once are too many; choose a shorter span",
                              cells / 10));
    }
    counter.allocate(static_cast<std::size_t>(cells), bits);
    return counter;
  }

  Status add(TickDecoder& decoder, const StoredBlock& block) {
    const Result<BlockSummary> summary = decoder.summary(block);
    if (!summary) {
      return tl::unexpected<Error>(summary.error());
    }
    bool cut = false;
    std::vector<std::size_t> whole;
    for (std::size_t cell = 0; cell < summary->cells(); ++cell) {
      if (is_whole(summary->first_cell + static_cast<std::int64_t>(cell))) {
        whole.push_back(cell);
      } else {
        cut = cut || summary->cell_ticks[cell] > 0;
      }
    }
    if (!whole.empty()) {
      const Result<BlockCounts> counts = decoder.counts(block, *summary, wanted_);
      if (!counts) {
        return tl::unexpected<Error>(counts.error());
      }
      add_cells(*summary, *counts, whole);
    }
    if (!cut) {
      return {};
    }
    const Result<sampler::SampleBlock*> ticks = decoder.ticks(block, *summary);
    if (!ticks) {
      return tl::unexpected<Error>(ticks.error());
    }
    add_ticks(*summary, **ticks);
    return {};
  }

  SegmentCounts take() { return std::move(counts_); }

 private:
  CellCounter(const StoredSegment& segment, std::span<const BitRef> bits,
              std::optional<TimeSpan> span)
      : grid_ns_(segment.description.start_ns),
        span_(span),
        bits_(bits),
        registers_(segment.description.registers.size()),
        wanted_(registers_) {
    for (const BitRef& bit : bits) {
      wanted_[bit.register_index] |= 1U << bit.bit;
    }
  }

  void allocate(std::size_t cells, std::span<const BitRef> bits) {
    cells_ = cells;
    counts_.first_ns = grid_ns_ + first_cell_ * kCellNs;
    for (std::size_t r = 0; r < registers_; ++r) {
      counts_.registers.push_back({std::vector<std::uint32_t>(cells),
                                   std::vector<std::uint32_t>(cells),
                                   std::vector<std::uint32_t>(cells)});
    }
    for (const BitRef& bit : bits) {
      counts_.bits.push_back({bit.register_index, bit.bit, std::vector<std::uint32_t>(cells),
                              std::vector<std::uint32_t>(cells)});
    }
  }

  [[nodiscard]] bool in_range(std::int64_t cell) const {
    return cell >= first_cell_ && cell - first_cell_ < static_cast<std::int64_t>(cells_);
  }
  [[nodiscard]] bool is_whole(std::int64_t cell) const {
    return !span_ || (grid_ns_ + cell * kCellNs >= span_->start_ns &&
                      grid_ns_ + (cell + 1) * kCellNs <= span_->end_ns);
  }

  void add_cells(const BlockSummary& summary, const BlockCounts& counts,
                 const std::vector<std::size_t>& cells) {
    places_.clear();
    for (const std::size_t cell : cells) {
      const std::int64_t on_grid = summary.first_cell + static_cast<std::int64_t>(cell);
      if (in_range(on_grid)) {
        places_.push_back({cell, static_cast<std::size_t>(on_grid - first_cell_)});
      }
    }
    for (std::size_t r = 0; r < registers_; ++r) {
      for (const Place& place : places_) {
        const CellStates& states = counts.states(r, place.cell);
        counts_.registers[r].valid[place.at] += states.valid;
        counts_.registers[r].asleep[place.at] += states.asleep;
        counts_.registers[r].unknown[place.at] += states.unknown;
      }
    }
    for (std::size_t b = 0; b < bits_.size(); ++b) {
      BitCells& bit = counts_.bits[b];
      for (const Place& place : places_) {
        const BlockCounts::Bit count = counts.bit(bit.register_index, bit.bit, place.cell);
        bit.busy[place.at] += count.busy;
        bit.changes[place.at] += count.changes;
      }
    }
  }

  /// The ticks of cells that the span cuts.
  void add_ticks(const BlockSummary& summary, const sampler::SampleBlock& block) {
    for (std::size_t i = 0; i < block.size; ++i) {
      const std::int64_t cell = (block.time_ns[i] - grid_ns_) / kCellNs;
      if (is_whole(cell) || !in_range(cell) || !inside(block.time_ns[i], span_)) {
        continue;
      }
      const auto at = static_cast<std::size_t>(cell - first_cell_);
      for (std::size_t r = 0; r < registers_; ++r) {
        const SampleState state = block.states_of(r)[i];
        RegisterCells& cells = counts_.registers[r];
        ++(state == SampleState::kValid    ? cells.valid
           : state == SampleState::kAsleep ? cells.asleep
                                           : cells.unknown)[at];
      }
      for (std::size_t b = 0; b < bits_.size(); ++b) {
        add_tick(summary.registers[bits_[b].register_index].base, block, i, counts_.bits[b], at);
      }
    }
  }

  static void add_tick(std::uint32_t base, const sampler::SampleBlock& block, std::size_t i,
                       BitCells& bit, std::size_t at) {
    const auto states = block.states_of(bit.register_index);
    if (states[i] != SampleState::kValid) {
      return;
    }
    const auto words = block.words_of(bit.register_index);
    bit.busy[at] += words[i] >> bit.bit & 1U;
    if (i == 0 || states[i - 1] == SampleState::kValid) {
      const std::uint32_t before = i == 0 ? base : words[i - 1];
      bit.changes[at] += (before ^ words[i]) >> bit.bit & 1U;
    }
  }

  struct Place {
    std::size_t cell;  ///< of the block
    std::size_t at;    ///< of the counts
  };

  std::int64_t grid_ns_;
  std::optional<TimeSpan> span_;
  std::span<const BitRef> bits_;
  std::size_t registers_;
  std::vector<std::uint32_t> wanted_;  ///< bits of each register
  std::int64_t first_cell_ = 0;
  std::size_t cells_ = 0;
  std::vector<Place> places_;  ///< of one block; its memory
  SegmentCounts counts_;
};

bool is_of(const BlockRow& row, const TimeSpan& span) {
  return row.start_ns == span.start_ns && row.end_ns == span.end_ns;
}

/// Of the ticks inside the span.
void add_states(const sampler::SampleBlock& block, const TimeSpan& span,
                std::vector<SessionReader::StateCounts>& counts) {
  for (std::size_t r = 0; r < counts.size(); ++r) {
    for (std::size_t i = 0; i < block.size; ++i) {
      if (inside(block.time_ns[i], span)) {
        ++counts[r].by_state[static_cast<std::size_t>(block.states_of(r)[i])];
      }
    }
  }
}

}  // namespace

Result<SegmentCounts> count_segment(Database& database, const StoredSegment& segment,
                                    std::span<const BitRef> bits, std::optional<TimeSpan> span) {
  for (const BitRef& bit : bits) {
    if (bit.register_index >= segment.description.registers.size() || bit.bit >= 32) {
      return fail(ErrorCode::kInvalidArgument, "counts asked of a register that is not there");
    }
  }
  Result<CellCounter> counter = CellCounter::create(segment, bits, span);
  if (!counter) {
    return tl::unexpected<Error>(counter.error());
  }
  TickDecoder decoder(segment);
  const Status status =
      for_each_stored_block(database, segment, span, BlockBlobs::kAll,
                            [&](const StoredBlock& block) { return counter->add(decoder, block); });
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return counter->take();
}

Result<std::vector<SessionReader::StateCounts>> count_states(Database& database,
                                                             const StoredSegment& segment,
                                                             std::optional<TimeSpan> span) {
  std::vector<SessionReader::StateCounts> counts(segment.description.registers.size());
  TickDecoder decoder(segment);
  std::vector<TimeSpan> cut;  // times of the blocks at the ends of the span
  Status status = for_each_stored_block(
      database, segment, span, BlockBlobs::kSummary, [&](const StoredBlock& block) -> Status {
        const Result<BlockSummary> summary = decoder.summary(block);
        if (!summary) {
          return tl::unexpected<Error>(summary.error());
        }
        const BlockRow& row = block.header();
        if (span && (row.start_ns < span->start_ns || row.end_ns > span->end_ns)) {
          if (cut.empty() || !is_of(row, cut.back())) {
            cut.push_back({row.start_ns, row.end_ns});
          }
          return {};
        }
        for (std::size_t r = 0; r < counts.size(); ++r) {
          for (const StateRun& run : summary->registers[r].states) {
            counts[r].by_state[static_cast<std::size_t>(run.state)] += run.ticks;
          }
        }
        return {};
      });
  for (std::size_t i = 0; status && i < cut.size(); ++i) {
    status = for_each_stored_block(
        database, segment, cut[i], BlockBlobs::kAll, [&](const StoredBlock& block) -> Status {
          if (!is_of(block.header(), cut[i])) {
            return {};
          }
          const Result<BlockSummary> summary = decoder.summary(block);
          if (!summary) {
            return tl::unexpected<Error>(summary.error());
          }
          const Result<sampler::SampleBlock*> ticks = decoder.ticks(block, *summary);
          if (!ticks) {
            return tl::unexpected<Error>(ticks.error());
          }
          add_states(**ticks, *span, counts);
          return {};
        });
  }
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return counts;
}

}  // namespace gputrace::store
