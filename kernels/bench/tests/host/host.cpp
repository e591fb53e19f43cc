#include "kernels/bench/tests/host/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/bench/cases/bandwidth.h"
#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/host/host_direct.h"
#include "kernels/bench/tests/latency/chase_point.h"
#include "kernels/bench/tests/latency/latency_cases.h"
#include "kernels/bench/tests/point_loop.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {

namespace {

using analysis::TestResult;
using analysis::TestStatus;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::array<std::uint64_t, 2> kQuickChases{64 * kKiB, 4 * kMiB};
constexpr std::array<std::uint64_t, 4> kChases{64 * kKiB, kMiB, 8 * kMiB, 32 * kMiB};
constexpr std::uint64_t kStreamBytes = 32 * kMiB;
constexpr std::uint64_t kCpuStreamBytes = 4 * kMiB;
constexpr double kPointNs = 100e6;
constexpr double kQuickPointNs = 15e6;
constexpr double kQuickRunNs = 0.5e6;

constexpr std::string_view kHostSeries = "host memory";
constexpr std::string_view kDeviceSeries = "device memory";

/// The nodes of the chase, or what a stream reads or writes first.
void lay_in_host_memory(KernelCase& kernel, std::uint32_t binding) {
  for (BufferNeed& need : kernel.buffers) {
    need.in_host_memory = need.in_host_memory || need.binding == binding;
  }
}

TestResult chase(TestContext& context, std::optional<Error>& lost) {
  TestResult test;
  test.id = "host.chase";
  test.unit = "ns a hop";
  test.axis = "working set";
  test.axis_unit = "B";
  const vulkan::DeviceFacts& facts = context.runner.facts();
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t bytes : context.quick ? std::span<const std::uint64_t>(kQuickChases)
                                                 : std::span<const std::uint64_t>(kChases)) {
    if (bytes <= largest_chase(Path::kVector, facts)) {
      sizes.push_back(bytes);
    }
  }
  const ChaseShape shape{.path = Path::kVector};
  std::vector<ChasePoint> points;
  std::vector<unsigned> ranks;
  for (const bool on_host : {true, false}) {
    constexpr std::uint32_t kNodes = 1;  // the binding
    const std::vector<ChaseTrack> tracks = chase_tracks(Path::kVector, facts, sizes);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      KernelCase kernel = chase_case(
          fmt::format("host.chase.{}.{}", on_host ? "host" : "device", size_in_id(sizes[i])), shape,
          facts, tracks[i]);
      if (on_host) {
        lay_in_host_memory(kernel, kNodes);
      }
      points.push_back(chase_point(shape, std::move(kernel), facts, tracks[i]));
      if (on_host) {
        lay_in_host_memory(points.back().warmer, kNodes);
      }
      ranks.push_back(on_host && i + 1 == tracks.size() ? 0 : on_host ? 1 : 2);
    }
  }
  const PointLoop loop =
      for_each_point(chase_options(context.options, context.quick), ranks,
                     [&](std::size_t index, const MeasurementOptions& options) {
                       return measure_chase(context, options, points[index], test);
                     });
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string_view name = i < points.size() / 2 ? kHostSeries : kDeviceSeries;
    auto series = std::ranges::find(test.series, name, &analysis::BenchSeries::name);
    if (series == test.series.end()) {
      series = test.series.insert(series, {.name = std::string(name), .points = {}});
    }
    series->points.push_back(points[i].median);
  }
  lost = loop.lost;
  finish_test(test, loop);
  return test;
}

TestResult stream(TestContext& context) {
  TestResult head;
  head.id = "host.stream";
  head.unit = "GB/s";
  head.axis = "buffer";
  head.axis_unit = "B";
  const vulkan::DeviceFacts& facts = context.runner.facts();
  std::uint64_t bytes =
      std::min(facts.is_cpu ? kCpuStreamBytes : kStreamBytes, dram_bytes(facts, context.quick));
  if (const vulkan::MemoryKind* const host = vulkan::host_side(facts.memory_kinds)) {
    constexpr std::uint64_t kHeapShare = 8;
    bytes = std::min(bytes, std::max(host->heap_bytes / kHeapShare, kMiB));
  }
  std::vector<Workload> workloads;
  for (const bool on_host : {true, false}) {
    for (const Stream way : {Stream::kRead, Stream::kWrite}) {
      Workload& workload = workloads.emplace_back();
      workload.sized = dram_case(facts, way, bytes);
      if (on_host) {
        lay_in_host_memory(workload.sized.kernel, way == Stream::kRead ? 0 : 1);
      }
      workload.series = fmt::format("{}, {}", name_of(way), on_host ? kHostSeries : kDeviceSeries);
      workload.label = fmt::format("host.stream.{}.{}", name_of(way), on_host ? "host" : "device");
      workload.x = static_cast<double>(bytes);
      workload.rank = on_host ? 0 : 1;
    }
  }
  return measure_workloads(context, head, std::move(workloads), memory_work);
}

TestResult not_run(TestStatus status, std::string why) {
  TestResult test;
  test.id = "host";
  test.status = status;
  test.why = std::move(why);
  return test;
}

}  // namespace

std::vector<TestResult> run_host(TestContext& context) {
  if (context.runner.simulated()) {
    return {not_run(TestStatus::kSkipped, "a simulated GPU has no host memory to work on")};
  }
  vulkan::Device* const device = context.runner.device();
  if (device == nullptr) {
    return {not_run(TestStatus::kFailed, "the device is not open")};
  }
  if (vulkan::host_side(device->facts().memory_kinds) == nullptr) {
    return {not_run(TestStatus::kSkipped, context.runner.facts().listed.name +
                                              " has no memory that the CPU sees (host-visible)")};
  }
  MonotonicClock monotonic;
  DirectPart part{.context = context,
                  .device = *device,
                  .options = {},
                  .clock = context.options.clock != nullptr ? *context.options.clock : monotonic};
  part.options.point_limit_ns = context.quick ? kQuickPointNs : kPointNs;
  part.options.run_ns = context.quick ? kQuickRunNs : part.options.run_ns;
  part.options.samples = context.options.samples;
  part.options.cancelled = context.options.cancelled;
  const auto stopped = [&] {
    return part.lost || (part.options.cancelled && part.options.cancelled());
  };
  std::vector<TestResult> results;
  for (const auto measure : {measure_launch, measure_touch, measure_swap}) {
    if (!stopped()) {
      results.push_back(measure(part));
      conclude(results.back());
    }
  }
  if (!stopped()) {
    results.push_back(chase(context, part.lost));
  }
  if (!stopped()) {
    results.push_back(stream(context));
  }
  return results;
}

}  // namespace gputrace::bench
