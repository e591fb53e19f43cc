#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/validation/validation_cases.h"
#include "kernels/bench/validation_tests.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

/// FLOP by byte of DRAM, as marks say it.
double intensity_of(const SizedCase& sized) {
  const Stimulus stimulus = sized.kernel.stimulus(sized.launch);
  REQUIRE(stimulus.dram_bytes);
  return stimulus.flops / stimulus.dram_bytes.value_or(0);
}

/// The case on lavapipe; `spoil` may then change the outputs.
Status checked_on_device(Runner& runner, const SizedCase& sized,
                         const std::function<void(Outputs&)>& spoil) {
  KernelCase kernel = sized.kernel;
  kernel.check = [&, right = sized.kernel.check](const Launch& launch, const Outputs& outputs) {
    Outputs changed = outputs;
    spoil(changed);
    return right(launch, changed);
  };
  const auto prepared = runner.prepare(kernel);
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  return (*prepared)->check_result(sized.launch);
}

TEST_CASE("a lattice Boltzmann cell is 172 FLOP on 153 bytes, and on 77 in halves") {
  const auto facts = test::integrated_gpu();
  const SizedCase fp32 = lbm_case(facts, Storage::kFp32);
  const SizedCase fp16 = lbm_case(facts, Storage::kFp16);
  CHECK(flops_of(fp32.kernel, fp32.launch) == 172.0 * 128 * 128 * 128);
  CHECK(intensity_of(fp32) == doctest::Approx(172.0 / 153));
  CHECK(intensity_of(fp16) == doctest::Approx(172.0 / 77));
  CHECK(flops_of(fp16.kernel, fp16.launch) == flops_of(fp32.kernel, fp32.launch));
}

TEST_CASE("a stencil reads two rows of a band twice, and what lies beside a thread from a cache") {
  const SizedCase sized = stencil_case(test::integrated_gpu());
  const Stimulus stimulus = sized.kernel.stimulus(sized.launch);
  const double cells = 8192.0 * 4096;
  CHECK(threads_of(sized.kernel, sized.launch) * sized.launch.trips * 4 == cells);
  CHECK(flops_of(sized.kernel, sized.launch) == 6 * cells);
  CHECK(stimulus.dram_bytes == 66.0 * 16 + 64 * 16 + 4);
  CHECK(read_bytes_of(sized.kernel, sized.launch) > stimulus.read_bytes * stimulus.threads);
}

TEST_CASE("a product's intensity is about a quarter of its tile's side") {
  for (const std::uint32_t side : {64U, 128U, 256U}) {
    CAPTURE(side);
    const SizedCase sized = matmul_case(test::integrated_gpu(), side);
    const double depth = 8.0 * sized.launch.trips;
    const double flops = 2.0 * side * side * depth;
    const double bytes = 4 * (2 * side * depth + 1.0 * side * side);
    CHECK(intensity_of(sized) == doctest::Approx(flops / bytes));
    CHECK(flops_of(sized.kernel, sized.launch) == flops * sized.launch.groups);
    // Far beyond caches.
    CHECK(sized.kernel.buffers.front().bytes >= 128U << 20U);
  }
}

TEST_CASE("the pulls of N bodies are 18 FLOP a pair on 32 bytes a body") {
  const SizedCase sized = nbody_case(test::integrated_gpu());
  const double bodies = 64.0 * sized.launch.trips;
  CHECK(threads_of(sized.kernel, sized.launch) == bodies);
  CHECK(flops_of(sized.kernel, sized.launch) == bodies * (18 * bodies + 3));
  CHECK(intensity_of(sized) > 1000);
}

TEST_CASE("sizes keep to the memory and to the trips that every device runs") {
  auto facts = test::integrated_gpu();
  facts.memory_bytes = 1U << 30U;
  facts.max_storage_range = 128U << 20U;
  for (const BenchTest& test : validation_tests()) {
    for (const KernelCase& kernel : test.cases(facts)) {
      CAPTURE(kernel.id);
      for (const BufferNeed& need : kernel.buffers) {
        CHECK(need.bytes <= facts.max_storage_range);
      }
    }
  }
  CHECK(matmul_case(facts, 256).launch.trips <= kMaxTrips);
  CHECK(nbody_case(facts).launch.trips <= kMaxTrips);
}

TEST_CASE("a GPU with waves of 64 alone gets no tiles that its registers do not hold") {
  auto facts = test::integrated_gpu();
  const auto count = [&] { return validation_tests()[2].cases(facts).size(); };
  CHECK(count() == 3);
  facts.subgroup_sizes = {64};
  CHECK(count() == 2);
}

TEST_CASE("points of a validation stand at their intensity and are named as their marks are") {
  test::FakeRunner runner;
  runner.is_simulated = true;
  runner.device.subgroup_sizes = {32, 64};
  std::map<std::string, double> labels;
  for (const BenchTest& test : validation_tests()) {
    TestContext context{.runner = runner, .options = runner.options(), .quick = true};
    for (const analysis::TestResult& result : test.run(context)) {
      CHECK(result.id == test.id);
      CHECK(result.unit == "GFLOPS");
      for (const analysis::BenchSeries& series : result.series) {
        for (const analysis::BenchPoint& point : series.points) {
          CHECK(point.median);
          labels[point.label] = point.x;
        }
      }
    }
  }
  CHECK(labels.size() == 7);
  CHECK(labels["lbm.fp16s"] == doctest::Approx(172.0 / 77));
  CHECK(labels["matmul.tile256"] > labels["matmul.tile64"]);
}

TEST_CASE("stencil, product and pulls on a device are what the CPU calculates, for their trips") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  std::vector<SizedCase> all{stencil_case(runner->facts()), nbody_case(runner->facts())};
  for (const std::uint32_t side : {64U, 128U, 256U}) {
    all.push_back(matmul_case(runner->facts(), side));
  }
  for (SizedCase& sized : all) {
    --sized.launch.trips;  // one more trip is there to be told from it
    test::check_on_device(*runner, sized.kernel, sized.launch);
    ++sized.launch.trips;
    CHECK(checked_on_device(*runner, sized, [](Outputs&) {}));
    const Status spoiled = checked_on_device(*runner, sized, [](Outputs& outputs) {
      auto last = read_at<float>(outputs.buffers[1], 0);
      write_at(outputs.buffers[1], 0, last + std::abs(last) * 0.01F);
    });
    CHECK_FALSE(spoiled);
  }
}

}  // namespace
}  // namespace gputrace::bench
