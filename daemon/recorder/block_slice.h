// The part of a block of the shared loop that is a session's: what came after it joined, before it
// left, inside its bursts.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/sampler/sample_block.h"

namespace gputrace::recorder {

/// A copy of the ticks in [from_ns, to_ns), with room for no more than them. `added` are the
/// totals of the whole block alone; the part's are in proportion to its ticks, since nobody knows
/// which of the late reads were in it. Missed periods: as many as its time lacks ticks.
[[nodiscard]] std::unique_ptr<sampler::SampleBlock> slice_block(
    const sampler::SampleBlock& block, const sampler::SamplingTotals& added, double rate_hz,
    std::int64_t from_ns, std::int64_t to_ns);

}  // namespace gputrace::recorder
