// The families of workloads for calibration.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bench/bench_test.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench::calibration {

/// A family: its table, its workloads and what a run of them does.
struct Family {
  analysis::TestResult (*table)();
  std::vector<Workload> (*workloads)(const vulkan::DeviceFacts& facts, bool quick);
  WorkOf work;
};

[[nodiscard]] Family sweep_family();
[[nodiscard]] Family bandwidth_family();
[[nodiscard]] Family chase_family();
[[nodiscard]] Family fill_family();
[[nodiscard]] Family texture_family();
[[nodiscard]] Family atomics_family();
[[nodiscard]] Family occupancy_family();

/// 64 to 1,024 threads, as far as the device has such groups.
[[nodiscard]] std::vector<std::uint32_t> group_sizes(const vulkan::DeviceFacts& facts);
/// That one of them for which all points of a family are measured, also in a quick run.
[[nodiscard]] std::uint32_t main_group_size(const vulkan::DeviceFacts& facts);

/// Of one buffer of a stream. A software rasteriser, whose groups of these sizes read out of order,
/// gets little.
[[nodiscard]] std::uint64_t stream_bytes(const vulkan::DeviceFacts& facts, bool quick);

[[nodiscard]] analysis::TestResult table_of(std::string id, std::string unit, std::string axis,
                                            std::string axis_unit);

}  // namespace gputrace::bench::calibration
