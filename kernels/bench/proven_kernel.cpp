#include "kernels/bench/proven_kernel.h"

#include <algorithm>
#include <utility>

namespace gputrace::bench {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::CountCheck;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

namespace {

bool lacks_something(const Error& error) {
  return error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kNoSpace;
}

IsaCheck look_at_code(const PreparedKernel& kernel) {
  const auto executables = kernel.executables();
  if (!executables) {
    IsaCheck unknown;
    unknown.why = executables.error().message;
    return unknown;
  }
  return check_isa(kernel.kernel(), *executables);
}

bool same_count(const CountCheck& a, const CountCheck& b) {
  return a.kernel == b.kernel && a.operation == b.operation && a.formula == b.formula;
}

/// Of the points without a figure, the reason that explains the test: a failure before a lack.
const BenchPoint* worst_point(const TestResult& test) {
  const BenchPoint* worst = nullptr;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      const bool worse = worst == nullptr || (worst->status != TestStatus::kFailed &&
                                              point.status == TestStatus::kFailed);
      if (point.status != TestStatus::kOk && worse) {
        worst = &point;
      }
    }
  }
  return worst;
}

}  // namespace

Result<ProvenKernel> prepare_and_prove(Runner& runner, const KernelCase& kernel,
                                       const Launch& launch) {
  auto prepared = runner.prepare(kernel);
  if (!prepared) {
    return tl::unexpected(prepared.error());
  }
  ProvenKernel proven;
  proven.kernel = std::move(*prepared);
  if (runner.simulated()) {
    proven.isa.why = "a simulated GPU runs no code";
    return proven;
  }
  if (kernel.check) {
    const Status result = proven.kernel->check_result(launch);
    if (!result && (device_is_lost(result.error()) || lacks_something(result.error()))) {
      return tl::unexpected(result.error());
    }
    proven.result = result ? Proof::kPassed : Proof::kFailed;
    proven.wrong_result = result ? std::string() : result.error().message;
  }
  proven.isa = look_at_code(*proven.kernel);
  return proven;
}

Proof combine(Proof a, Proof b) {
  if (a == Proof::kFailed || b == Proof::kFailed) {
    return Proof::kFailed;
  }
  return a == Proof::kPassed || b == Proof::kPassed ? Proof::kPassed : Proof::kNotDone;
}

void enter_proofs(const ProvenKernel& proven, BenchPoint& point, TestResult& test) {
  point.code_bytes = proven.isa.code_bytes;
  point.vgprs = proven.isa.vgprs;
  point.waves_per_simd = proven.isa.waves_per_simd;
  if (proven.result == Proof::kFailed) {
    point.status = TestStatus::kFailed;
    point.why = proven.wrong_result;
  } else if (proven.isa.proof == Proof::kFailed) {
    point.status = TestStatus::kSuspect;
    point.why = proven.isa.why;
  }
  test.result = combine(test.result, proven.result);
  test.isa = combine(test.isa, proven.isa.proof);
  for (const CountCheck& count : proven.isa.counts) {
    const auto same = [&](const CountCheck& other) { return same_count(count, other); };
    if (std::none_of(test.counts.begin(), test.counts.end(), same)) {
      test.counts.push_back(count);
    }
  }
}

void enter_timing(const Timing& timing, BenchPoint& point) {
  point.samples = static_cast<std::uint32_t>(timing.samples);
  point.drifts = timing.drifts;
  point.clock_before_mhz = timing.clock_before_mhz;
  point.clock_after_mhz = timing.clock_after_mhz;
  point.power_w = timing.power_w;
  point.start_ns = timing.start_ns;
  point.end_ns = timing.end_ns;
}

void enter_error(const Error& error, BenchPoint& point) {
  point.status = lacks_something(error) ? TestStatus::kSkipped : TestStatus::kFailed;
  point.why = error.message;
}

void conclude(TestResult& test) {
  bool measured = false;
  bool suspect = false;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      measured = measured || point.median.has_value();
      suspect = suspect || point.status == TestStatus::kSuspect;
      if (point.start_ns && point.end_ns) {
        test.start_ns = std::min(test.start_ns.value_or(*point.start_ns), *point.start_ns);
        test.end_ns = std::max(test.end_ns.value_or(*point.end_ns), *point.end_ns);
      }
    }
  }
  if (test.status != TestStatus::kOk) {
    return;
  }
  if (suspect) {
    test.status = TestStatus::kSuspect;
    test.why = "a proof failed at the points marked suspect; none of this is to be published";
    return;
  }
  if (const BenchPoint* worst = worst_point(test); worst != nullptr && !measured) {
    test.status = worst->status;
    test.why = worst->why;
  } else if (worst != nullptr && worst->status == TestStatus::kFailed) {
    test.status = TestStatus::kFailed;
    test.why = worst->why;
  }
}

}  // namespace gputrace::bench
