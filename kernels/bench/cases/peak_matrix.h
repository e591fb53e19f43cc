// The highest rate of matrix multiply-adds: fp16 in, fp32 out.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Whether the device has such matrices, and this build the shader: compilers before glslang 13 do
/// not know matrices.
[[nodiscard]] bool has_matrix_peak(const vulkan::DeviceFacts& facts);

/// "peak.matrix", or "peak.matrix.wave32". FLOPs are those of a subgroup's matrices, an even share
/// for each thread.
[[nodiscard]] SizedCase matrix_peak_case(const vulkan::DeviceFacts& facts,
                                         std::optional<std::uint32_t> subgroup_size);

}  // namespace gputrace::bench
