// The payload of a block's summary.
#include <algorithm>
#include <numeric>

#include "daemon/store/block_payload.h"

namespace gputrace::store {

namespace {

void write_states(ByteWriter& out, const RegisterSummary& reg) {
  out.varint(reg.states.size());
  for (const StateRun& run : reg.states) {
    out.byte(static_cast<std::uint8_t>(run.state));
    out.varint(run.ticks);
  }
}

bool read_states(ByteReader& in, std::size_t ticks, RegisterSummary& reg) {
  const auto runs = static_cast<std::size_t>(in.varint_up_to(ticks));
  if (runs > in.remaining()) {
    return false;
  }
  reg.states.resize(runs);
  std::size_t total = 0;
  for (StateRun& run : reg.states) {
    const std::uint8_t state = in.byte();
    run.state = static_cast<sampler::SampleState>(state & 7U);
    run.ticks = static_cast<std::uint32_t>(in.varint_up_to(ticks));
    total += run.ticks;
    if (state > 7 || run.ticks == 0) {
      return false;
    }
  }
  return in.ok() && total == ticks;
}

/// Which plane each varying bit uses: 0 = the next new one, i + 1 = plane i again.
void write_plane_references(ByteWriter& out, const BlockSummary& summary) {
  std::size_t next = 0;
  for (const RegisterSummary& reg : summary.registers) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((reg.varying >> bit & 1U) == 0) {
        continue;
      }
      const bool is_new = reg.plane[bit] == next;
      out.varint(is_new ? 0 : reg.plane[bit] + 1U);
      next += is_new ? 1 : 0;
    }
  }
}

void read_plane_references(ByteReader& in, BlockSummary& summary) {
  for (RegisterSummary& reg : summary.registers) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((reg.varying >> bit & 1U) == 0) {
        continue;
      }
      const std::uint64_t code = in.varint_up_to(summary.plane_count);
      reg.plane[bit] = static_cast<std::uint16_t>(code == 0 ? summary.plane_count++ : code - 1);
    }
  }
}

}  // namespace

std::size_t max_summary_size(std::size_t ticks, std::size_t register_count) {
  return 256 + register_count * (16 + ticks * 4 + 8 + std::size_t{32} * 2);
}

void write_summary(ByteWriter& out, const BlockSummary& summary) {
  out.varint(summary.cells());
  for (const std::uint32_t ticks : summary.cell_ticks) {
    out.varint(ticks);
  }
  for (const RegisterSummary& reg : summary.registers) {
    write_states(out, reg);
  }
  for (const RegisterSummary& reg : summary.registers) {
    out.fixed32(reg.base);
    out.fixed32(reg.varying);
  }
  write_plane_references(out, summary);
}

Result<BlockSummary> read_summary(std::span<const std::byte> raw, std::size_t ticks,
                                  std::size_t register_count) {
  ByteReader in(raw);
  BlockSummary summary;
  summary.cell_ticks.resize(static_cast<std::size_t>(in.varint_up_to(kMaxBlockCells)));
  for (std::uint32_t& count : summary.cell_ticks) {
    count = static_cast<std::uint32_t>(in.varint_up_to(ticks));
  }
  const auto total =
      std::accumulate(summary.cell_ticks.begin(), summary.cell_ticks.end(), std::size_t{0});
  if (total != ticks || register_count > sampler::kMaxRegisters) {
    return fail(ErrorCode::kCorrupt, "cells that do not fit their block");
  }
  summary.registers.resize(register_count);
  for (RegisterSummary& reg : summary.registers) {
    if (!read_states(in, ticks, reg)) {
      return fail(ErrorCode::kCorrupt, "sample states that do not fit their block");
    }
  }
  for (RegisterSummary& reg : summary.registers) {
    reg.base = in.fixed32();
    reg.varying = in.fixed32();
  }
  read_plane_references(in, summary);
  if (!in.at_end()) {
    return fail(ErrorCode::kCorrupt, "a summary that does not fit its block");
  }
  return summary;
}

}  // namespace gputrace::store
