#include "daemon/simulated_gpu/stimulus.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "daemon/simulated_gpu/kernels.h"
#include "tests/daemon/simulated_gpu/model_figures.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;
using doctest::Approx;

constexpr double kMib = 1024.0 * 1024;
constexpr double kSweepThreads = 8 * kMib;

const GpuDescription& gpu() {
  return simulated_models().front().gpu;
}

Scenario scenario_at(double power_limit_w) {
  auto scenario = make_built_in_scenario(kBenchScenario, simulated_models().front());
  REQUIRE(scenario.has_value());
  scenario->power_limit_w = power_limit_w;
  return *scenario;
}

StimulusRun run(const std::string& text, double power_limit_w = 54) {
  CAPTURE(text);
  StimulusTimes times(scenario_at(power_limit_w));
  const auto result = times.run(text);
  REQUIRE_MESSAGE(result.has_value(), error_text(result));
  return *result;
}

PlayedStimulus parse(const std::string& text) {
  CAPTURE(text);
  auto played = parse_stimulus(text, gpu());
  REQUIRE_MESSAGE(played.has_value(), error_text(played));
  REQUIRE(played->workload.passes.size() == 1);
  return std::move(*played);
}

std::string sweep_point(double fma, double code_bytes = 0) {
  return fmt::format(R"({{"threads": {}, "flops": {}, "access": "stream", "read_bytes": 16,
                          "written_bytes": 16, "code_bytes": {}}})",
                     kSweepThreads, 32 * fma, code_bytes);
}

std::string arithmetic(std::string_view kind) {
  return fmt::format(R"({{"threads": 1048576, "flops": 65536, "arithmetic": "{}"}})", kind);
}

std::string chase(double steps, double footprint_bytes) {
  return fmt::format(R"({{"threads": 1, "group_threads": 1, "steps": {}, "access": "chase",
                          "read_bytes": {}, "footprint_bytes": {}}})",
                     steps, 8 * steps, footprint_bytes);
}

std::string resident(double footprint_bytes) {
  return fmt::format(R"({{"threads": 393216, "steps": 256, "access": "resident",
                          "read_bytes": 16384, "footprint_bytes": {}}})",
                     footprint_bytes);
}

TEST_CASE("points of a sweep take the time of the model's own sweep, at any power limit") {
  constexpr std::pair<double, double> kPoints[] = {{54, 1}, {54, 16}, {54, 512}, {15, 512}};
  for (const auto& [limit_w, fma] : kPoints) {
    CAPTURE(limit_w);
    CAPTURE(fma);
    const Workload model = flop_sweep(fma);
    const OperatingPoint point = solve(gpu(), model, limit_w);
    const StimulusRun played = run(sweep_point(fma, model.passes.front().code_kib * 1024), limit_w);
    CHECK(kSweepThreads * 32 * fma / played.gpu_ns == Approx(gflops(point)).epsilon(0.01));
    CHECK(played.clock_ghz == Approx(point.clock_ghz).epsilon(0.01));
    CHECK(played.power_w == Approx(point.power_w).epsilon(0.01));
    CHECK(played.power_w <= limit_w);
  }
}

TEST_CASE("the ceilings are those of the model's constants, and so is the ridge") {
  const double gigaclocks = 12 * 2.6;  // a second, of all compute units
  const double peak = 1048576.0 * 65536 / run(arithmetic("fp32")).gpu_ns;
  CHECK(peak == Approx(256 * 0.588 * gigaclocks).epsilon(0.02));
  const double copied = kSweepThreads * 32 / run(sweep_point(0)).gpu_ns;
  CHECK(copied == Approx(89.6 * (0.93 - 0.452 / 4)).epsilon(0.01));
  CHECK(peak / copied == Approx(64).epsilon(0.03));
  const double read = kSweepThreads * 16 /
                      run(R"({"threads": 8388608, "access": "stream", "read_bytes": 16})").gpu_ns;
  CHECK(read == Approx(89.6 * 0.93).epsilon(0.01));
  const double written =
      kSweepThreads * 16 / run(R"({"threads": 8388608, "written_bytes": 16})").gpu_ns;
  CHECK(written == Approx(89.6 * 0.93).epsilon(0.01));
}

TEST_CASE("each kind of arithmetic has its rate") {
  const double fp32_ns = run(arithmetic("fp32")).gpu_ns;
  const std::pair<const char*, double> shares[] = {{"fp16_packed", 0.75},
                                                   {"fp64", 1.0 / 64},
                                                   {"int32", 0.1},
                                                   {"int8_dot", 1.6},
                                                   {"matrix", 1.8}};
  for (const auto& [kind, share] : shares) {
    CAPTURE(kind);
    CHECK(fp32_ns / run(arithmetic(kind)).gpu_ns == Approx(share / 0.588).epsilon(0.03));
  }
}

TEST_CASE("code past the instruction cache is slower, and hits the published rate at 54 W") {
  const double fits = run(sweep_point(512, 32 * 1024)).gpu_ns;
  const double does_not = run(sweep_point(512, 32 * 1024 + 8)).gpu_ns;
  CHECK(does_not / fits == Approx(256 * 0.588 / (6.4 / 8 * 128)).epsilon(0.02));
}

TEST_CASE("a chase takes the latency of the level that holds it") {
  constexpr double kSteps = 20'000;
  // L0 adds its latency on the way there and back; DRAM is behind all levels.
  const double l0 = run(chase(kSteps, 16 * 1024)).gpu_ns / kSteps;
  CHECK(l0 == Approx(73 / 2.6).epsilon(0.03));
  const double beyond_ns = run(chase(kSteps, 64 * kMib)).gpu_ns / kSteps;
  const OperatingPoint model = solve(gpu(), pointer_chase(gpu(), 1, 64), 54);
  CHECK(beyond_ns == Approx(model.gpu_ns / 4000).epsilon(0.01));
  CHECK(beyond_ns == Approx(464).epsilon(0.01));
  double before_ns = 0;
  for (const double kib : {32.0, 256.0, 1024.0, 16.0 * 1024, 256.0 * 1024}) {
    const double ns = run(chase(kSteps, kib * 1024)).gpu_ns / kSteps;
    CHECK(ns > before_ns);
    before_ns = ns;
  }
}

TEST_CASE("bandwidth of a resident footprint falls from L0's to DRAM's") {
  const auto gb_per_s = [](double footprint) {
    return 393216.0 * 16384 / run(resident(footprint)).gpu_ns;
  };
  CHECK(gb_per_s(16 * 1024) == Approx(64 * 12 * 2.6).epsilon(0.02));
  CHECK(gb_per_s(512 * 1024) < 0.9 * gb_per_s(16 * 1024));
  CHECK(gb_per_s(4 * kMib) < 0.3 * gb_per_s(512 * 1024));
  // A 1024th part is found in L2, L1 and L0 even of 2 GiB.
  CHECK(gb_per_s(2048 * kMib) == Approx(89.6 * 0.93).epsilon(0.01));
}

TEST_CASE("textures and fills run as the model's own") {
  const std::string random = R"({"pixels": true, "threads": 16588800, "overdraw": 8, "steps": 16,
      "flops": 960, "access": "random_texture", "fetches": 16, "bilinear": true, "read_bytes": 64,
      "written_bytes": 1, "footprint_bytes": 67108864})";
  CHECK(16588800 / run(random).gpu_ns ==
        Approx(gpixels(solve(gpu(), random_texture(gpu(), 4096, 16), 54))).epsilon(0.01));
  const std::string coherent = R"({"pixels": true, "threads": 265420800, "overdraw": 128,
      "steps": 4, "flops": 32, "access": "texture", "fetches": 4, "read_bytes": 16,
      "written_bytes": 1, "footprint_bytes": 16384})";
  CHECK(265420800 / run(coherent).gpu_ns ==
        Approx(gpixels(solve(gpu(), coherent_texture(64, 4), 54))).epsilon(0.01));
  const std::string fill = R"({"pixels": true, "threads": 265420800, "overdraw": 128,
      "written_bytes": 4, "flops": 256})";
  CHECK(265420800 / run(fill).gpu_ns ==
        Approx(gpixels(solve(gpu(), colour_fill(8, 4, 0.588), 54))).epsilon(0.01));
}

TEST_CASE("layers over a target that L2 holds cost no DRAM traffic, one layer does") {
  const auto share = [](int side, int layers) {
    return parse(fmt::format(R"({{"pixels": true, "threads": {}, "overdraw": {},
                                  "written_bytes": 4}})",
                             side * side * layers, layers))
        .workload.passes.front()
        .colour_dram_share;
  };
  CHECK(share(256, 64) == Approx(1.0 / 64));
  CHECK(share(256, 1) == 1);
  CHECK(share(2048, 64) == 1);
}

TEST_CASE("textures of other formats touch the lines that their texels fill") {
  const auto touched = [](double texel_bytes, bool bilinear) {
    return parse(fmt::format(R"({{"pixels": true, "threads": 1e6, "access": "random_texture",
                                  "fetches": 1, "read_bytes": {}, "bilinear": {},
                                  "footprint_bytes": 1e8}})",
                             texel_bytes, bilinear))
        .workload.passes.front()
        .read;
  };
  CHECK(touched(4, true).lines == Approx(1.125 * 1.25));    // 8x4 texels a line
  CHECK(touched(4, true).sectors == Approx(1.25 * 1.25));   // 4x4 texels a sector
  CHECK(touched(1, true).lines == Approx(1.0625 * 1.125));  // BC7: 16x8
  CHECK(touched(2, true).sectors == Approx(1.125 * 1.25));  // 8x4
  CHECK(touched(8, true).lines == Approx(1.25 * 1.25));     // RGBA16F: 4x4
  CHECK(touched(4, false).lines == 1);
  CHECK(touched(4, false).sectors == 1);
}

TEST_CASE("atomics go to L2 by lines, whoever holds them") {
  const auto per_ns = [](double footprint) {
    const StimulusRun played = run(fmt::format(R"({{"threads": 1048576, "steps": 16,
        "access": "atomic", "read_bytes": 64, "footprint_bytes": {}}})",
                                               footprint));
    return 1048576.0 * 16 / played.gpu_ns;
  };
  const VectorMemoryStep step =
      parse(R"({"threads": 65536, "access": "atomic", "read_bytes": 4, "footprint_bytes": 4})")
          .workload.passes.front()
          .read;
  CHECK(step.l0_miss == 1);
  CHECK(step.gl1_miss == 1);
  CHECK(step.gl2_miss == 0);
  const double one_place = per_ns(4);
  const double a_word_each = per_ns(4.0 * 1048576);
  const double a_line_each = per_ns(128.0 * 1048576);
  CHECK(one_place > a_word_each);
  CHECK(a_word_each > 2 * a_line_each);
}

TEST_CASE("a run of many launches takes that many times one launch, and one pause of the host") {
  const StimulusRun one = run(R"({"threads": 1e6, "access": "stream", "read_bytes": 16})");
  const StimulusRun many =
      run(R"({"threads": 5e7, "launches": 50, "access": "stream", "read_bytes": 16})");
  CHECK(many.gpu_ns == Approx(50 * one.gpu_ns).epsilon(0.005));
  CHECK(one.host_ns == Approx(150e3));
  CHECK(many.host_ns == Approx(150e3));
}

TEST_CASE("what is left out of a long launch is counted: time goes with threads and with steps") {
  const auto text = [](double threads, double steps) {
    return fmt::format(R"({{"threads": {}, "steps": {}, "access": "random", "read_bytes": {},
                            "footprint_bytes": 1e9}})",
                       threads, steps, 16 * steps);
  };
  const double ns = run(text(1 << 20, 16)).gpu_ns;
  for (const double factor : {1.1, 1.5, 7.0}) {
    CAPTURE(factor);
    CHECK(run(text(factor * (1 << 20), 16)).gpu_ns / ns == Approx(factor).epsilon(0.015));
  }
  CHECK(run(text(1 << 20, 160)).gpu_ns / ns == Approx(10).epsilon(0.015));
  const double short_ns = run(chase(1'000, 64 * kMib)).gpu_ns;
  CHECK(run(chase(1'000'000, 64 * kMib)).gpu_ns / short_ns == Approx(1000).epsilon(0.02));
}

TEST_CASE("limits on waves and groups in flight keep reads slow") {
  const auto gb_per_s = [](const std::string& limit) {
    const StimulusRun played = run(fmt::format(R"({{"threads": 262144, "steps": 16,
        "access": "stream", "read_bytes": 256{}}})",
                                               limit));
    return 262144.0 * 256 / played.gpu_ns;
  };
  const double unlimited = gb_per_s("");
  CHECK(gb_per_s(R"(, "max_groups": 1)") < 0.2 * unlimited);
  CHECK(gb_per_s(R"(, "max_groups": 1000)") == Approx(unlimited).epsilon(0.01));
  CHECK(gb_per_s(R"(, "group_threads": 64, "waves_per_simd": 1)") < 0.8 * unlimited);
}

TEST_CASE("a loop of writes is as fast as writes of a thread each") {
  const StimulusRun looped = run(R"({"threads": 65536, "steps": 128, "written_bytes": 2048})");
  CHECK(65536.0 * 2048 / looped.gpu_ns == Approx(89.6 * 0.93).epsilon(0.01));
  // A result at the end is no loop of writes.
  CHECK(parse(R"({"threads": 64, "steps": 128, "access": "stream", "read_bytes": 2048,
                  "written_bytes": 16})")
            .workload.passes.front()
            .threads == 256);
}

TEST_CASE("more bytes than a thread has registers for are more steps") {
  const Pass pass = parse(R"({"threads": 256, "access": "stream", "read_bytes": 960000})")
                        .workload.passes.front();
  CHECK(pass.steps == 938);
}

TEST_CASE("the same text takes the same time, another seed or GPU another") {
  Scenario scenario = scenario_at(54);
  const std::string text = sweep_point(256);
  StimulusTimes times(scenario);
  const auto first = times.run(text);
  const auto again = times.run(text);
  REQUIRE(first.has_value());
  REQUIRE(again.has_value());
  CHECK(first->gpu_ns == again->gpu_ns);
  CHECK(run(text).gpu_ns == first->gpu_ns);
  scenario.seed = 2;
  const auto seeded = StimulusTimes(scenario).run(text);
  REQUIRE(seeded.has_value());
  CHECK(seeded->gpu_ns != first->gpu_ns);
  CHECK(seeded->gpu_ns == Approx(first->gpu_ns).epsilon(0.005));
  scenario.gpu.compute_units = 6;
  const auto halved = StimulusTimes(scenario).run(text);
  REQUIRE(halved.has_value());
  CHECK(halved->gpu_ns == Approx(2 * first->gpu_ns).epsilon(0.02));
}

void check_refused(const std::string& text, std::string_view part) {
  CAPTURE(text);
  const auto played = parse_stimulus(text, gpu());
  REQUIRE_FALSE(played.has_value());
  CHECK(played.error().code == ErrorCode::kInvalidArgument);
  CAPTURE(played.error().message);
  CHECK(played.error().message.starts_with("what a kernel does: "));
  CHECK(played.error().message.find(part) != std::string::npos);
}

TEST_CASE("what is no description of a kernel is refused, and the member named") {
  check_refused("", "not JSON");
  check_refused(R"({"threads": )", "not JSON");
  check_refused("[]", "must be an object");
  check_refused("{}", "threads must be a number");
  check_refused(R"({"threads": null})", "threads must be a number from 1");
  check_refused(R"({"threads": 1e13})", "threads must be a number from 1");
  check_refused(R"({"threads": 0})", "threads");
  check_refused(R"({"threads": 1, "launches": 1.5})", "launches must be a whole number");
  check_refused(R"({"threads": 1, "group_threads": 4096})", "group_threads");
  check_refused(R"({"threads": 1, "flops": -1})", "flops");
  check_refused(R"({"threads": 1, "flops": "many"})", "flops");
  check_refused(R"({"threads": 1, "pixels": 1})", "pixels must be true or false");
  check_refused(R"({"threads": 1, "access": "teleport"})", "access must be one of none, stream");
  check_refused(R"({"threads": 1, "arithmetic": "bf16"})", "arithmetic must be one of fp32");
  check_refused(R"({"threads": 1, "access": "chase"})", "footprint_bytes must be at least 1");
  check_refused(R"({"threads": 1, "colour": "red"})", "colour is not known here");
  check_refused(fmt::format(R"({{"threads": 1, "kernel": "{}"}})", std::string(201, 'k')),
                "kernel must be a text of at most 200 bytes");
  check_refused(std::string(5000, ' '), "longer than 4096 bytes");
}

TEST_CASE("extremes of all members end in a time or an error, soon") {
  const std::vector<std::string> texts = {
      R"({"threads": 1e12, "launches": 1000000, "group_threads": 1024, "steps": 1e9,
          "access": "random", "read_bytes": 1e9, "footprint_bytes": 1e13})",
      R"({"threads": 1e12, "group_threads": 1, "steps": 1e9, "access": "chase",
          "footprint_bytes": 1, "max_groups": 1000000, "waves_per_simd": 64})",
      R"({"threads": 1e12, "pixels": true, "steps": 1e9, "access": "random_texture",
          "fetches": 1e5, "read_bytes": 1e9, "written_bytes": 1e9, "footprint_bytes": 1e13,
          "overdraw": 1e6, "bilinear": true})",
      R"({"threads": 1e12, "pixels": true, "written_bytes": 1e9, "read_bytes": 1e9})",
      R"({"threads": 1e12, "flops": 1e12, "arithmetic": "fp64", "code_bytes": 1e9})",
      R"({"threads": 1e12, "steps": 1e9, "written_bytes": 1e9})",
      R"({"threads": 1e12, "steps": 1e9, "access": "atomic", "read_bytes": 1e9,
          "footprint_bytes": 1})",
      R"({"threads": 1, "steps": 0, "overdraw": 0, "access": "texture", "footprint_bytes": 1})",
  };
  for (const std::string& text : texts) {
    CAPTURE(text);
    StimulusTimes times(scenario_at(54));
    const auto result = times.run(text);
    if (result) {
      CHECK(result->gpu_ns > 0);
    } else {
      CHECK(result.error().code == ErrorCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace gputrace::test
