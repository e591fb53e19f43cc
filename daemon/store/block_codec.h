// One second of samples as three blobs: `summary` (states, base words, which bits vary), `times`
// (1 us stamps) and `planes` (one bit plane per varying bit). Counts per 100 ms are drawn from the
// first and the last without the ticks. docs/database.md has the format. Decoding survives any
// bytes: sizes are checked first.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/sampler/sample_block.h"
#include "daemon/store/compression.h"

namespace gputrace::store {

inline constexpr std::size_t kMaxBlockTicks = 1 << 17;
/// A block spans at most one second, hence 11 cells of 100 ms; a little room for rounding.
inline constexpr std::size_t kMaxBlockCells = 16;

struct StateRun {
  sampler::SampleState state = sampler::SampleState::kValid;
  std::uint32_t ticks = 0;
};

/// The plane of a bit holds, for each tick, whether the bit changed since the tick before (at ticks
/// that are not valid it did not). Equal planes are stored once: GUI_ACTIVE is ANY_ACTIVE, SE0
/// repeats bits of GRBM_STATUS.
struct RegisterSummary {
  std::vector<StateRun> states;
  /// The word of the tick before when that was valid and is a neighbour, else the first valid word:
  /// so a change at the block's first tick shows in the plane.
  std::uint32_t base = 0;
  std::uint32_t varying = 0;              ///< bits that differ from base in at least one valid tick
  std::array<std::uint16_t, 32> plane{};  ///< of varying bits
};

struct BlockSummary {
  std::int64_t first_cell = 0;            ///< on the segment's grid
  std::vector<std::uint32_t> cell_ticks;  ///< ticks in each cell
  std::vector<RegisterSummary> registers;
  std::size_t plane_count = 0;

  [[nodiscard]] std::size_t cells() const { return cell_ticks.size(); }
};

/// Counts of a register in one cell.
struct CellStates {
  std::uint32_t valid = 0;
  std::uint32_t asleep = 0;
  std::uint32_t unknown = 0;
};
/// Busy samples and changes of every bit in every cell of a block.
class BlockCounts {
 public:
  struct Bit {
    std::uint32_t busy = 0;
    std::uint32_t changes = 0;
  };
  BlockCounts() = default;
  /// `planes` as stored: plane_count planes of plane_bytes(ticks) bytes. `wanted`: bits to count,
  /// by register; those of others stay 0. Empty: all.
  BlockCounts(const BlockSummary& summary, std::span<const std::byte> planes,
              std::span<const std::uint32_t> wanted = {});

  [[nodiscard]] const CellStates& states(std::size_t register_index, std::size_t cell) const {
    return states_[register_index * cells_ + cell];
  }
  [[nodiscard]] const Bit& bit(std::size_t register_index, unsigned bit, std::size_t cell) const {
    return bits_[(register_index * 32 + bit) * cells_ + cell];
  }

 private:
  std::size_t cells_ = 0;
  std::vector<CellStates> states_;  ///< [register * cells + cell]
  std::vector<Bit> bits_;           ///< [(register * 32 + bit) * cells + cell]
};

/// What the row beside the blobs says.
struct BlockRow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t missed = 0;
  std::uint32_t dropped_ticks = 0;
  std::size_t ticks = 0;
};
struct EncodedBlock {
  BlockRow row;
  BlockSummary summary;
  BlockCounts counts;
  std::vector<std::byte> summary_blob;
  std::vector<std::byte> times_blob;
  std::vector<std::byte> planes_blob;
};

/// A stretch of a block's ticks [begin, end) with the time that it speaks for.
struct BlockPart {
  BlockRow row;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Encodes the blocks of one segment in order.
class BlockEncoder {
 public:
  BlockEncoder(std::int64_t grid_ns, std::optional<double> rate_hz, std::size_t register_count);

  /// kInvalidArgument when times run backwards or lie before the segment.
  Result<EncodedBlock> encode(const sampler::SampleBlock& block, const BlockPart& part);

 private:
  struct Previous {
    std::uint32_t word = 0;
    bool valid = false;
  };
  std::int64_t grid_ns_;
  std::optional<double> rate_hz_;
  std::int64_t last_time_ns_;
  std::int64_t last_end_ns_;  ///< of the part before
  std::vector<Previous> previous_;
  Compressor compressor_;
};

/// Decodes the blocks of one segment, in any order.
class BlockDecoder {
 public:
  BlockDecoder(std::int64_t grid_ns, std::size_t register_count);

  Result<BlockSummary> decode_summary(const BlockRow& row, std::span<const std::byte> blob);
  /// `wanted` as for BlockCounts.
  Result<BlockCounts> decode_counts(const BlockRow& row, const BlockSummary& summary,
                                    std::span<const std::byte> planes_blob,
                                    std::span<const std::uint32_t> wanted = {});
  /// Fills a block with exact words (0 where a tick is not valid) and times of 1 us.
  Status decode_ticks(const BlockRow& row, const BlockSummary& summary,
                      std::span<const std::byte> times_blob, std::span<const std::byte> planes_blob,
                      sampler::SampleBlock& block);

 private:
  Result<std::span<const std::byte>> decompress_planes(const BlockRow& row,
                                                       const BlockSummary& summary,
                                                       std::span<const std::byte> planes_blob);

  std::int64_t grid_ns_;
  std::size_t register_count_;
  Decompressor decompressor_;
};

}  // namespace gputrace::store
