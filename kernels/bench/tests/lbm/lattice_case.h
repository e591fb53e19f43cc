// The kernels of `bench lbm`, which calibrations are validated with as well.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/bench/tests/lbm/lattice.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

enum class LatticeFormat {
  kFp32,
  kFp16s,  ///< halves of populations times 2^15
  kFp16c,  ///< a sign, 4 bits of exponent, 11 of mantissa, in integers
};

/// "fp16s".
[[nodiscard]] std::string_view name_of(LatticeFormat format);

/// What DRAM moves for a cell and step: 19 populations in, 19 out, a flag. 153 or 77.
[[nodiscard]] double lattice_bytes(LatticeFormat format);
/// Instructions of fp32 arithmetic that a cell takes, a multiply-add one.
[[nodiscard]] double lattice_operations(LatticeFormat format);

/// Of some 160 MiB of populations in fp32 (a discrete GPU: 320 MiB), beyond caches, and less where
/// memory or the range of a buffer is small; of a software rasteriser 32^3 cells.
[[nodiscard]] LatticeBox lattice_box(const vulkan::DeviceFacts& facts);

/// How far a kernel came to be from the CPU.
struct LatticeErrors {
  double flow = 0;  ///< the largest error of a component, in lattice units
  double mass = 0;  ///< mean error of the density, which was 1
};

/// How far it may be. Halves may be rounded in any direction.
[[nodiscard]] LatticeErrors lattice_bounds(LatticeFormat format);

/// "lbm.fp32": repeats are steps. The check compares density and flow of all cells (of boxes beyond
/// 65,536 cells a sample of the flow) with `reference`, and leaves the errors in `seen`, if given.
[[nodiscard]] SizedCase lattice_case(const vulkan::DeviceFacts& facts, LatticeFormat format,
                                     const LatticeBox& box,
                                     std::shared_ptr<LatticeReference> reference = nullptr,
                                     std::shared_ptr<LatticeErrors> seen = nullptr);

/// FP16C as lbm_fp16c.comp has it.
[[nodiscard]] std::uint16_t fp16c_bits(float value);
[[nodiscard]] float fp16c_value(std::uint16_t bits);

}  // namespace gputrace::bench
