// The highest rate of arithmetic, a type at a time: multiply-adds in registers alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/bench/stimulus.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// "fp32", "fp16", "fp64", "int32", "int8", "matrix": the middle of a case's id.
[[nodiscard]] std::string_view name_of(Arithmetic arithmetic);

/// "peak.fp32", or "peak.fp32.wave32" with a subgroup size. An operation is one FLOP: a
/// multiply-add counts two, a dot product of four bytes with its addition eight.
[[nodiscard]] SizedCase peak_case(const vulkan::DeviceFacts& facts, Arithmetic arithmetic,
                                  std::optional<std::uint32_t> subgroup_size);

/// Of all types that the device has, with each subgroup size that may be asked for (else with the
/// driver's own choice).
[[nodiscard]] std::vector<SizedCase> peak_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
