// Reads of the simulated GPU that do not go through the vector cache, and local memory.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "daemon/simulated_gpu/stimulus.h"
#include "tests/daemon/simulated_gpu/model_figures.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;
using doctest::Approx;

constexpr double kSteps = 20'000;
constexpr double kKib = 1024;
constexpr double kGhz = 2.6;

const GpuDescription& gpu() {
  return simulated_models().front().gpu;
}

double ns_of(const std::string& text) {
  CAPTURE(text);
  const auto scenario = make_built_in_scenario(kBenchScenario, simulated_models().front());
  REQUIRE(scenario.has_value());
  const auto run = StimulusTimes(*scenario).run(text);
  REQUIRE_MESSAGE(run.has_value(), error_text(run));
  return run->gpu_ns;
}

std::string chase(std::string_view path, double footprint_bytes, double stride_bytes = 0) {
  return fmt::format(R"({{"threads": 1, "group_threads": 1, "steps": {}, "access": "chase",
                          "path": "{}", "read_bytes": {}, "footprint_bytes": {},
                          "stride_bytes": {}}})",
                     kSteps, path, 8 * kSteps, footprint_bytes, stride_bytes);
}

double hop_ns(std::string_view path, double footprint_bytes, double stride_bytes = 0) {
  return ns_of(chase(path, footprint_bytes, stride_bytes)) / kSteps;
}

SteadySignal signal_of(const std::string& text) {
  auto played = parse_stimulus(text, gpu());
  REQUIRE_MESSAGE(played.has_value(), error_text(played));
  return build(gpu(), played->workload, 54, 1);
}

TEST_CASE("a scalar chase has a cache and a latency of its own, and is unseen by TA and TCP") {
  CHECK(hop_ns("scalar", 8 * kKib) == Approx(50 / kGhz).epsilon(0.02));
  CHECK(hop_ns("scalar", 24 * kKib) > 1.1 * hop_ns("scalar", 8 * kKib));
  const double far = 64 * kKib * kKib;
  const SteadySignal scalar = signal_of(chase("scalar", far));
  CHECK(busy_percent(scalar, Unit::kTa) == 0);
  CHECK(busy_percent(scalar, Unit::kTcp) == 0);
  CHECK(busy_percent(scalar, Unit::kEa) > 50);
  CHECK(busy_percent(signal_of(chase("vector", far)), Unit::kTa) > 90);
}

TEST_CASE("constants, texel buffers and images are read as vectors, a sampler adds its filter") {
  const double vector_ns = hop_ns("vector", 8 * kKib);
  for (const char* path : {"constant", "texel", "image"}) {
    CAPTURE(path);
    CHECK(hop_ns(path, 8 * kKib) == Approx(vector_ns).epsilon(0.001));
  }
  CHECK(hop_ns("sampled", 8 * kKib) == Approx(vector_ns + 30 / kGhz).epsilon(0.01));
}

TEST_CASE("a chase in local memory takes its latency, whatever its size, and shows in no cache") {
  CHECK(hop_ns("local", 8 * kKib) == Approx(60 / kGhz).epsilon(0.03));
  CHECK(hop_ns("local", 48 * kKib) == hop_ns("local", 8 * kKib));
  const SteadySignal local = signal_of(chase("local", 8 * kKib));
  CHECK(busy_percent(local, Unit::kTa) == 0);
  CHECK(busy_percent(local, Unit::kGl2) == 0);
  CHECK(busy_percent(local, Unit::kSpi) > 70);
}

TEST_CASE("nodes that lie far apart fill fewer lines, and take a page each") {
  // 512 nodes: a quarter of L0's 256 lines twice over, 64 KiB of lines, whatever the stride.
  const double lines_ns = hop_ns("vector", 64 * kKib);
  CHECK(hop_ns("vector", 512 * kKib, kKib) == Approx(lines_ns).epsilon(0.02));
  const double pages_ns = hop_ns("vector", 512 * 65536.0, 65536);
  // 32 entries of 512 are in the first level of translation, which L0's lines need as well.
  CHECK(pages_ns - lines_ns == Approx(gpu().tlb2_ns * (1 - 32.0 / 512)).epsilon(0.03));
}

TEST_CASE("what L0 and the scalar cache hold is translated first") {
  // 64 nodes are 8 KiB of lines.
  const double waits_ns = gpu().tlb2_ns * (1 - 32.0 / 64);
  for (const char* path : {"vector", "scalar"}) {
    CAPTURE(path);
    CHECK(hop_ns(path, 64 * 65536.0, 65536) - hop_ns(path, 8 * kKib) ==
          Approx(waits_ns).epsilon(0.05));
    CHECK(hop_ns(path, 32 * 65536.0, 65536) == Approx(hop_ns(path, 4 * kKib)).epsilon(0.01));
  }
}

TEST_CASE("what is written over and over within GL2's size does not reach DRAM") {
  const auto write = [](double footprint_kib) {
    return fmt::format(R"({{"threads": 4194304, "access": "resident", "written_bytes": 64,
                            "footprint_bytes": {}}})",
                       footprint_kib * kKib);
  };
  const auto gb_per_s = [&](double kib) { return 4194304 * 64.0 / ns_of(write(kib)); };
  const double dram_gbps = gpu().dram_peak_gbps * gpu().dram_pure_efficiency;
  CHECK(gb_per_s(gpu().gl2_kib / 2) > 5 * dram_gbps);
  CHECK(gb_per_s(2 * gpu().gl2_kib) == Approx(2 * dram_gbps).epsilon(0.05));
  CHECK(gb_per_s(64 * gpu().gl2_kib) == Approx(dram_gbps).epsilon(0.05));
  const SteadySignal held = signal_of(write(gpu().gl2_kib / 2));
  CHECK(busy_percent(held, Unit::kEa) == 0);
  CHECK(busy_percent(held, Unit::kGl2) > 40);  // short launches, with the host's pauses
  CHECK(busy_percent(signal_of(write(64 * gpu().gl2_kib)), Unit::kEa) > 80);
}

TEST_CASE("local memory gives 128 bytes a clock and CU, and less to lanes that share a bank") {
  const auto gb_per_s = [](double sharers) {
    constexpr double kThreads = 393216;
    constexpr double kBytes = 65536;
    return kThreads * kBytes /
           ns_of(fmt::format(R"({{"threads": {}, "steps": 64, "local_bytes": {}, "sharers": {}}})",
                             kThreads, kBytes, sharers));
  };
  const double free = gb_per_s(1);
  CHECK(free == Approx(128 * 12 * kGhz).epsilon(0.03));
  CHECK(gb_per_s(4) == Approx(free / 4).epsilon(0.03));
  CHECK(gb_per_s(1000) == Approx(free / 64).epsilon(0.03));
}

TEST_CASE("local atomics run at 16 a clock and CU while each lane has a word of its own") {
  const auto per_ns = [](double sharers) {
    constexpr double kThreads = 393216;
    constexpr double kOperations = 1024;
    return kThreads * kOperations /
           ns_of(fmt::format(R"({{"threads": {}, "steps": 64, "access": "atomic", "path": "local",
                                  "read_bytes": {}, "footprint_bytes": 4096, "sharers": {}}})",
                             kThreads, 4 * kOperations, sharers));
  };
  CHECK(per_ns(1) == Approx(16 * 12 * kGhz).epsilon(0.03));
  CHECK(per_ns(64) < 0.05 * per_ns(1));
}

TEST_CASE("groups that take much local memory are fewer at a time") {
  const auto ns = [](double bytes) {
    return ns_of(fmt::format(R"({{"threads": 49152, "group_threads": 64, "steps": 64,
                                  "access": "chase", "path": "scalar",
                                  "footprint_bytes": 16777216, "group_local_bytes": {}}})",
                             bytes));
  };
  // 64 KiB a CU in steps of 1 KiB: 768 groups on 12 CUs, then 32 and 31 KiB.
  const double two_a_cu = ns(32 * kKib);
  CHECK(ns(31.5 * kKib) == Approx(two_a_cu).epsilon(0.05));
  CHECK(ns(33 * kKib) == Approx(2 * two_a_cu).epsilon(0.1));
  CHECK(ns(1) < 0.2 * two_a_cu);
}

TEST_CASE("kinds of arithmetic that have no published rate are slower than fp32") {
  const auto ns = [](std::string_view kind) {
    return ns_of(
        fmt::format(R"({{"threads": 1048576, "flops": 65536, "arithmetic": "{}"}})", kind));
  };
  const double fp32 = ns("fp32");
  CHECK(fp32 / ns("fp16") == Approx(0.4 / 0.588).epsilon(0.03));
  CHECK(fp32 / ns("int16_packed") == Approx(0.773 / 0.588).epsilon(0.03));
  for (const char* kind : {"fp32_special", "int24", "int32_add", "int64"}) {
    CAPTURE(kind);
    CHECK(ns(kind) > 2 * fp32);
  }
}

}  // namespace
}  // namespace gputrace::test
