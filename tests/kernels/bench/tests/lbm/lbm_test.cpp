#include "kernels/bench/tests/lbm/lbm.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/bench/tests/lbm/lattice_case.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

constexpr std::array kFormats{LatticeFormat::kFp32, LatticeFormat::kFp16s, LatticeFormat::kFp16c};
constexpr LatticeBox kSmallBox{.x_bits = 5, .y_bits = 4, .z_bits = 4};

const analysis::DerivedValue* find(const analysis::TestResult& test, const std::string& what) {
  const auto found = std::ranges::find(test.derived, what, &analysis::DerivedValue::what);
  return found == test.derived.end() ? nullptr : &*found;
}

double value_of(const analysis::TestResult& test, const std::string& what) {
  const analysis::DerivedValue* const found = find(test, what);
  REQUIRE_MESSAGE(found != nullptr, what);
  return found->value;
}

/// ns of a step that moves so many bytes, at 100 GB/s.
double step_ns(const KernelCase& kernel, double bytes_a_cell) {
  return static_cast<double>(kernel.buffers[1].bytes) * bytes_a_cell / 100;
}

analysis::TestResult run_on(test::FakeRunner& runner,
                            const std::vector<analysis::TestResult>* earlier = nullptr) {
  TestContext context{
      .runner = runner, .options = runner.options(), .quick = true, .earlier = earlier};
  auto results = run_lbm(context);
  REQUIRE(results.size() == 1);
  return std::move(results.front());
}

analysis::TestResult result_of(const std::string& id, double median) {
  analysis::TestResult result;
  result.id = id;
  analysis::BenchPoint near;
  near.x = 1;
  near.median = median;
  // Farther from caches; of ALUs there is one point alone.
  analysis::BenchPoint far = near;
  far.x = 2;
  result.series = {{.name = "one", .points = {near, far}}};
  result.series[0].points[0].median = id == "bandwidth.copy" ? 10 * median : median;
  return result;
}

class WithoutStorage16 final : public test::FakeRunner {
 public:
  [[nodiscard]] Result<std::unique_ptr<PreparedKernel>> prepare(const KernelCase& kernel) override {
    if (!kernel.needs.empty()) {
      return fail(ErrorCode::kUnsupported, kernel.id + ": a fake device has no 16-bit numbers");
    }
    return FakeRunner::prepare(kernel);
  }
};

}  // namespace

TEST_CASE("a step moves 153 bytes a cell in fp32 and 77 in 16 bits") {
  for (const LatticeFormat format : kFormats) {
    const SizedCase sized = lattice_case(test::integrated_gpu(), format, kSmallBox);
    const double bytes = format == LatticeFormat::kFp32 ? 153 : 77;
    const Stimulus stimulus = sized.kernel.stimulus(sized.launch);
    CHECK(stimulus.read_bytes + stimulus.written_bytes == bytes);
    CHECK(stimulus.dram_bytes == bytes);
    CHECK(lattice_bytes(format) == bytes);
    CHECK(stimulus.threads == kSmallBox.cells());
  }
}

TEST_CASE("FP16C keeps 11 bits of mantissa, steps of 2^-25 below 2^-14, and rounds to even") {
  CHECK(fp16c_value(fp16c_bits(0.0F)) == 0);
  CHECK(fp16c_value(fp16c_bits(1.0F)) == 1);
  CHECK(fp16c_value(fp16c_bits(-0.0625F)) == -0.0625F);
  CHECK(fp16c_value(fp16c_bits(0x1p-25F)) == 0x1p-25F);
  CHECK(fp16c_value(fp16c_bits(0x1.8p-26F)) == 0x1p-25F);
  CHECK(fp16c_value(fp16c_bits(0x1p-26F)) == 0);
  CHECK(fp16c_value(fp16c_bits(1 + 0x1p-12F)) == 1);
  CHECK(fp16c_value(fp16c_bits(1 + 0x1.8p-11F)) == 1 + 0x1p-10F);
  CHECK(fp16c_value(fp16c_bits(100.0F)) == 2 - 0x1p-11F);
  // The last denormal and the first normal are one step apart.
  CHECK(fp16c_value(0x800) - fp16c_value(0x7ff) == 0x1p-25F);
  for (std::uint32_t bits = 0; bits < 0x8000; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    REQUIRE(fp16c_bits(fp16c_value(word)) == word);
  }
}

TEST_CASE("the reference keeps mass and momentum, and its waves lose their force") {
  LatticeReference reference;
  const auto sums = [](const std::vector<Moments>& moments) {
    Moments sum;
    for (const Moments& each : moments) {
      sum.density += each.density;
      for (std::size_t i = 0; i < sum.flow.size(); ++i) {
        sum.flow.at(i) += each.flow.at(i);
      }
    }
    return sum;
  };
  const auto fastest = [](const std::vector<Moments>& moments) {
    double most = 0;
    for (const Moments& each : moments) {
      most = std::max(most, std::abs(each.flow[0]));
    }
    return most;
  };
  const Moments before = sums(reference.after(0));
  const double fast = fastest(reference.after(0));
  const Moments after = sums(reference.after(40));
  CHECK(after.density == doctest::Approx(before.density).epsilon(1e-9).scale(1));
  for (std::size_t i = 0; i < before.flow.size(); ++i) {
    CHECK(after.flow.at(i) == doctest::Approx(before.flow.at(i)).epsilon(1e-9).scale(1));
  }
  CHECK(fastest(reference.after(40)) < 0.9 * fast);
  CHECK(fastest(reference.after(0)) == fast);
}

TEST_CASE("boxes keep to the memory and to the ranges that shaders see") {
  auto facts = test::integrated_gpu();
  CHECK(lattice_box(facts).cells() == 1U << 21U);
  facts.max_storage_range = 32U << 20U;
  CHECK(lattice_box(facts).cells() * 76 <= 32U << 20U);
  facts.max_storage_range = 1U << 31U;
  facts.memory_bytes = 256U << 20U;
  CHECK(lattice_box(facts).cells() * 76 <= 32U << 20U);
  facts.listed.type = "discrete GPU";
  facts.memory_bytes = 16ULL << 30U;
  CHECK(lattice_box(facts).cells() == 1U << 22U);
}

TEST_CASE("all formats on a device are the CPU's within their bounds, after odd and even steps") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const LatticeFormat format : kFormats) {
    for (const std::uint32_t steps : {1U, 20U, 25U}) {
      CAPTURE(name_of(format));
      CAPTURE(steps);
      const auto errors = std::make_shared<LatticeErrors>();
      SizedCase sized = lattice_case(runner->facts(), format, kSmallBox, nullptr, errors);
      sized.launch.repeats = steps;
      bool fewer = false;
      bool shifted = false;
      sized.kernel.check = [&, right = sized.kernel.check](const Launch& launch,
                                                           const Outputs& outputs) -> Status {
        Launch other = launch;
        other.repeats += 2;  // of the same order in memory
        fewer = right(other, outputs).has_value();
        Outputs moved = outputs;
        std::ranges::rotate(moved.buffers[0], moved.buffers[0].begin() + 4);
        shifted = right(launch, moved).has_value();
        return right(launch, outputs);
      };
      const auto prepared = runner->prepare(sized.kernel);
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status same = (*prepared)->check_result(sized.launch);
      CHECK_MESSAGE(same, test::error_text(same));
      CHECK_FALSE(fewer);
      CHECK_FALSE(shifted);
    }
  }
}

TEST_CASE("steps go on from run to run") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const SizedCase sized = lattice_case(runner->facts(), LatticeFormat::kFp32, kSmallBox);
  const auto prepared = runner->prepare(sized.kernel);
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  Launch launch = sized.launch;
  for (const std::uint32_t steps : {3U, 1U, 4U}) {
    launch.repeats = steps;
    REQUIRE((*prepared)->run(launch));
  }
  const auto left = (*prepared)->read_back();
  REQUIRE_MESSAGE(left, test::error_text(left));
  launch.repeats = 8;
  CHECK(sized.kernel.check(launch, *left));
  launch.repeats = 6;
  CHECK_FALSE(sized.kernel.check(launch, *left));
}

TEST_CASE("MLUPs, their place on the roofline, and what 16 bits gain") {
  test::FakeRunner runner;
  runner.device.storage16 = true;
  SUBCASE("memory bound: twice the cells in half the bytes") {
    runner.dispatch_ns = [](const KernelCase& kernel, const Launch&) {
      return step_ns(kernel, kernel.id == "lbm.fp32" ? 153 : 77);
    };
    const analysis::TestResult test = run_on(runner);
    CHECK(test.status == analysis::TestStatus::kOk);
    CHECK(test.unit == "MLUPs");
    REQUIRE(test.series.size() == 3);
    for (const analysis::BenchSeries& series : test.series) {
      const double bytes = series.name == "fp32" ? 153 : 77;
      for (const analysis::BenchPoint& point : series.points) {
        CHECK(point.median.value_or(0) == doctest::Approx(100e3 / bytes).epsilon(0.001));
      }
    }
    CHECK(value_of(test, "gain of fp16s") == doctest::Approx(153.0 / 77));
    CHECK(find(test, "gain of fp16s")->by.find("compute bound") == std::string::npos);
    CHECK(value_of(test, "point.lbm.fp32.intensity") == doctest::Approx(172.0 / 153));
    CHECK(value_of(test, "point.lbm.fp32.gflops") == doctest::Approx(100 * 172.0 / 153));
    CHECK(value_of(test, "point.lbm.fp16s.intensity") == doctest::Approx(172.0 / 77));
  }
  SUBCASE("as slow with half the bytes: compute bound, and said so") {
    runner.dispatch_ns = [](const KernelCase& kernel, const Launch&) {
      return step_ns(kernel, 400);
    };
    const analysis::TestResult test = run_on(runner);
    CHECK(value_of(test, "gain of fp16c") == doctest::Approx(1));
    CHECK(find(test, "gain of fp16c")->by.find("under 1.3: compute bound") != std::string::npos);
  }
}

TEST_CASE("the share of what is possible is of this run's own ceilings, the lower of two") {
  test::FakeRunner runner;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch&) {
    return step_ns(kernel, 153 * 2);
  };
  CHECK(find(run_on(runner), "fp32: share of what is possible") == nullptr);
  std::vector<analysis::TestResult> earlier{result_of("bandwidth.copy", 100)};
  CHECK(find(run_on(runner, &earlier), "fp32: share of what is possible") == nullptr);
  earlier.push_back(result_of("alu.fp32", 1e4));
  const analysis::TestResult test = run_on(runner, &earlier);
  CHECK(value_of(test, "fp32: share of what is possible") == doctest::Approx(50).epsilon(0.001));
  CHECK(find(test, "fp32: share of what is possible")->by.find("100 GB/s") != std::string::npos);
}

TEST_CASE("a rate beyond what additions allow is suspect") {
  test::FakeRunner runner;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch&) { return step_ns(kernel, 153); };
  std::vector<analysis::TestResult> earlier{result_of("alu.fp32", 1)};
  const analysis::TestResult test = run_on(runner, &earlier);
  CHECK(test.status == analysis::TestStatus::kSuspect);
  CHECK(test.rate == analysis::Proof::kFailed);
  CHECK(find(test, "point.lbm.fp32.gflops") == nullptr);
}

TEST_CASE("where buffers hold no 16-bit numbers fp32 is measured, and the rest is skipped") {
  WithoutStorage16 runner;
  const analysis::TestResult test = run_on(runner);
  CHECK(test.status == analysis::TestStatus::kOk);
  for (const analysis::BenchSeries& series : test.series) {
    for (const analysis::BenchPoint& point : series.points) {
      CHECK((point.status == analysis::TestStatus::kSkipped) == (series.name != "fp32"));
    }
  }
  CHECK(find(test, "gain of fp16s") == nullptr);
}

TEST_CASE("wrong cells are not measured, a lost device ends the test, a spent share leaves out") {
  test::FakeRunner runner;
  SUBCASE("wrong") {
    runner.result = [](const KernelCase& kernel, const Launch&) -> Status {
      return fail(ErrorCode::kCorrupt, kernel.id + ": cell 0 is off");
    };
    const analysis::TestResult test = run_on(runner);
    CHECK(test.status == analysis::TestStatus::kFailed);
    CHECK(test.why.find("cell 0 is off") != std::string::npos);
    CHECK(test.derived.empty());
  }
  SUBCASE("lost") {
    runner.broken = Error{ErrorCode::kIo, "VK_ERROR_DEVICE_LOST"};
    CHECK(run_on(runner).status == analysis::TestStatus::kFailed);
  }
  SUBCASE("spent") {
    MeasurementOptions options = runner.options();
    options.share_end_ns = runner.clock.now_ns();
    TestContext context{.runner = runner, .options = options, .quick = true};
    const auto results = run_lbm(context);
    REQUIRE(results.size() == 1);
    CHECK(results[0].series.size() == 3);
    CHECK(results[0].series[0].points.size() == 1);
    CHECK(results[0].why.find("left out") != std::string::npos);
  }
}

}  // namespace gputrace::bench
