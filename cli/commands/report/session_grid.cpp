#include "cli/commands/report/session_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/commands/report/grid_chunk.h"
#include "cli/commands/report/grid_units.h"
#include "cli/commands/report/kept_chunks.h"

namespace gputrace::commands {
namespace {

using analysis::BusyGrid;
using store::kCellNs;

/// A week. A damaged file may claim years.
constexpr std::size_t kMaxCells = std::size_t{36'000} * 24 * 7;

/// Cells [begin, end) of a chunk to the place `to` of the grid.
template <class Chunk>
void copy_cells(const Chunk& chunk, std::size_t begin, std::size_t end, std::size_t to,
                BusyGrid& grid) {
  for (std::size_t u = 0; u < grid.units.size(); ++u) {
    analysis::GridUnit& unit = grid.units[u];
    const auto& valid = chunk.valid.at(unit.key.register_name);
    for (std::size_t i = begin; i < end; ++i) {
      unit.cells[to + i - begin] = {valid[i], chunk.units[u].busy[i], chunk.units[u].changes[i]};
    }
  }
  for (std::size_t i = begin; i < end; ++i) {
    grid.asleep[to + i - begin] = chunk.asleep[i];
    grid.unknown[to + i - begin] = chunk.unknown[i];
  }
}

class SampleGrid : public analysis::GridSource {
 public:
  SampleGrid(const GpuRecording& recording, GridLayout layout)
      : session_(recording.session),
        selection_(recording.timeline.selection),
        session_start_ns_(recording.session_start_ns),
        layout_(std::move(layout)) {
    const store::StoredSegment& first = *layout_.segments.front().segment;
    origin_ns_ = first.description.start_ns;
    std::int64_t end_ns = origin_ns_;
    for (const SegmentLayout& segment : layout_.segments) {
      end_ns = std::max(end_ns, segment.segment->end_ns);
    }
    if (selection_) {
      end_ns = std::min(end_ns, selection_->end_ns);
      // On the grid of the first segment, so that only the selection's ends cut cells.
      const std::int64_t left_out = selection_->start_ns - origin_ns_;
      origin_ns_ += left_out > 0 ? left_out / kCellNs * kCellNs : 0;
    }
    cells_ = end_ns > origin_ns_
                 ? static_cast<std::size_t>((end_ns - origin_ns_ + kCellNs - 1) / kCellNs)
                 : 0;
  }

  /// Chunks that were counted already.
  void keep(KeptChunks chunks) { chunks_ = std::move(chunks); }
  [[nodiscard]] const std::vector<analysis::UnitKey>& units() const override {
    return layout_.units;
  }
  [[nodiscard]] double start_s() const override {
    return static_cast<double>(origin_ns_ - session_start_ns_) / 1e9;
  }
  [[nodiscard]] double cell_s() const override { return static_cast<double>(kCellNs) / 1e9; }
  [[nodiscard]] std::size_t cells() const override { return cells_; }
  [[nodiscard]] Result<BusyGrid> read(std::size_t first, std::size_t count) const override;
  [[nodiscard]] Result<std::vector<analysis::Tick>> ticks(double from_s,
                                                          double to_s) const override;

 private:
  /// Cells of a segment's own grid that are in [first, first + count) of this one.
  struct Share {
    store::TimeSpan span;  ///< cut by the selection
    std::size_t at = 0;    ///< of its first cell, from `first`
  };
  [[nodiscard]] std::optional<Share> share_of(const store::StoredSegment& segment,
                                              std::size_t first, std::size_t count) const;
  [[nodiscard]] Result<ChunkCounts> count_cells(std::size_t first, std::size_t count) const;
  Status add_segment(const SegmentLayout& segment, std::size_t first, std::size_t count,
                     ChunkCounts& chunk) const;
  /// Keeps it if there is room. nullptr: there is none.
  [[nodiscard]] Result<const KeptChunk*> kept(std::size_t chunk) const;
  void add_ticks(const SegmentLayout& layout, const sampler::SampleBlock& block,
                 std::vector<analysis::Tick>& ticks) const;
  [[nodiscard]] std::int64_t time_ns(double at_s) const {
    return session_start_ns_ + static_cast<std::int64_t>(at_s * 1e9);
  }

  const store::SessionReader* session_;
  std::optional<store::TimeSpan> selection_;
  std::int64_t session_start_ns_;
  GridLayout layout_;
  std::int64_t origin_ns_ = 0;
  std::size_t cells_ = 0;
  // Several passes read the same cells; decoding them is what costs.
  mutable KeptChunks chunks_;
};

std::optional<SampleGrid::Share> SampleGrid::share_of(const store::StoredSegment& segment,
                                                      std::size_t first, std::size_t count) const {
  const std::int64_t grid_ns = segment.description.start_ns;
  // Segments have grids of their own: a cell goes to the nearest one here.
  const std::int64_t away = grid_ns - origin_ns_;
  const std::int64_t shift =
      away >= 0 ? (away + kCellNs / 2) / kCellNs : -((-away + kCellNs / 2) / kCellNs);
  const std::int64_t begin = std::max<std::int64_t>(0, static_cast<std::int64_t>(first) - shift);
  const std::int64_t end = static_cast<std::int64_t>(first + count) - shift;
  store::TimeSpan span{grid_ns + begin * kCellNs, grid_ns + end * kCellNs};
  span.end_ns = std::min(span.end_ns, segment.end_ns);
  if (selection_) {
    span.start_ns = std::max(span.start_ns, selection_->start_ns);
    span.end_ns = std::min(span.end_ns, selection_->end_ns);
  }
  if (span.start_ns >= span.end_ns) {
    return std::nullopt;
  }
  const std::int64_t cell = (span.start_ns - grid_ns) / kCellNs + shift;
  return Share{span, static_cast<std::size_t>(cell - static_cast<std::int64_t>(first))};
}

Status SampleGrid::add_segment(const SegmentLayout& segment, std::size_t first, std::size_t count,
                               ChunkCounts& chunk) const {
  const std::optional<Share> share = share_of(*segment.segment, first, count);
  if (!share) {
    return {};
  }
  std::vector<store::BitRef> refs;
  refs.reserve(segment.bits.size());
  for (const GridBit& bit : segment.bits) {
    refs.push_back(bit.ref);
  }
  const Result<store::SegmentCounts> counts = session_->counts(*segment.segment, refs, share->span);
  if (!counts) {
    return tl::unexpected<Error>(counts.error());
  }
  chunk.add(segment, refs, *counts, share->at);
  return {};
}

Result<ChunkCounts> SampleGrid::count_cells(std::size_t first, std::size_t count) const {
  ChunkCounts chunk(layout_.units, count);
  for (const SegmentLayout& segment : layout_.segments) {
    if (const Status added = add_segment(segment, first, count, chunk); !added) {
      return tl::unexpected<Error>(added.error());
    }
  }
  return chunk;
}

Result<const KeptChunk*> SampleGrid::kept(std::size_t chunk) const {
  if (const KeptChunk* known = chunks_.find(chunk)) {
    return known;
  }
  if (chunks_.full()) {
    return nullptr;
  }
  const std::size_t first = chunk * kGridChunkCells;
  const Result<ChunkCounts> counted = count_cells(first, std::min(kGridChunkCells, cells_ - first));
  if (!counted) {
    return tl::unexpected<Error>(counted.error());
  }
  return chunks_.put(chunk, *counted) ? chunks_.find(chunk) : nullptr;
}

Result<BusyGrid> SampleGrid::read(std::size_t first, std::size_t count) const {
  if (first > cells_ || count > cells_ - first) {
    return fail(ErrorCode::kInvalidArgument, "cells asked of a recording that are not there");
  }
  BusyGrid grid;
  for (const analysis::UnitKey& key : layout_.units) {
    grid.units.push_back({key, std::vector<analysis::Cell>(count)});
  }
  grid.asleep.resize(count);
  grid.unknown.resize(count);
  for (std::size_t at = first; at < first + count;) {
    const std::size_t chunk = at / kGridChunkCells;
    const std::size_t chunk_first = chunk * kGridChunkCells;
    const std::size_t end = std::min(first + count, chunk_first + kGridChunkCells);
    const Result<const KeptChunk*> from = kept(chunk);
    if (!from) {
      return tl::unexpected<Error>(from.error());
    }
    if (*from != nullptr) {
      copy_cells(**from, at - chunk_first, end - chunk_first, at - first, grid);
    } else {
      const Result<ChunkCounts> counted = count_cells(at, end - at);
      if (!counted) {
        return tl::unexpected<Error>(counted.error());
      }
      copy_cells(*counted, 0, end - at, at - first, grid);
    }
    at = end;
  }
  return grid;
}

void SampleGrid::add_ticks(const SegmentLayout& layout, const sampler::SampleBlock& block,
                           std::vector<analysis::Tick>& ticks) const {
  const std::size_t begin = ticks.size();
  ticks.reserve(begin + block.size);
  for (std::size_t i = 0; i < block.size; ++i) {
    ticks.push_back({static_cast<double>(block.time_ns[i] - session_start_ns_) / 1e9, 0, 0});
  }
  for (const GridBit& bit : layout.bits) {
    const auto words = block.words_of(bit.ref.register_index);
    const auto states = block.states_of(bit.ref.register_index);
    for (std::size_t i = 0; i < block.size; ++i) {
      const std::uint64_t valid = states[i] == sampler::SampleState::kValid ? 1U : 0U;
      const std::uint64_t busy = words[i] >> bit.ref.bit & valid;
      ticks[begin + i].valid |= valid << bit.unit;
      ticks[begin + i].busy |= busy << bit.unit;
    }
  }
}

Result<std::vector<analysis::Tick>> SampleGrid::ticks(double from_s, double to_s) const {
  store::TimeSpan span{time_ns(from_s), time_ns(to_s)};
  if (selection_) {
    span.start_ns = std::max(span.start_ns, selection_->start_ns);
    span.end_ns = std::min(span.end_ns, selection_->end_ns);
  }
  std::vector<analysis::Tick> ticks;
  for (const SegmentLayout& layout : layout_.segments) {
    const store::StoredSegment& segment = *layout.segment;
    if (span.start_ns >= std::min(span.end_ns, segment.end_ns) ||
        span.end_ns <= segment.description.start_ns) {
      continue;
    }
    const Status read =
        session_->for_each_block(segment, span, [&](const sampler::SampleBlock& block) -> Status {
          add_ticks(layout, block, ticks);
          return {};
        });
    if (!read) {
      return tl::unexpected<Error>(read.error());
    }
  }
  return ticks;
}

}  // namespace

struct CountedChunks {
  GridLayout layout;  ///< of the only segment
  KeptChunks chunks;
  std::vector<bool> loaded;  ///< cells from the first one on
};

namespace {

/// Goes on where the cells before ended.
void add_load(std::span<const store::BitRef> refs, const store::SegmentCounts& counts,
              std::size_t first, CountedChunks& counted) {
  const GridLayout& layout = counted.layout;
  const auto pipe = std::ranges::find(layout.units, "GUI_ACTIVE", &analysis::UnitKey::name);
  const auto unit = static_cast<std::size_t>(pipe - layout.units.begin());
  const std::vector<GridBit>& bits = layout.segments.front().bits;
  const auto bit = std::ranges::find(bits, unit, &GridBit::unit);
  if (pipe == layout.units.end() || bit == bits.end() || counted.loaded.size() != first) {
    return;
  }
  for (std::size_t i = 0; i < refs.size(); ++i) {
    if (refs[i].register_index != bit->ref.register_index || refs[i].bit != bit->ref.bit) {
      continue;
    }
    const std::vector<std::uint32_t>& valid = counts.registers[refs[i].register_index].valid;
    for (std::size_t cell = 0; cell < valid.size(); ++cell) {
      counted.loaded.push_back(valid[cell] > 0 &&
                               counts.bits[i].busy[cell] >= kLoadedShare * valid[cell]);
    }
    return;
  }
}

}  // namespace

std::shared_ptr<CountedChunks> count_along(const GpuRecording& recording) {
  if (recording.segments.size() != 1 || recording.timeline.selection) {
    return nullptr;  // its chunks are not those of the grid
  }
  return std::make_shared<CountedChunks>(CountedChunks{grid_layout(recording), {}, {}});
}

void add_counted(const store::StoredSegment& segment, std::span<const store::BitRef> refs,
                 const store::SegmentCounts& counts, CountedChunks& counted) {
  const auto first =
      static_cast<std::size_t>((counts.first_ns - segment.description.start_ns) / kCellNs);
  const std::size_t cells = counts.registers.empty() ? 0 : counts.registers[0].valid.size();
  if (first % kGridChunkCells != 0 || cells == 0 || counted.layout.units.empty()) {
    return;
  }
  add_load(refs, counts, first, counted);
  if (counted.chunks.full()) {
    return;
  }
  ChunkCounts chunk(counted.layout.units, cells);
  chunk.add(counted.layout.segments.front(), refs, counts, 0);
  counted.chunks.put(first / kGridChunkCells, chunk);
}

Result<std::optional<SessionGrid>> make_session_grid(const GpuRecording& recording) {
  GridLayout layout = grid_layout(recording);
  if (layout.units.empty()) {
    return std::nullopt;
  }
  Result<std::optional<SessionGrid>> of_means = make_mean_grid(recording, layout);
  if (!of_means || *of_means) {
    return of_means;
  }
  auto source = std::make_unique<SampleGrid>(recording, std::move(layout));
  if (recording.counted) {
    source->keep(std::exchange(recording.counted->chunks, {}));
  }
  if (source->cells() == 0) {
    return std::nullopt;
  }
  if (source->cells() > kMaxCells) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the recording is {:.0f} days long; changes are looked for in at most "
                            "a week",
                            static_cast<double>(source->cells()) * source->cell_s() / 86'400));
  }
  SessionGrid grid;
  if (recording.counted && recording.counted->loaded.size() == source->cells()) {
    grid.load = LoadCells{recording.segments.front()->description.start_ns,
                          std::move(recording.counted->loaded)};
  }
  grid.source = std::move(source);
  return grid;
}

}  // namespace gputrace::commands
