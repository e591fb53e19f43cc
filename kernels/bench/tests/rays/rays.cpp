#include "kernels/bench/tests/rays/rays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/point_loop.h"
#include "kernels/bench/tests/rays/rays_case.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::array kKinds{RayKind::kPrimary, RayKind::kShadow, RayKind::kRandom};
/// Buildings to an edge: 12 and 60 thousand triangles.
constexpr std::array<std::uint32_t, 2> kSides{32, 71};
constexpr double kNsToS = 1e9;

struct Job {
  RayKind kind = RayKind::kPrimary;
  std::shared_ptr<const City> city;
  BenchPoint point;
  bool has_ray_instructions = false;  ///< seen in the driver's code
};

bool has_ray_instructions(const PreparedKernel& kernel) {
  const auto executables = kernel.executables();
  return executables && std::ranges::any_of(*executables, [](const auto& executable) {
           return executable.assembly.find("_intersect_ray") != std::string::npos;
         });
}

std::optional<Error> measure_job(TestContext& context, const MeasurementOptions& options, Job& job,
                                 TestResult& test) {
  const SizedCase sized = rays_case(context.runner.facts(), job.city, job.kind);
  const auto proven = prepare_and_prove(context.runner, sized.kernel, sized.launch);
  if (!proven) {
    enter_error(proven.error(), job.point);
    return proven.error();
  }
  enter_proofs(*proven, job.point, test);
  if (job.point.status == TestStatus::kFailed) {
    return std::nullopt;
  }
  job.has_ray_instructions = has_ray_instructions(*proven->kernel);
  job.point.label = fmt::format("{}.{}", sized.kernel.id, job.city->triangles());
  const PlannedPoint planned{.kernel = proven->kernel.get(),
                             .launch = sized.launch,
                             .scale_trips = false,
                             .label = job.point.label};
  const MeasuredPoint measured = measure({&planned, 1}, options, context.observer).front();
  if (measured.error) {
    enter_error(*measured.error, job.point);
    return measured.error;
  }
  if (measured.timing) {
    const double rays = threads_of(sized.kernel, measured.launch) *
                        static_cast<double>(measured.launch.repeats) * kNsToS;
    job.point.median = rays / measured.timing->median_ns;
    job.point.p5 = rays / measured.timing->p95_ns;
    job.point.p95 = rays / measured.timing->p5_ns;
    enter_timing(*measured.timing, job.point);
  }
  return std::nullopt;
}

}  // namespace

std::vector<TestResult> run_rays(TestContext& context) {
  TestResult test;
  test.id = "rays";
  test.unit = "rays/s";
  test.axis = "triangles";
  if (!context.runner.facts().ray_query) {
    test.status = TestStatus::kSkipped;
    test.why = "the device has no ray queries (VK_KHR_ray_query)";
    return {std::move(test)};
  }
  std::vector<Job> jobs;
  std::vector<unsigned> ranks;
  for (unsigned rank = 0; rank < kSides.size(); ++rank) {
    const auto city = std::make_shared<const City>(kSides.at(rank));
    for (const RayKind kind : kKinds) {
      Job& job = jobs.emplace_back();
      job.kind = kind;
      job.city = city;
      job.point.x = city->triangles();
      ranks.push_back(rank);
    }
  }
  const PointLoop loop = for_each_point(context.options, ranks,
                                        [&](std::size_t index, const MeasurementOptions& options) {
                                          return measure_job(context, options, jobs[index], test);
                                        });
  for (const RayKind kind : kKinds) {
    analysis::BenchSeries& series =
        test.series.emplace_back(analysis::BenchSeries{std::string(name_of(kind)), {}});
    for (const Job& job : jobs) {
      if (job.kind == kind) {
        series.points.push_back(job.point);
      }
    }
  }
  if (std::ranges::any_of(jobs, &Job::has_ray_instructions)) {
    test.derived.push_back({.what = "instructions for rays",
                            .value = 1,
                            .lower = std::nullopt,
                            .upper = std::nullopt,
                            .unit = "",
                            .confidence = "sure",
                            .by = "the driver's code has instructions that test a node"});
  }
  finish_test(test, loop);
  return {std::move(test)};
}

std::vector<KernelCase> rays_cases(const vulkan::DeviceFacts& facts) {
  constexpr std::uint32_t kSmall = 4;
  const auto city = std::make_shared<const City>(kSmall);
  std::vector<KernelCase> cases;
  cases.reserve(kKinds.size());
  for (const RayKind kind : kKinds) {
    cases.push_back(rays_case(facts, city, kind).kernel);
  }
  return cases;
}

}  // namespace gputrace::bench
