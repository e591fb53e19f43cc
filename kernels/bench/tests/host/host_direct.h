// Parts of `bench host` that time submissions and not kernels.
#pragma once

#include <optional>

#include "kernels/bench/bench_test.h"
#include "kernels/bench/tests/direct_timing.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Of one test. `lost` is set when the device was lost in it.
struct DirectPart {
  TestContext& context;
  vulkan::Device& device;
  DirectOptions options;
  Clock& clock;
  std::optional<Error> lost = std::nullopt;
};

[[nodiscard]] analysis::TestResult measure_launch(DirectPart& part);
[[nodiscard]] analysis::TestResult measure_touch(DirectPart& part);
[[nodiscard]] analysis::TestResult measure_swap(DirectPart& part);

/// Of the largest buffer that is touched: 256 MiB, less where ranges or memory are small.
[[nodiscard]] std::uint64_t touch_bytes(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
