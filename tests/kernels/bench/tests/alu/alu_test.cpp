#include "kernels/bench/tests/alu/alu.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "kernels/bench/cases/alu_case.h"
#include "kernels/bench/rate_check.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

using analysis::DerivedValue;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

const TestResult& test_of(const std::vector<TestResult>& results, std::string_view id) {
  const auto found = std::ranges::find(results, id, &TestResult::id);
  REQUIRE(found != results.end());
  return *found;
}

const DerivedValue* derived(const TestResult& test, std::string_view what) {
  const auto found = std::ranges::find(test.derived, what, &DerivedValue::what);
  return found == test.derived.end() ? nullptr : &*found;
}

/// A device with every type, on which an instruction of a lane takes `slow_down` times 1 ps.
struct EveryType : test::FakeRunner {
  EveryType() {
    device.subgroup_size = 64;
    device.subgroup_sizes = {32, 64};
    device.fp16 = device.fp64 = device.int8_dot = device.int16 = device.int64 = true;
    dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
      return lane_operations_per_ns(kernel, launch, 1).value_or(1) * 1e-4;
    };
  }

  std::vector<TestResult> run(bool quick = false) {
    TestContext context{.runner = *this, .options = options(), .quick = quick};
    return run_alu(context);
  }
};

TEST_CASE("every operation of every type leaves on a device what the CPU calculates") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const AluType type : alu_types()) {
    for (const AluOperation operation : operations_of(type)) {
      const AluCase made = alu_case(runner->facts(), {.type = type, .operation = operation});
      INFO(made.sized.kernel.id);
      const auto prepared = runner->prepare(made.sized.kernel);
      if (!prepared && prepared.error().code == ErrorCode::kUnsupported) {
        MESSAGE("skipped: ", prepared.error().message);
        continue;
      }
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status right = (*prepared)->check_result({.groups = 3, .trips = 3});
      CHECK_MESSAGE(right, test::error_text(right));
    }
  }
}

TEST_CASE("a trip more or less is found in the result of every type") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const auto& [type, operation] : {std::pair(AluType::kFp16, AluOperation::kMul),
                                        std::pair(AluType::kFp16Packed, AluOperation::kAdd),
                                        std::pair(AluType::kFp32, AluOperation::kMul),
                                        std::pair(AluType::kFp32, AluOperation::kRcp),
                                        std::pair(AluType::kFp32, AluOperation::kSin),
                                        std::pair(AluType::kFp64, AluOperation::kSqrt),
                                        std::pair(AluType::kInt16, AluOperation::kMad),
                                        std::pair(AluType::kInt16Packed, AluOperation::kMul),
                                        std::pair(AluType::kInt24, AluOperation::kMul),
                                        std::pair(AluType::kInt32, AluOperation::kMulHi),
                                        std::pair(AluType::kInt64, AluOperation::kMul)}) {
    const AluCase made = alu_case(runner->facts(), {.type = type, .operation = operation});
    test::check_on_device(*runner, made.sized.kernel, {.groups = 2, .trips = 4});
  }
}

TEST_CASE("an operation that was left out, and a wrong bit, are found") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  KernelCase kernel =
      alu_case(runner->facts(), {.type = AluType::kInt32, .operation = AluOperation::kAdd})
          .sized.kernel;
  kernel.check = [right = kernel.check](const Launch& launch, const Outputs& outputs) -> Status {
    Outputs wrong = outputs;
    wrong.buffers.at(1).front() ^= std::byte{1};
    CHECK_FALSE(right(launch, wrong));
    return right(launch, outputs);
  };
  const auto prepared = runner->prepare(kernel);
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  CHECK((*prepared)->check_result({.groups = 1, .trips = 2}));
}

TEST_CASE("fp16 names the way in which the device rounds") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const AluCase made =
      alu_case(runner->facts(), {.type = AluType::kFp16, .operation = AluOperation::kFma});
  const auto prepared = runner->prepare(made.sized.kernel);
  if (!prepared) {
    MESSAGE("skipped: ", prepared.error().message);
    return;
  }
  CHECK(made.rounding->empty());
  CHECK((*prepared)->check_result({.groups = 1, .trips = 2}));
  const std::set<std::string> known{"fused", "split", "in fp32", "kept in fp32"};
  CHECK(known.contains(*made.rounding));
}

TEST_CASE("each subgroup size is asked for, and the driver's own alone without a choice") {
  auto facts = test::integrated_gpu();
  facts.int16 = true;
  std::set<std::string> ids;
  for (const KernelCase& kernel : alu_cases(facts)) {
    ids.insert(kernel.id);
  }
  CHECK(ids.contains("alu.fp32.precise_mad.wave32"));
  CHECK(ids.contains("alu.int8_dot.dot.wave64"));
  facts.subgroup_sizes = {8, 16, 32};
  facts.subgroup_size = 16;
  std::size_t of_fp32_add = 0;
  for (const KernelCase& kernel : alu_cases(facts)) {
    of_fp32_add += kernel.id.starts_with("alu.fp32.add.") ? 1 : 0;
  }
  CHECK(of_fp32_add == 3);
  facts.subgroup_sizes = {};
  const auto cases = alu_cases(facts);
  CHECK(std::ranges::count(cases, "alu.fp32.fma", &KernelCase::id) == 1);
}

TEST_CASE("types that a device lacks are skipped and named") {
  EveryType runner;
  runner.device.fp64 = false;
  runner.device.int16 = false;
  const auto results = runner.run(true);
  const TestResult& fp64 = test_of(results, "alu.fp64");
  CHECK(fp64.status == TestStatus::kSkipped);
  CHECK(fp64.why == "the device has no fp64 arithmetic (shaderFloat64)");
  CHECK(test_of(results, "alu.int16").status == TestStatus::kSkipped);
  CHECK(test_of(results, "alu.fp32").status == TestStatus::kOk);
}

TEST_CASE("rates are operations of a lane, peaks count multiply-adds twice") {
  EveryType runner;
  const auto results = runner.run();
  const TestResult& fp32 = test_of(results, "alu.fp32");
  CHECK(fp32.unit == "Gop/s");
  CHECK(fp32.rate == Proof::kPassed);
  REQUIRE(fp32.series.size() == operations_of(AluType::kFp32).size());
  REQUIRE(fp32.series.front().points.size() == 2);
  CHECK(fp32.series.front().points.front().x == 32);
  CHECK(fp32.series.front().points.front().median.value_or(0) ==
        doctest::Approx(1e4).epsilon(0.01));
  const DerivedValue* const peak = derived(fp32, "peak.fp32");
  REQUIRE(peak != nullptr);
  CHECK(peak->value == doctest::Approx(2e4).epsilon(0.01));
  CHECK(peak->unit == "GFLOPS");
  const DerivedValue* const ratio = derived(fp32, "fma / precise a*b+c");
  REQUIRE(ratio != nullptr);
  CHECK(ratio->value == doctest::Approx(1).epsilon(0.01));
  const DerivedValue* const packed = derived(test_of(results, "alu.fp16_packed"), "peak.fp16");
  REQUIRE(packed != nullptr);
  CHECK(packed->value == doctest::Approx(4e4).epsilon(0.01));
}

TEST_CASE("a slow fma() is the finding") {
  EveryType runner;
  const auto even = runner.dispatch_ns;
  runner.dispatch_ns = [even](const KernelCase& kernel, const Launch& launch) {
    return even(kernel, launch) * (kernel.id.starts_with("alu.fp32.fma") ? 16 : 1);
  };
  const auto results = runner.run(true);
  const DerivedValue* const ratio = derived(test_of(results, "alu.fp32"), "fma / a*b+c");
  REQUIRE(ratio != nullptr);
  CHECK(ratio->value == doctest::Approx(1.0 / 16).epsilon(0.01));
  CHECK(ratio->by.find("several instructions") != std::string::npos);
}

TEST_CASE("an operation faster than fp32 additions was folded, and is suspect") {
  EveryType runner;
  const auto even = runner.dispatch_ns;
  runner.dispatch_ns = [even](const KernelCase& kernel, const Launch& launch) {
    return even(kernel, launch) / (kernel.id.starts_with("alu.fp32.rcp") ? 7 : 1);
  };
  const auto results = runner.run();
  const TestResult& fp32 = test_of(results, "alu.fp32");
  CHECK(fp32.status == TestStatus::kSuspect);
  CHECK(fp32.rate == Proof::kFailed);
  for (const auto& series : fp32.series) {
    for (const auto& point : series.points) {
      CHECK((point.status == TestStatus::kSuspect) == (series.name == "rcp"));
    }
  }
  CHECK(test_of(results, "alu.int32").status == TestStatus::kOk);
}

TEST_CASE("a device that is lost ends the types that were not through") {
  EveryType runner;
  runner.broken = Error{ErrorCode::kIo, "the device was lost"};
  for (const TestResult& test : runner.run(true)) {
    CHECK(test.status == TestStatus::kFailed);
    CHECK(test.why.find("lost") != std::string::npos);
  }
}

TEST_CASE("past its share the test keeps the basic operations and says what is left out") {
  EveryType runner;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns() + 1;
  const auto results = run_alu(context);
  const TestResult& fp32 = test_of(results, "alu.fp32");
  CHECK(fp32.status == TestStatus::kOk);
  std::set<std::string> names;
  for (const auto& series : fp32.series) {
    names.insert(series.name);
  }
  CHECK(names == std::set<std::string>{"add", "mul", "fma", "a*b+c", "precise a*b+c"});
  CHECK(fp32.why.find("21 of 26 points left out") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::bench
