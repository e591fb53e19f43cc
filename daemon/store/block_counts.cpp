// Counts per cell, straight from the planes: a population count is as fast as reading stored
// counts would be, and stored ones would add a byte a tick (docs/database.md).
#include <algorithm>

#include "daemon/store/block_payload.h"

namespace gputrace::store {

namespace {

/// Without -mpopcnt GCC makes std::popcount a function call with a table; this is inlined
/// (H. S. Warren, Hacker's Delight, 5-1).
constexpr std::uint32_t count_bits(std::uint64_t word) {
  word -= (word >> 1) & 0x5555'5555'5555'5555U;
  word = (word & 0x3333'3333'3333'3333U) + ((word >> 2) & 0x3333'3333'3333'3333U);
  word = (word + (word >> 4)) & 0x0f0f'0f0f'0f0f'0f0fU;
  return static_cast<std::uint32_t>((word * 0x0101'0101'0101'0101U) >> 56);
}

/// The lowest `width` bits, 1 to 64.
constexpr std::uint64_t low_bits(std::size_t width) {
  return ~std::uint64_t{0} >> (64 - width);
}

void set_range(Plane& plane, std::size_t begin, std::size_t end) {
  while (begin < end) {
    const std::size_t stop = std::min(end, (begin / 64 + 1) * 64);
    plane[begin / 64] |= low_bits(stop - begin) << (begin % 64);
    begin = stop;
  }
}

/// Turns changes into differences from the base: bit i becomes the parity of bits 0 to i.
void accumulate(std::span<std::uint64_t> plane) {
  std::uint64_t before = 0;  // all ones when the last difference was set
  for (std::uint64_t& word : plane) {
    for (unsigned shift = 1; shift < 64; shift *= 2) {
      word ^= word << shift;
    }
    word ^= before;
    before = 0 - (word >> 63);
  }
}

struct Masks {
  Plane valid;
  Plane neighbours;  ///< valid, and so is the tick before (or there is none in this block)
};

Masks masks_of(const RegisterSummary& reg, std::size_t ticks) {
  Masks masks{Plane(plane_words(ticks)), Plane(plane_words(ticks))};
  std::size_t tick = 0;
  for (const StateRun& run : reg.states) {
    if (run.state == sampler::SampleState::kValid) {
      set_range(masks.valid, tick, tick + run.ticks);
      set_range(masks.neighbours, tick == 0 ? 0 : tick + 1, tick + run.ticks);
    }
    tick += run.ticks;
  }
  return masks;
}

/// The ticks of one cell in one word of a plane.
struct Piece {
  std::size_t cell = 0;
  std::size_t word = 0;
  std::uint64_t ticks = 0;
};

/// The same for all planes of a block.
std::vector<Piece> pieces_of(const std::vector<std::uint32_t>& cell_ticks) {
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  for (std::size_t cell = 0; cell < cell_ticks.size(); ++cell) {
    const std::size_t end = begin + cell_ticks[cell];
    while (begin < end) {
      const std::size_t stop = std::min(end, (begin / 64 + 1) * 64);
      pieces.push_back({cell, begin / 64, low_bits(stop - begin) << (begin % 64)});
      begin = stop;
    }
  }
  return pieces;
}

std::vector<CellStates> states_per_cell(const BlockSummary& summary, const RegisterSummary& reg) {
  std::vector<CellStates> cells(summary.cells());
  std::size_t cell = 0;
  std::uint32_t left = cells.empty() ? 0 : summary.cell_ticks[0];
  for (const StateRun& run : reg.states) {
    std::uint32_t ticks = run.ticks;
    while (ticks > 0 && cell < cells.size()) {
      const std::uint32_t here = std::min(ticks, left);
      CellStates& counts = cells[cell];
      (run.state == sampler::SampleState::kValid    ? counts.valid
       : run.state == sampler::SampleState::kAsleep ? counts.asleep
                                                    : counts.unknown) += here;
      ticks -= here;
      left -= here;
      if (left == 0 && ++cell < cells.size()) {
        left = summary.cell_ticks[cell];
      }
    }
  }
  return cells;
}

}  // namespace

BlockCounts::BlockCounts(const BlockSummary& summary, std::span<const std::byte> planes,
                         std::span<const std::uint32_t> wanted)
    : cells_(summary.cells()), bits_(summary.registers.size() * 32 * cells_) {
  std::size_t ticks = 0;
  for (const std::uint32_t count : summary.cell_ticks) {
    ticks += count;
  }
  const std::size_t bytes = plane_bytes(ticks);
  const std::vector<Piece> pieces = pieces_of(summary.cell_ticks);
  Plane plane(plane_words(ticks));
  Plane differs;
  for (std::size_t r = 0; r < summary.registers.size(); ++r) {
    const RegisterSummary& reg = summary.registers[r];
    const std::vector<CellStates> states = states_per_cell(summary, reg);
    states_.insert(states_.end(), states.begin(), states.end());
    const Masks masks = masks_of(reg, ticks);
    for (unsigned bit = 0; bit < 32; ++bit) {
      if (!wanted.empty() && (wanted[r] >> bit & 1U) == 0) {
        continue;
      }
      const bool base_busy = (reg.base >> bit & 1U) != 0;
      Bit* counts = bits_.data() + (r * 32 + bit) * cells_;  // no cells: no element
      if ((reg.varying >> bit & 1U) == 0) {
        for (std::size_t cell = 0; cell < cells_; ++cell) {
          counts[cell] = {base_busy ? states[cell].valid : 0, 0};
        }
        continue;
      }
      std::fill(plane.begin(), plane.end(), 0);
      ByteReader(planes.subspan(reg.plane[bit] * bytes, bytes)).plane(plane, ticks);
      differs = plane;
      accumulate(differs);
      for (const Piece& piece : pieces) {
        const std::size_t word = piece.word;
        counts[piece.cell].busy += count_bits(differs[word] & masks.valid[word] & piece.ticks);
        counts[piece.cell].changes +=
            count_bits(plane[word] & masks.neighbours[word] & piece.ticks);
      }
      for (std::size_t cell = 0; base_busy && cell < cells_; ++cell) {
        counts[cell].busy = states[cell].valid - counts[cell].busy;
      }
    }
  }
}

}  // namespace gputrace::store
