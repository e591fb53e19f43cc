// The kernels of `bench fill`: full-screen triangles whose pixels compute their colour or depth.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/bench/kernel_case.h"

namespace gputrace::bench {

inline constexpr std::uint32_t kFillFmasPerTrip = 16;

/// Compressors of colours and depths tell these apart.
enum class FillContent { kConstant, kGradient, kNoise };

struct FillShape {
  vulkan::TargetDescription target;
  FillContent content = FillContent::kNoise;
  bool blend = false;
};

/// "constant", "gradient", "noise".
[[nodiscard]] std::string_view name_of(FillContent content);

/// Launch::trips times kFillFmasPerTrip FMAs a pixel, Launch::groups pixels over each other.
[[nodiscard]] KernelCase fill_case(const FillShape& shape);

/// What a pixel computes; its components are all this.
[[nodiscard]] float fill_value(const FillShape& shape, std::uint32_t x, std::uint32_t y,
                               std::uint32_t trips);

}  // namespace gputrace::bench
