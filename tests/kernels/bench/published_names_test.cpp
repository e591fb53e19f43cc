// Published figures are found by name in a run: every name must be one that a run has.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/analysis/inference.h"
#include "cli/analysis/published_figures.h"
#include "kernels/bench/bench_test.h"
#include "kernels/bench/roofline.h"
#include "kernels/bench/tests/host/host.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)
using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

struct Sensors final : PointObserver {
  void begin_point(const std::string&, const Stimulus&) override {}
  void end_point(const std::string&) override {}
  std::optional<double> clock_mhz() override { return 2000; }
  std::optional<double> power_w() override { return std::nullopt; }
};

/// Of a device that has everything.
void offer_all(test::FakeRunner& runner) {
  vulkan::DeviceFacts& facts = runner.device;
  facts.subgroup_sizes = {32, 64};
  facts.fp16 = facts.fp64 = facts.int8_dot = facts.int16 = facts.int64 = true;
  facts.float_atomics = facts.shared_float_atomics = true;
  facts.matrix_shapes = {{.m = 16, .n = 16, .k = 16, .accumulates_fp32 = true}};
  facts.max_image_side = 16384;
  facts.cores = 12;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    const Launch once{.groups = launch.groups, .trips = launch.trips, .repeats = 1};
    const double threads = threads_of(kernel, once);
    // Tiles of 4 Mi pixels, and no type faster than another.
    const bool leaves = kernel.blend && threads > 8.0 * (1U << 22U);
    return 2000 + 50.0 * launch.trips + threads * (leaves ? 0.1 : 0.02) +
           flops_of(kernel, once) / 1000;
  };
  runner.result = [](const KernelCase& kernel, const Launch& launch) -> Status {
    if (kernel.id.starts_with("occupancy.")) {
      // The census that the kernel would have left; its other results are not there.
      Outputs outputs;
      outputs.buffers.resize(kernel.buffers.size());
      for (std::size_t i = 0; i < outputs.buffers.size(); ++i) {
        outputs.buffers[i].resize(kernel.buffers[i].bytes);
      }
      const std::array<std::uint32_t, 3> census{0, std::min(launch.groups, 100U), launch.groups};
      std::memcpy(outputs.buffers.front().data(), census.data(), sizeof(census));
      [[maybe_unused]] const Status others = kernel.check(launch, outputs);
    }
    return {};
  };
}

using Curve = std::function<double(double)>;

BenchSeries series_of(const std::string& name, double first, double last, const Curve& curve) {
  BenchSeries series{name, {}};
  for (double x = first; x <= last; x *= std::sqrt(2.0)) {
    BenchPoint& point = series.points.emplace_back();
    point.x = std::round(x);
    point.median = curve(point.x);
  }
  return series;
}

/// Four levels of caches and memory.
double latency(double bytes) {
  double ns = 20;
  for (const auto& [size, more] : {std::pair{32 * kKiB, 30.0}, std::pair{512 * kKiB, 60.0},
                                   std::pair{8 * kMiB, 120.0}, std::pair{96 * kMiB, 250.0}}) {
    ns += bytes <= size ? 0 : more * (1 - size / bytes);
  }
  return ns;
}

double bandwidth(double bytes) {
  return bytes <= 32 * kKiB    ? 4000
         : bytes <= 512 * kKiB ? 2000
         : bytes <= 8 * kMiB   ? 900
         : bytes <= 96 * kMiB  ? 400
                               : 100;
}

std::vector<BenchSeries> strides() {
  std::vector<BenchSeries> all;
  for (double stride = 64; stride <= 256 * kKiB; stride *= 4) {
    const double page = std::max(stride, 4 * kKiB);
    all.push_back(series_of(
        stride < kKiB ? fmt::format("{} B", stride) : fmt::format("{} KiB", stride / kKiB),
        8 * stride, 4096 * kMiB, [=](double bytes) {
          return 30.0 + (bytes > 512 * stride ? 60.0 : 0.0) + (bytes > 4096 * page ? 80.0 : 0.0);
        }));
  }
  return all;
}

/// Curves that say something, in place of what a device that is none has measured.
void give_curves(TestResult& test) {
  if (test.id.starts_with("latency.") && test.id != "latency.hops") {
    test.series = {series_of("1 chain", 4 * kKiB, 2048 * kMiB, latency)};
  } else if (test.id.starts_with("bandwidth.")) {
    test.series = {series_of("own", 4 * kKiB, kMiB, bandwidth),
                   series_of("shared", 4 * kKiB, 2048 * kMiB, bandwidth)};
  } else if (test.id == "stride.jittered") {
    test.series = strides();
  } else if (test.id.starts_with("icache.")) {
    test.series = {series_of("1 wave", kKiB, 512 * kKiB,
                             [](double bytes) { return bytes <= 32 * kKiB ? 2 : 0.7; })};
  } else if (test.id == "local.allocation") {
    test.series = {series_of("census", kKiB, 64 * kKiB, [](double bytes) {
      return 20 * std::min(32.0, std::floor(128 * kKiB / (std::ceil(bytes / kKiB) * kKiB)));
    })};
  }
}

void check_distinct(const TestResult& test) {
  CAPTURE(test.id);
  std::set<std::string> names;
  for (const BenchSeries& series : test.series) {
    CHECK_MESSAGE(names.insert(series.name).second, series.name);
  }
  for (const analysis::DerivedValue& value : test.derived) {
    CHECK_MESSAGE(names.insert(value.what).second, value.what);
  }
}

}  // namespace

TEST_CASE("every published figure has a name and a unit that runs have, each once in a test") {
  test::FakeRunner runner;
  offer_all(runner);
  Sensors sensors;
  TestContext context{
      .runner = runner, .observer = &sensors, .options = runner.options(), .quick = true};
  analysis::BenchRun run;
  for (const BenchTest& each : bench_tests()) {
    for (TestResult& result : each.run(context)) {
      check_distinct(result);
      give_curves(result);
      run.tests.push_back(std::move(result));
    }
  }
  for (TestResult& result : run_roofline(context, {})) {
    check_distinct(result);
    run.tests.push_back(std::move(result));
  }
  if (const auto device = test::bench_device_or_skip()) {
    TestContext real{.runner = *device, .options = test::brief_options(), .quick = true};
    for (TestResult& result : run_host(real)) {
      check_distinct(result);
      run.tests.push_back(std::move(result));
    }
  }
  const bool has_host = run.tests.back().id.starts_with("host.");
  for (TestResult& test : run.tests) {
    // What a device that is none made of the proofs is of no interest here.
    test.status = TestStatus::kOk;
    for (BenchSeries& series : test.series) {
      for (BenchPoint& point : series.points) {
        point.status = TestStatus::kOk;
      }
    }
  }
  analysis::infer(run);
  run.tests.front().derived.push_back(
      {"cores", 12, std::nullopt, std::nullopt, "", "", "the command adds it"});
  for (const analysis::BesidePublished& row :
       beside_published(run, analysis::published_figures())) {
    if (row.published.what.starts_with("host.") && !has_host) {
      MESSAGE("no Vulkan device: " << row.published.what << " is not looked for");
      continue;
    }
    CHECK_MESSAGE(row.why.empty(), row.published.gpu, " ", row.published.what, ": ", row.why);
  }
}
