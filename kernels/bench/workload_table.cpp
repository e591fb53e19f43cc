#include "kernels/bench/workload_table.h"

#include <algorithm>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

analysis::TestResult measure_workloads(TestContext& context, analysis::TestResult head,
                                       std::vector<Workload> workloads, WorkOf work) {
  std::vector<RooflineKernel> kernels;
  std::vector<RooflinePoint> points;
  kernels.reserve(workloads.size());
  points.reserve(workloads.size());
  for (Workload& workload : workloads) {
    points.push_back({.kernel = kernels.size(),
                      .label = workload.label.empty() ? workload.sized.kernel.id : workload.label,
                      .work = work,
                      .series = std::move(workload.series),
                      .x = workload.x,
                      .rank = workload.rank});
    kernels.push_back({.sized = std::move(workload.sized)});
  }
  std::vector<analysis::TestResult> tests{std::move(head)};
  RooflineProgress progress(context, points.size());
  const std::size_t left_out = measure_points(progress, std::move(kernels), points, tests).front();
  context.additions_per_ns = progress.additions_per_ns;
  for (analysis::BenchSeries& series : tests.front().series) {
    std::ranges::stable_sort(series.points, {}, &analysis::BenchPoint::x);
  }
  conclude(tests.front());
  say_left_out(tests.front(), left_out, points.size());
  return std::move(tests.front());
}

namespace {

bool is_same_code(const KernelCase& a, const KernelCase& b) {
  const auto format = [](const KernelCase& kernel) {
    return kernel.target ? std::optional(kernel.target->format) : std::nullopt;
  };
  return a.shader == b.shader && a.constants == b.constants && a.subgroup_size == b.subgroup_size &&
         a.blend == b.blend && format(a) == format(b);
}

}  // namespace

std::vector<KernelCase> kernels_of(const std::vector<Workload>& workloads) {
  std::vector<KernelCase> kernels;
  for (const Workload& workload : workloads) {
    const KernelCase& kernel = workload.sized.kernel;
    if (std::ranges::none_of(
            kernels, [&](const KernelCase& other) { return is_same_code(kernel, other); })) {
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

void set_dram_bytes(KernelCase& kernel, std::function<double(const Launch&)> bytes) {
  kernel.stimulus = [described = std::move(kernel.stimulus),
                     bytes = std::move(bytes)](const Launch& launch) {
    Stimulus stimulus = described(launch);
    stimulus.dram_bytes = bytes(launch);
    return stimulus;
  };
}

void set_streamed(KernelCase& kernel) {
  set_dram_bytes(kernel, [per_trip = kernel.read_bytes_per_trip + kernel.written_bytes_per_trip,
                          once = kernel.read_bytes_once + kernel.written_bytes_once](
                             const Launch& launch) { return per_trip * launch.trips + once; });
}

}  // namespace gputrace::bench
