#include "kernels/bench/tests/parallel/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/bench/cases/alu_case.h"
#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {
namespace {

using analysis::BenchPoint;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

/// Of the slots for waves that a core has: 2 SIMDs of 16 on RDNA, 4 of 10 on GCN, 48 or 64 on
/// others.
constexpr std::uint64_t kTimesSlots = 64;
constexpr std::uint64_t kSlotsOfCore = 32;
constexpr std::uint64_t kUsualCores = 32;  // where nothing tells how many there are
/// A software rasteriser has a slot in each thread.
constexpr std::uint64_t kCpuSlots = 16;
constexpr std::uint32_t kUsualLanes = 64;
constexpr Launch kProofLaunch{.groups = 3, .trips = 3, .repeats = 1};
constexpr double kQuickRunNs = 2e6;
constexpr std::uint32_t kFewGroups = 4096;
constexpr double kQuickWarmUpNs = 20e6;
constexpr std::array kShares{50, 90};

/// A group is one wave: the step from one size to the next is as small as it can be.
AluShape shape_of(const vulkan::DeviceFacts& facts) {
  const std::uint32_t lanes = facts.subgroup_size == 0 ? kUsualLanes : facts.subgroup_size;
  return {.type = AluType::kFp32,
          .operation = AluOperation::kFma,
          .subgroup_size = std::nullopt,
          .group_threads = std::min(lanes, std::max(facts.max_group_threads, 1U))};
}

struct Size {
  std::uint32_t groups = 1;
  unsigned rank = 0;
};

/// Powers of four, then of two, then what lies between.
std::vector<Size> sizes_of(const vulkan::DeviceFacts& facts, bool quick) {
  const std::uint64_t slots =
      facts.is_cpu ? kCpuSlots : facts.cores.value_or(kUsualCores) * kSlotsOfCore;
  const std::uint64_t most =
      std::min<std::uint64_t>(kTimesSlots * slots, std::max(facts.max_groups_x, 1U));
  std::vector<Size> sizes;
  unsigned power = 0;
  for (std::uint64_t groups = 1; groups <= most; groups *= 2, ++power) {
    const auto count = static_cast<std::uint32_t>(groups);
    sizes.push_back({count, power % 2});
    if (!quick && groups >= 4) {
      for (const std::uint64_t quarters : {5U, 6U, 7U}) {
        const std::uint64_t between = groups * quarters / 4;
        if (between <= most) {
          sizes.push_back({static_cast<std::uint32_t>(between), quarters == 6 ? 2U : 3U});
        }
      }
    }
  }
  return sizes;
}

class Parallel {
 public:
  explicit Parallel(TestContext& context)
      : context_(context), sizes_(sizes_of(context.runner.facts(), context.quick)) {
    test_.id = "parallel";
    test_.unit = "GFLOPS";
    test_.axis = "work items";
    points_.resize(sizes_.size());
  }

  TestResult run() {
    const AluCase made =
        alu_case(context_.runner.facts(), shape_of(context_.runner.facts()), "parallel.fma");
    const auto proven = prepare_and_prove(context_.runner, made.sized.kernel, kProofLaunch);
    if (!proven) {
      BenchPoint lacking;
      enter_error(proven.error(), lacking);
      test_.status = lacking.status;
      test_.why = lacking.why;
      return std::move(test_);
    }
    std::vector<unsigned> ranks;
    std::ranges::transform(sizes_, std::back_inserter(ranks), &Size::rank);
    const PointLoop loop = for_each_point(
        context_.options, ranks, [&](std::size_t index, const MeasurementOptions& options) {
          return measure_size(*proven, sizes_[index].groups, points_[index], options);
        });
    std::ranges::sort(points_, {}, &BenchPoint::x);
    test_.series.push_back({.name = "fp32 fma", .points = points_});
    finish_test(test_, loop);
    derive();
    return std::move(test_);
  }

 private:
  std::optional<Error> measure_size(const ProvenKernel& proven, std::uint32_t groups,
                                    BenchPoint& point, const MeasurementOptions& options) {
    const KernelCase& kernel = proven.kernel->kernel();
    enter_proofs(proven, point, test_);
    point.x = threads_of(kernel, {.groups = groups});
    point.label = fmt::format("{}.{}", kernel.id, groups);
    if (point.status == TestStatus::kFailed) {
      return std::nullopt;
    }
    MeasurementOptions brief = options;
    // Many threads load and store much before and after: their runs are the longer ones.
    if (context_.quick && groups <= kFewGroups) {
      brief.run_ns = std::min(brief.run_ns, kQuickRunNs);
      brief.warm_up_ns = std::min(brief.warm_up_ns, kQuickWarmUpNs);
    }
    const PlannedPoint planned{.kernel = proven.kernel.get(),
                               .launch = {.groups = groups},
                               .scale_trips = true,
                               .label = point.label};
    const MeasuredPoint measured = measure({&planned, 1}, brief, context_.observer).front();
    if (measured.error) {
      enter_error(*measured.error, point);
      return measured.error;
    }
    if (const auto& timing = measured.timing) {
      const double flops = flops_of(kernel, measured.launch);
      enter_timing(*timing, point);
      point.median = flops / timing->median_ns;
      point.p5 = flops / timing->p95_ns;
      point.p95 = flops / timing->p5_ns;
    }
    return std::nullopt;
  }

  void derive() {
    std::vector<ParallelPoint> curve;
    for (const BenchPoint& point : points_) {
      if (point.median && point.status == TestStatus::kOk) {
        curve.push_back({point.x, *point.median});
      }
    }
    const std::optional<std::uint32_t> cores = context_.runner.facts().cores;
    for (const int percent : kShares) {
      const auto items = items_for(curve, percent / 100.0);
      if (!items) {
        continue;
      }
      add(fmt::format("items.{}", percent), *items,
          fmt::format("work items at {} % of the highest rate", percent));
      if (cores && *cores > 0) {
        add(fmt::format("items.{}, a core", percent), *items / *cores, "the same, by cores");
      }
    }
  }

  void add(std::string what, double value, std::string by) {
    test_.derived.push_back({.what = std::move(what),
                             .value = value,
                             .lower = std::nullopt,
                             .upper = std::nullopt,
                             .unit = "",
                             .confidence = "",
                             .by = std::move(by)});
  }

  TestContext& context_;
  std::vector<Size> sizes_;
  std::vector<BenchPoint> points_;
  TestResult test_;
};

}  // namespace

std::optional<double> items_for(const std::vector<ParallelPoint>& curve, double share) {
  constexpr std::size_t kFewestPoints = 3;
  if (curve.size() < kFewestPoints) {
    return std::nullopt;
  }
  const double wanted = share * std::ranges::max(curve, {}, &ParallelPoint::rate).rate;
  for (std::size_t i = 1; i < curve.size() && curve.front().rate < wanted; ++i) {
    const ParallelPoint& before = curve[i - 1];
    const ParallelPoint& after = curve[i];
    if (after.rate >= wanted) {
      const double part = (wanted - before.rate) / (after.rate - before.rate);
      return std::exp2(std::lerp(std::log2(before.items), std::log2(after.items), part));
    }
  }
  return std::nullopt;
}

std::vector<TestResult> run_parallel(TestContext& context) {
  return {Parallel(context).run()};
}

std::vector<KernelCase> parallel_cases(const vulkan::DeviceFacts& facts) {
  return {alu_case(facts, shape_of(facts), "parallel.fma").sized.kernel};
}

}  // namespace gputrace::bench
