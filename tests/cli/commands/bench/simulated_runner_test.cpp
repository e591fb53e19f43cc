#include "cli/commands/bench/simulated_runner.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "cli/commands/bench/stimulus_json.h"
#include "daemon/simulated_gpu/simulation.h"
#include "daemon/simulated_gpu/stimulus.h"
#include "kernels/bench/measurement.h"
#include "tests/support/error_text.h"
#include "tests/support/fake_clock.h"

namespace gputrace::test {
namespace {

using bench::Access;
using bench::Arithmetic;
using bench::Launch;
using bench::Stimulus;
using doctest::Approx;

constexpr double kThreads = 8388608;

/// Reads and writes 16 bytes a thread, `fma` vec4 multiply-adds in four chains.
bench::KernelCase sweep_case(double fma) {
  bench::KernelCase kernel;
  kernel.id = "sweep";
  kernel.flops_once = 32 * fma;
  kernel.buffers = {{.binding = 0, .bytes = 128U << 20U, .fill = {}}};
  kernel.stimulus = [fma](const Launch& launch) {
    Stimulus stimulus;
    stimulus.kernel = "sweep";
    stimulus.threads = kThreads * launch.repeats;
    stimulus.launches = launch.repeats;
    stimulus.group_threads = 256;
    stimulus.flops = 32 * fma;
    stimulus.access = Access::kStream;
    stimulus.read_bytes = 16;
    stimulus.written_bytes = 16;
    return stimulus;
  };
  return kernel;
}

std::unique_ptr<bench::Runner> open_runner(FakeClock& clock) {
  auto runner = commands::open_simulated_runner("sim:780m", &clock);
  REQUIRE_MESSAGE(runner.has_value(), error_text(runner));
  return std::move(*runner);
}

std::unique_ptr<bench::PreparedKernel> prepare(bench::Runner& runner,
                                               const bench::KernelCase& kernel) {
  auto prepared = runner.prepare(kernel);
  REQUIRE_MESSAGE(prepared.has_value(), error_text(prepared));
  return std::move(*prepared);
}

TEST_CASE("every member and every kind of a description is one that the simulated GPU reads") {
  const auto& model = simulated_gpu::simulated_models().front();
  for (const Access access :
       {Access::kNone, Access::kStream, Access::kResident, Access::kRandom, Access::kChase,
        Access::kTexture, Access::kRandomTexture, Access::kAtomic}) {
    for (const Arithmetic arithmetic :
         {Arithmetic::kFp32, Arithmetic::kFp16Packed, Arithmetic::kFp64, Arithmetic::kInt32,
          Arithmetic::kInt8Dot, Arithmetic::kMatrix}) {
      Stimulus stimulus;
      stimulus.kernel = "k \"\xff\n";
      stimulus.threads = 4096;
      stimulus.launches = 4;
      stimulus.group_threads = 128;
      stimulus.waves_per_simd = 8;
      stimulus.max_groups = 3;
      stimulus.steps = 5;
      stimulus.arithmetic = arithmetic;
      stimulus.flops = 1.5;
      stimulus.access = access;
      stimulus.read_bytes = 80;
      stimulus.footprint_bytes = 4096;
      stimulus.code_bytes = 65536;
      const std::string text = commands::stimulus_json(stimulus);
      CAPTURE(text);
      CHECK(text.find('\n') == std::string::npos);
      const auto played = simulated_gpu::parse_stimulus(text, model.gpu);
      REQUIRE_MESSAGE(played.has_value(), error_text(played));
      const simulated_gpu::Pass& pass = played->workload.passes.front();
      CHECK(played->launches == 4);
      CHECK(pass.threads == 1024);
      CHECK(pass.group_threads == 128);
      CHECK(pass.waves_per_simd == 8);
      CHECK(pass.max_groups == 3);
      CHECK(pass.steps == 5);
      CHECK(pass.flops == 1.5);
      CHECK(pass.code_kib == 64);
      CHECK((pass.read.lines > 0) == (access != Access::kNone));
    }
  }
}

TEST_CASE("pixels, texture fetches and what is written arrive too") {
  const auto& model = simulated_gpu::simulated_models().front();
  Stimulus stimulus;
  stimulus.pixels = true;
  stimulus.threads = 4096.0 * 4096 * 2;
  stimulus.overdraw = 2;
  stimulus.written_bytes = 8;
  stimulus.access = Access::kRandomTexture;
  stimulus.fetches = 4;
  stimulus.bilinear = true;
  stimulus.read_bytes = 16;
  stimulus.footprint_bytes = 1e6;
  const auto played = simulated_gpu::parse_stimulus(commands::stimulus_json(stimulus), model.gpu);
  REQUIRE_MESSAGE(played.has_value(), error_text(played));
  const simulated_gpu::Pass& pass = played->workload.passes.front();
  CHECK(pass.pixel);
  CHECK(pass.triangles == 2);
  CHECK(pass.colour_write_bytes == 8);
  CHECK(pass.read.lines == Approx(4 * 1.125 * 1.25));
}

TEST_CASE("a description that is no number is refused, not played as zero") {
  Stimulus stimulus;
  stimulus.threads = 1;
  stimulus.flops = std::nan("");
  const auto played = simulated_gpu::parse_stimulus(commands::stimulus_json(stimulus),
                                                    simulated_gpu::simulated_models().front().gpu);
  CHECK_FALSE(played.has_value());
}

TEST_CASE("the simulated device says that it is one and what it offers") {
  FakeClock clock;
  const auto runner = open_runner(clock);
  CHECK(runner->simulated());
  CHECK(runner->facts().listed.name == "SIMULATED AMD Radeon 780M");
  CHECK(runner->facts().listed.driver == "simulated");
  CHECK_FALSE(runner->facts().is_cpu);
  CHECK(runner->facts().subgroup_sizes == std::vector<std::uint32_t>{32, 64});
  CHECK(runner->facts().timestamp_period_ns == 10);
  CHECK(runner->reopen().has_value());
}

TEST_CASE("a run takes the model's time on the clock, with a small scatter from a fixed seed") {
  FakeClock clock;
  const auto runner = open_runner(clock);
  const auto kernel = prepare(*runner, sweep_case(2));
  simulated_gpu::StimulusTimes times(simulated_gpu::choose_scenario("sim:780m").value().scenario);
  const Launch launch{.groups = 1, .trips = 1, .repeats = 5};
  const auto expected = times.run(commands::stimulus_json(kernel->kernel().stimulus(launch)));
  REQUIRE(expected.has_value());
  constexpr int kRuns = 400;
  std::vector<double> ns;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kRuns; ++i) {
    const std::int64_t begin_ns = clock.now_ns();
    const auto time = kernel->run(launch);
    REQUIRE_MESSAGE(time.has_value(), error_text(time));
    CHECK(static_cast<double>(clock.now_ns() - begin_ns) == Approx(time->wall_ns).epsilon(1e-6));
    REQUIRE(time->gpu_ns.has_value());
    CHECK(static_cast<double>(time->ticks.value_or(0)) * 10 == *time->gpu_ns);
    CHECK(time->wall_ns == Approx(*time->gpu_ns + 150e3));
    ns.push_back(*time->gpu_ns);
    const double ratio = *time->gpu_ns / expected->gpu_ns;
    sum += ratio;
    squares += (ratio - 1) * (ratio - 1);
  }
  CHECK(sum / kRuns == Approx(1).epsilon(0.001));
  CHECK(std::sqrt(squares / kRuns) == Approx(commands::kSimulatedScatter).epsilon(0.15));
  const auto same = open_runner(clock);
  const auto again = prepare(*same, sweep_case(2));
  CHECK(again->run(launch).value().gpu_ns == ns[0]);
  CHECK(again->run(launch).value().gpu_ns == ns[1]);
}

TEST_CASE("measured like any device, it has the bandwidth of the model") {
  FakeClock clock;
  const auto runner = open_runner(clock);
  const auto kernel = prepare(*runner, sweep_case(1));
  const bench::PlannedPoint point{
      .kernel = kernel.get(), .launch = {}, .scale_trips = false, .label = "sweep"};
  bench::MeasurementOptions options;
  options.clock = &clock;
  const std::int64_t begin_ns = clock.now_ns();
  const auto measured = bench::measure(std::span(&point, 1), options, nullptr);
  REQUIRE(measured.size() == 1);
  REQUIRE(measured.front().timing.has_value());
  const bench::Timing& timing = measured.front().timing.value();
  CHECK(kThreads * 32 * measured.front().launch.repeats / timing.median_ns ==
        Approx(73.2).epsilon(0.01));
  CHECK(timing.from_timestamps);
  CHECK_FALSE(timing.drifts);
  CHECK(timing.p95_ns > timing.p5_ns);
  // 20 runs of 20 ms, and what comes before them.
  CHECK(clock.now_ns() - begin_ns < 3 * kNsPerSecond / 2);
}

TEST_CASE("no code is shown, no result is checked") {
  FakeClock clock;
  const auto runner = open_runner(clock);
  const auto kernel = prepare(*runner, sweep_case(2));
  const auto executables = kernel->executables();
  REQUIRE_FALSE(executables.has_value());
  CHECK(executables.error().code == ErrorCode::kUnsupported);
  CHECK(kernel->check_result({}).has_value());
}

TEST_CASE("kernels that cannot be simulated are refused with the reason") {
  FakeClock clock;
  const auto runner = open_runner(clock);
  bench::KernelCase silent = sweep_case(2);
  silent.stimulus = nullptr;
  const auto refused = runner->prepare(silent);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kUnsupported);
  bench::KernelCase large = sweep_case(2);
  large.buffers.front().bytes = std::uint64_t{5} << 30U;
  const auto full = runner->prepare(large);
  REQUIRE_FALSE(full.has_value());
  CHECK(full.error().code == ErrorCode::kNoSpace);
  bench::KernelCase empty = sweep_case(2);
  empty.stimulus = [](const Launch&) { return Stimulus{}; };
  const auto kernel = prepare(*runner, empty);
  const auto time = kernel->run({});
  REQUIRE_FALSE(time.has_value());
  CHECK(time.error().code == ErrorCode::kInvalidArgument);
  CHECK(time.error().message.find("cannot simulate the kernel sweep") != std::string::npos);
  CHECK_FALSE(commands::open_simulated_runner("sim:9000").has_value());
  CHECK_FALSE(commands::open_simulated_runner("0").has_value());
}

}  // namespace
}  // namespace gputrace::test
