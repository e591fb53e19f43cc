// The kernels of `bench rays`.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/bench/tests/rays/city.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// "primary".
[[nodiscard]] std::string_view name_of(RayKind kind);

/// Rays that are asked about at once; more than a GPU holds.
[[nodiscard]] std::uint32_t ray_count(const vulkan::DeviceFacts& facts);

/// "rays.primary". The check follows 1,000 of the rays on the CPU.
[[nodiscard]] SizedCase rays_case(const vulkan::DeviceFacts& facts,
                                  const std::shared_ptr<const City>& city, RayKind kind);

}  // namespace gputrace::bench
