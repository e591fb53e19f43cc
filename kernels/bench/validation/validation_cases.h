// Workloads with exactly known work, none of which a calibration measures.
#pragma once

#include <cstdint>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

enum class Storage { kFp32, kFp16 };

/// "lbm.fp32": a step of `bench lbm`, in place, in its box for this device. FP16: "lbm.fp16s", 77
/// bytes a cell in place of 153. Every byte is read or written once; the lines that shifted reads
/// share with a neighbouring wave's need a few kilobytes of cache.
[[nodiscard]] SizedCase lbm_case(const vulkan::DeviceFacts& facts, Storage storage);

/// "stencil.5point": one step on a periodic grid of 8192 x 4096 fp32, in bands of 64 rows, a trip
/// each. Memory reads each row once and two rows a band again, where the first-level cache holds
/// what neighbours load in the same trip: 8 bytes of the 24 that a trip asks for.
[[nodiscard]] SizedCase stencil_case(const vulkan::DeviceFacts& facts);

/// "matmul.tile128": many products of their own factors, a group each, so that nothing is read
/// twice. A tile of S x S over a depth of K is 2 S^2 K FLOP on 4 (2 S K + S^2) bytes: about S / 4
/// FLOP/B. `side` 64, 128 or 256; a trip is 8 deep.
[[nodiscard]] SizedCase matmul_case(const vulkan::DeviceFacts& facts, std::uint32_t side);

/// "nbody": the pull of all bodies on each, tiles of 64 in shared memory, a trip each. 18 FLOP and
/// a reciprocal root a pair, which is not counted; 32 bytes a body.
[[nodiscard]] SizedCase nbody_case(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
