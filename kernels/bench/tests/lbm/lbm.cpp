#include "kernels/bench/tests/lbm/lbm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/rate_check.h"
#include "kernels/bench/tests/lbm/lattice_case.h"
#include "kernels/bench/tests/point_loop.h"
#include "kernels/bench/tests/workload_values.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::array kFormats{LatticeFormat::kFp32, LatticeFormat::kFp16s, LatticeFormat::kFp16c};
/// Of a box that is proven before a larger one is measured; sides differ, so that none is taken
/// for another.
constexpr LatticeBox kProofBox{.x_bits = 6, .y_bits = 5, .z_bits = 4};
constexpr std::uint32_t kProofSteps = 20;
/// Below this, 16 bits a number do not pay: arithmetic is in the way, not memory.
constexpr double kPays = 1.3;
constexpr double kCellsPerNsToMlups = 1e3;

/// Boxes are halved along z, then along y; the pattern must still fit.
LatticeBox halved(LatticeBox box, std::uint32_t times) {
  for (; times > 0; --times) {
    std::uint32_t& bits = box.z_bits > kLatticePattern.z_bits ? box.z_bits : box.y_bits;
    bits = std::max(bits - 1, kLatticePattern.y_bits);
  }
  return box;
}

struct Job {
  LatticeFormat format = LatticeFormat::kFp32;
  LatticeBox box;
  BenchPoint point;
  Launch launch;
  std::optional<WorkloadTimes> times;  ///< of a step
};

/// Of one format: the proof on a small box, which all of its points stand on.
struct FormatProof {
  bool done = false;
  Proof result = Proof::kNotDone;
  std::string wrong;
  std::shared_ptr<LatticeErrors> errors = std::make_shared<LatticeErrors>();
};

class LatticeTest {
 public:
  explicit LatticeTest(TestContext& context) : context_(context) {
    test_.id = "lbm";
    test_.unit = "MLUPs";
    test_.axis = "cells";
  }

  TestResult run();

 private:
  [[nodiscard]] const vulkan::DeviceFacts& facts() const { return context_.runner.facts(); }
  void plan(std::vector<unsigned>& ranks);
  [[nodiscard]] Status prove(LatticeFormat format);
  [[nodiscard]] std::optional<Error> measure_job(Job& job, const MeasurementOptions& options);
  void enter(Job& job, const KernelCase& kernel, const MeasuredPoint& measured);
  [[nodiscard]] const Job* largest(LatticeFormat format) const;
  void derive_gain(LatticeFormat format);
  void derive_share(const Job& job);
  void derive_error(LatticeFormat format);

  FormatProof& proof_of(LatticeFormat format) {
    return proofs_.at(static_cast<std::size_t>(format));
  }

  TestContext& context_;
  TestResult test_;
  std::vector<Job> jobs_;
  std::array<FormatProof, kFormats.size()> proofs_;
  std::shared_ptr<LatticeReference> reference_ = std::make_shared<LatticeReference>();
};

/// The largest box in all formats, then smaller ones, in which caches help.
void LatticeTest::plan(std::vector<unsigned>& ranks) {
  const LatticeBox largest = lattice_box(facts());
  constexpr std::uint32_t kHalvings = 6;
  const std::uint32_t stride = context_.quick ? 3 : 1;
  for (std::uint32_t times = 0; times <= kHalvings; times += stride) {
    const LatticeBox box = halved(largest, times);
    if (times > 0 && box.cells() == halved(largest, times - stride).cells()) {
      break;
    }
    for (const LatticeFormat format : kFormats) {
      jobs_.push_back({.format = format, .box = box, .point = {}, .launch = {}, .times = {}});
      jobs_.back().point.x = static_cast<double>(box.cells());
      ranks.push_back(times / stride);
    }
  }
}

Status LatticeTest::prove(LatticeFormat format) {
  FormatProof& proof = proof_of(format);
  if (proof.done) {
    return {};
  }
  const SizedCase small = lattice_case(facts(), format, kProofBox, reference_, proof.errors);
  Launch launch = small.launch;
  launch.repeats = kProofSteps;
  const auto proven = prepare_and_prove(context_.runner, small.kernel, launch);
  if (!proven) {
    return tl::unexpected(proven.error());
  }
  proof.done = true;
  proof.result = proven->result;
  proof.wrong = proven->wrong_result;
  return {};
}

std::optional<Error> LatticeTest::measure_job(Job& job, const MeasurementOptions& options) {
  const auto failed = [&](const Error& error) {
    enter_error(error, job.point);
    return error;
  };
  if (const Status proven = prove(job.format); !proven) {
    return failed(proven.error());
  }
  SizedCase sized = lattice_case(facts(), job.format, job.box, reference_);
  if (context_.quick) {
    sized.kernel.check = nullptr;  // a box of this size takes as long to read as to measure
  }
  auto ready = prepare_and_prove(context_.runner, sized.kernel, sized.launch);
  if (!ready) {
    return failed(ready.error());
  }
  const FormatProof& proof = proof_of(job.format);
  if (ready->result != Proof::kFailed && proof.result != Proof::kNotDone) {
    ready->result = proof.result;
    ready->wrong_result = proof.wrong;
  }
  enter_proofs(*ready, job.point, test_);
  if (job.point.status == TestStatus::kFailed) {
    return std::nullopt;
  }
  job.point.label = fmt::format("{}.{}", sized.kernel.id, job.box.cells());
  const PlannedPoint planned{.kernel = ready->kernel.get(),
                             .launch = sized.launch,
                             .scale_trips = false,
                             .label = job.point.label};
  const MeasuredPoint measured = measure({&planned, 1}, options, context_.observer).front();
  if (measured.error) {
    return failed(*measured.error);
  }
  enter(job, sized.kernel, measured);
  return std::nullopt;
}

void LatticeTest::enter(Job& job, const KernelCase& kernel, const MeasuredPoint& measured) {
  if (!measured.timing) {
    return;  // cancelled
  }
  const Timing& timing = *measured.timing;
  job.launch = measured.launch;
  const double cells =
      static_cast<double>(job.box.cells()) * measured.launch.repeats * kCellsPerNsToMlups;
  job.point.median = cells / timing.median_ns;
  job.point.p5 = cells / timing.p95_ns;
  job.point.p95 = cells / timing.p5_ns;
  enter_timing(timing, job.point);
  const double steps = measured.launch.repeats;
  job.times = {.median_ns = timing.median_ns / steps,
               .fast_ns = timing.p5_ns / steps,
               .slow_ns = timing.p95_ns / steps};
  const RateCheck rate =
      check_rate(kernel, measured.launch, timing.p5_ns, ceilings_of(context_).operations_per_ns);
  test_.rate = combine(test_.rate, rate.proof);
  if (rate.proof == Proof::kFailed) {
    job.point.status = TestStatus::kSuspect;
    job.point.why = rate.why;
  }
}

const Job* LatticeTest::largest(LatticeFormat format) const {
  const auto found = std::ranges::find_if(jobs_, [&](const Job& job) {
    return job.format == format && job.times && job.point.status == TestStatus::kOk;
  });
  return found == jobs_.end() ? nullptr : &*found;
}

void LatticeTest::derive_gain(LatticeFormat format) {
  const Job* const full = largest(LatticeFormat::kFp32);
  const Job* const half = largest(format);
  if (full == nullptr || half == nullptr || full->box.cells() != half->box.cells() ||
      !full->point.median || !half->point.median) {
    return;
  }
  const double gain = *half->point.median / *full->point.median;
  test_.derived.push_back(
      {.what = fmt::format("gain of {}", name_of(format)),
       .value = gain,
       .lower = std::nullopt,
       .upper = std::nullopt,
       .unit = "x",
       .confidence = "",
       .by = gain < kPays
                 ? fmt::format("of 77 bytes in place of 153; under {}: compute bound", kPays)
                 : "of 77 bytes in place of 153"});
}

/// Of what memory or arithmetic would allow alone, as this run measured them.
void LatticeTest::derive_share(const Job& job) {
  const RunCeilings ceilings = ceilings_of(context_);
  if (!ceilings.memory_bytes_per_ns || !ceilings.operations_per_ns || !job.point.median) {
    return;
  }
  const double by_memory = *ceilings.memory_bytes_per_ns / lattice_bytes(job.format);
  const double by_arithmetic = *ceilings.operations_per_ns / lattice_operations(job.format);
  const bool memory = by_memory < by_arithmetic;
  const double most = std::min(by_memory, by_arithmetic) * kCellsPerNsToMlups;
  test_.derived.push_back(
      {.what = fmt::format("{}: share of what is possible", name_of(job.format)),
       .value = 100 * *job.point.median / most,
       .lower = std::nullopt,
       .upper = std::nullopt,
       .unit = "%",
       .confidence = "",
       .by = memory ? fmt::format("{:.4g} GB/s by {:g} bytes a cell", *ceilings.memory_bytes_per_ns,
                                  lattice_bytes(job.format))
                    : fmt::format("{:.4g} Gop/s by {:g} operations a cell",
                                  *ceilings.operations_per_ns, lattice_operations(job.format))});
}

void LatticeTest::derive_error(LatticeFormat format) {
  const FormatProof& proof = proof_of(format);
  if (proof.result != Proof::kPassed) {
    return;
  }
  const LatticeErrors bounds = lattice_bounds(format);
  const auto add = [&](std::string_view what, double value, double bound, std::string unit) {
    test_.derived.push_back(
        {.what = fmt::format("{}: {}", name_of(format), what),
         .value = value,
         .lower = std::nullopt,
         .upper = std::nullopt,
         .unit = std::move(unit),
         .confidence = "",
         .by = fmt::format("against double after {} steps; at most {:.0e}", kProofSteps, bound)});
  };
  add("error of the flow", proof.errors->flow, bounds.flow, "lattice units");
  add("change of mass", std::abs(proof.errors->mass), bounds.mass, "of all");
}

TestResult LatticeTest::run() {
  std::vector<unsigned> ranks;
  plan(ranks);
  const PointLoop loop = for_each_point(context_.options, ranks,
                                        [&](std::size_t index, const MeasurementOptions& options) {
                                          return measure_job(jobs_[index], options);
                                        });
  for (const LatticeFormat format : kFormats) {
    analysis::BenchSeries& series =
        test_.series.emplace_back(analysis::BenchSeries{std::string(name_of(format)), {}});
    for (const Job& job : jobs_) {
      if (job.format == format) {
        series.points.push_back(job.point);
      }
    }
    std::ranges::stable_sort(series.points, {}, &BenchPoint::x);
    if (const Job* const job = largest(format); job != nullptr && job->times) {
      const SizedCase sized = lattice_case(facts(), format, job->box, reference_);
      Launch step = job->launch;
      step.repeats = 1;
      const double cells = static_cast<double>(job->box.cells());
      derive_place({.name = sized.kernel.id,
                    .flops = flops_of(sized.kernel, step),
                    .memory_bytes = cells * lattice_bytes(format),
                    .footprint_bytes = cells * (lattice_bytes(format) + 1) / 2},
                   *job->times, test_);
      derive_share(*job);
    }
    derive_error(format);
  }
  derive_gain(LatticeFormat::kFp16s);
  derive_gain(LatticeFormat::kFp16c);
  finish_test(test_, loop);
  return std::move(test_);
}

}  // namespace

std::vector<TestResult> run_lbm(TestContext& context) {
  std::vector<TestResult> results;
  results.push_back(LatticeTest(context).run());
  return results;
}

std::vector<KernelCase> lbm_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  cases.reserve(kFormats.size());
  for (const LatticeFormat format : kFormats) {
    cases.push_back(lattice_case(facts, format, kProofBox).kernel);
  }
  return cases;
}

}  // namespace gputrace::bench
