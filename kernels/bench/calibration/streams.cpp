#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/bench/calibration/families.h"
#include "kernels/bench/cases/bandwidth.h"
#include "kernels/bench/cases/sweep.h"

namespace gputrace::bench::calibration {
namespace {

constexpr std::array<std::uint32_t, 5> kGroupSizes{64, 128, 256, 512, 1024};
constexpr std::uint32_t kMainGroupSize = 256;
/// FLOP/B of 1, 16, 64 and 256: both sides of every ridge that is known, and near it.
constexpr std::array<std::uint32_t, 4> kFewTrips{4, 64, 256, 1024};
std::string series_of(std::uint32_t threads) {
  return fmt::format("groups of {}", threads);
}

std::vector<Workload> sweep_workloads(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<Workload> workloads;
  for (const std::uint32_t threads : group_sizes(facts)) {
    const bool few = quick && threads != main_group_size(facts);
    for (const std::uint32_t trips :
         few ? std::vector(kFewTrips.begin(), kFewTrips.end()) : sweep_trips(std::nullopt)) {
      Workload& workload = workloads.emplace_back();
      workload.sized = sweep_case(facts, trips, sweep_bytes(facts, quick), threads);
      workload.series = series_of(threads);
      workload.x = trips * kSweepStep;
      set_streamed(workload.sized.kernel);
    }
  }
  return workloads;
}

std::vector<Workload> bandwidth_workloads(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<Workload> workloads;
  for (const std::uint32_t threads : group_sizes(facts)) {
    for (const Stream stream : {Stream::kRead, Stream::kWrite, Stream::kCopy}) {
      if (!quick || threads == main_group_size(facts) || stream == Stream::kCopy) {
        Workload& workload = workloads.emplace_back();
        workload.sized = dram_case(facts, stream, stream_bytes(facts, quick), {.threads = threads});
        workload.series = name_of(stream);
        workload.x = threads;
        set_streamed(workload.sized.kernel);
      }
    }
  }
  return workloads;
}

}  // namespace

std::vector<std::uint32_t> group_sizes(const vulkan::DeviceFacts& facts) {
  std::vector<std::uint32_t> sizes;
  std::ranges::copy_if(kGroupSizes, std::back_inserter(sizes),
                       [&](std::uint32_t threads) { return threads <= facts.max_group_threads; });
  return sizes;
}

std::uint32_t main_group_size(const vulkan::DeviceFacts& facts) {
  return std::min(kMainGroupSize, facts.max_group_threads);
}

std::uint64_t stream_bytes(const vulkan::DeviceFacts& facts, bool quick) {
  constexpr std::uint64_t kBytesOfCpu = 4U << 20U;
  const std::uint64_t bytes = dram_bytes(facts, quick);
  return facts.is_cpu ? std::min(bytes, kBytesOfCpu) : bytes;
}

analysis::TestResult table_of(std::string id, std::string unit, std::string axis,
                              std::string axis_unit) {
  analysis::TestResult table;
  table.id = std::move(id);
  table.unit = std::move(unit);
  table.axis = std::move(axis);
  table.axis_unit = std::move(axis_unit);
  return table;
}

Family sweep_family() {
  return {
      .table =
          [] { return table_of("calibration.sweep", "GFLOPS", "arithmetic intensity", "FLOP/B"); },
      .workloads = sweep_workloads,
      .work = arithmetic_work};
}

Family bandwidth_family() {
  return {.table = [] { return table_of("calibration.bandwidth", "GB/s", "threads", ""); },
          .workloads = bandwidth_workloads,
          .work = memory_work};
}

}  // namespace gputrace::bench::calibration
