// Cases of the roofline in tests: facts to make small ones from, and devices that run or compile
// them.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/bench/kernel_case.h"
#include "kernels/bench/runner.h"
#include "tests/support/error_text.h"

namespace gputrace::test {

/// A software rasteriser without limits that matter.
inline vulkan::DeviceFacts rasteriser() {
  vulkan::DeviceFacts facts;
  facts.is_cpu = true;
  facts.fp16 = true;
  facts.fp64 = true;
  facts.int8_dot = true;
  facts.int64 = true;
  facts.subgroup_size = 8;
  facts.max_groups_x = 65'535;
  facts.max_group_threads = 1024;
  facts.max_storage_range = 128U << 20U;
  facts.memory_bytes = 4ULL << 30U;
  return facts;
}

/// A GPU like the Radeon 780M.
inline vulkan::DeviceFacts integrated_gpu() {
  vulkan::DeviceFacts facts = rasteriser();
  facts.is_cpu = false;
  facts.subgroup_size = 64;
  facts.subgroup_sizes = {32, 64};
  facts.max_storage_range = (1ULL << 32U) - 1;
  return facts;
}

/// Buffers as the runner makes them before a run.
inline bench::Outputs fresh_buffers(const bench::KernelCase& kernel) {
  bench::Outputs outputs;
  for (const bench::BufferNeed& need : kernel.buffers) {
    auto& buffer = outputs.buffers.emplace_back(need.bytes);
    if (need.fill) {
      need.fill(buffer);
    }
  }
  return outputs;
}

/// The case runs and leaves what the CPU calculates; the same result is wrong for a launch of one
/// trip more or less.
inline void check_on_device(bench::Runner& runner, bench::KernelCase kernel,
                            const bench::Launch& launch) {
  INFO(kernel.id);
  std::vector<std::string> wrong;
  kernel.check = [&, right = kernel.check](const bench::Launch& ran,
                                           const bench::Outputs& outputs) -> Status {
    for (const int difference : {-1, 1}) {
      bench::Launch other = ran;
      other.trips += static_cast<std::uint32_t>(difference);
      if (right(other, outputs)) {
        wrong.push_back(std::to_string(other.trips) + " trips");
      }
    }
    return right(ran, outputs);
  };
  const auto prepared = runner.prepare(kernel);
  REQUIRE_MESSAGE(prepared, error_text(prepared));
  const Status right = (*prepared)->check_result(launch);
  CHECK_MESSAGE(right, error_text(right));
  CHECK(wrong.empty());
}

}  // namespace gputrace::test
