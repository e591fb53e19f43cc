// Families that wait: pointer chases, atomics, and groups of which few fit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "kernels/bench/calibration/families.h"
#include "kernels/bench/cases/bandwidth.h"
#include "kernels/bench/tests/atomics/atomics_cases.h"
#include "kernels/bench/tests/latency/latency.h"
#include "kernels/bench/tests/latency/latency_cases.h"
#include "kernels/bench/tests/occupancy/occupancy_cases.h"

namespace gputrace::bench::calibration {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::array<std::uint32_t, 4> kChains{1, 2, 4, 8};
/// Beyond first-level caches and within the second.
constexpr std::uint64_t kCachedBytes = 512U << 10U;
/// Each has 16 KiB under way, and memory needs several times that to be busy all the time.
constexpr std::array<std::uint32_t, 3> kFewGroups{1, 2, 4};
/// More than fit at once on the largest GPU with the smallest of these groups.
constexpr std::uint32_t kDwellGroups = 8192;
constexpr std::uint32_t kDwellGroupsOfCpu = 32;

/// GB/s of lines: each hop is one, whatever part of it is asked for.
double lines_work(const KernelCase& kernel, const Launch& launch) {
  return threads_of(kernel, launch) * kernel.formula.front().per_trip * launch.trips *
         launch.repeats * kNodeBytes;
}

void add_chase(std::vector<Workload>& workloads, const vulkan::DeviceFacts& facts,
               const ChaseShape& shape, const ChaseTrack& track) {
  Workload& workload = workloads.emplace_back();
  workload.sized.kernel = chase_case(shape, facts, track);
  workload.sized.scale_trips = true;
  workload.series = name_of(shape);
  workload.x = static_cast<double>(track.bytes);
}

std::vector<Workload> chase_workloads(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<Workload> workloads;
  const std::vector<ChaseSize> sizes = chase_sizes(Path::kVector, facts, quick);
  if (sizes.empty()) {
    return workloads;
  }
  const auto tracks = chase_tracks(
      Path::kVector, facts, {sizes.back().bytes, std::min(kCachedBytes, sizes.back().bytes)});
  for (const std::uint32_t chains : kChains) {
    add_chase(workloads, facts, {.chains = chains}, tracks[0]);
  }
  add_chase(workloads, facts, {.chains = 1, .full_wave = true}, tracks[0]);
  // Of so large a cycle a cache holds next to nothing.
  for (Workload& workload : workloads) {
    set_dram_bytes(workload.sized.kernel, [](const Launch& launch) {
      return static_cast<double>(kHopsPerTrip) * launch.trips * kNodeBytes;
    });
  }
  if (!quick) {
    add_chase(workloads, facts, {.chains = 1}, tracks[1]);
    add_chase(workloads, facts, {.chains = kChains.back()}, tracks[1]);
  }
  return workloads;
}

double atomics_work(const KernelCase& /*kernel*/, const Launch& launch) {
  return atomics_of(launch);
}

std::vector<Workload> atomics_workloads(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<AtomicShape> shapes{
      {.operation = AtomicOperation::kAdd, .pattern = AtomicPattern::kWordALane},
      {.operation = AtomicOperation::kAdd, .pattern = AtomicPattern::kLineALane},
      {.operation = AtomicOperation::kCompareSwap, .pattern = AtomicPattern::kOneWord}};
  if (!quick) {
    shapes.push_back(
        {.operation = AtomicOperation::kCompareSwap, .pattern = AtomicPattern::kWordALane});
    shapes.push_back({.operation = AtomicOperation::kAdd, .pattern = AtomicPattern::kWordAGroup});
    shapes.push_back({.place = AtomicPlace::kLocal,
                      .operation = AtomicOperation::kAdd,
                      .pattern = AtomicPattern::kWordALane});
  }
  std::vector<Workload> workloads;
  for (const AtomicShape& shape : shapes) {
    Workload& workload = workloads.emplace_back();
    workload.sized.kernel = atomic_case(shape, facts);
    workload.sized.launch.groups = std::min(atomic_groups(facts), std::max(facts.max_groups_x, 1U));
    workload.sized.scale_trips = true;
    workload.series = name_of(shape);
    workload.x = static_cast<double>(workload.sized.launch.groups) * kAtomicGroupThreads;
  }
  return workloads;
}

std::vector<Workload> occupancy_workloads(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<OccupancyShape> shapes{{.group_threads = 64, .kept_words = 96},
                                     {.group_threads = 64, .shared_bytes = 32768},
                                     {.group_threads = 256}};
  if (!quick) {
    shapes.push_back({.group_threads = 64, .kept_words = 32});
    shapes.push_back({.group_threads = 64, .shared_bytes = 8192});
    shapes.push_back({.group_threads = 64});
    shapes.push_back({.group_threads = 1024});
  }
  std::erase_if(shapes, [&](const OccupancyShape& shape) {
    return shape.group_threads > facts.max_group_threads ||
           shape.shared_bytes > facts.max_shared_bytes;
  });
  const auto cycle = std::make_shared<const RandomCycle>(kDwellNodes, kSeed);
  std::vector<Workload> workloads;
  for (const OccupancyShape& shape : shapes) {
    Workload& workload = workloads.emplace_back();
    workload.sized.kernel = occupancy_case(shape, cycle, nullptr);
    workload.sized.launch.groups =
        facts.is_cpu ? kDwellGroupsOfCpu : std::min(kDwellGroups, facts.max_groups_x);
    workload.sized.scale_trips = true;
    workload.series = "chase by all groups that fit";
    workload.x = shape.group_threads;
  }
  for (const std::uint32_t groups : kFewGroups) {
    if (quick && groups != kFewGroups[1]) {
      continue;
    }
    Workload& workload = workloads.emplace_back();
    workload.sized = dram_case(facts, Stream::kRead, stream_bytes(facts, quick),
                               {.threads = main_group_size(facts), .most = groups});
    set_streamed(workload.sized.kernel);
    workload.series = "stream by few groups";
    workload.x = static_cast<double>(workload.sized.launch.groups) * main_group_size(facts);
  }
  return workloads;
}

}  // namespace

Family chase_family() {
  return {.table = [] { return table_of("calibration.chase", "GB/s", "working set", "B"); },
          .workloads = chase_workloads,
          .work = lines_work};
}

Family atomics_family() {
  return {.table = [] { return table_of("calibration.atomics", "Gop/s", "threads", ""); },
          .workloads = atomics_workloads,
          .work = atomics_work};
}

Family occupancy_family() {
  return {.table = [] { return table_of("calibration.occupancy", "GB/s", "threads", ""); },
          .workloads = occupancy_workloads,
          .work = memory_work};
}

}  // namespace gputrace::bench::calibration
