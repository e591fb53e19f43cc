// `bench fill`: pixels a second by format, by arithmetic in each pixel, by overdraw and by the size
// of the target.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// "fill.rgba8" and so on for R8, RGBA16F, R11G11B10F and D32F: GPixel/s by FMAs a pixel, a series
/// for each content; derived "fill.rgba8.peak", "fill.rgba8.written" (GB/s of noise without FMAs)
/// and "fill.rgba8.flops". Then "fill.overdraw" and "fill.target", both of RGBA8 noise, and
/// "fill.tile", eight blended layers of it by the target's size, derived "tile.size": the
/// largest before the rate falls for good.
[[nodiscard]] std::vector<analysis::TestResult> run_fill(TestContext& context);
[[nodiscard]] std::vector<KernelCase> fill_cases(const vulkan::DeviceFacts& facts);

/// Of a target: more than the caches of such a device hold.
[[nodiscard]] std::uint64_t fill_bytes(const vulkan::DeviceFacts& facts, bool quick);

/// Of the targets of "fill.tile", ascending; none that the device would cut.
[[nodiscard]] std::vector<std::uint64_t> tile_sizes(const vulkan::DeviceFacts& facts, bool quick);

/// About `bytes` of a format, as square as powers of two are, within the device's limits.
[[nodiscard]] vulkan::TargetDescription fill_target(const vulkan::DeviceFacts& facts,
                                                    vulkan::Format format, std::uint64_t bytes);

}  // namespace gputrace::bench
