#include "kernels/bench/isa_check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/kernels/bench/isa/isa_fixture.h"

namespace gputrace::bench {
namespace {

using analysis::Proof;
using test::executable_with;
using test::isa_fixture;
using test::replaced;

KernelCase kernel_with(std::vector<OperationCount> formula) {
  KernelCase kernel;
  kernel.id = "peak.fp32";
  kernel.formula = std::move(formula);
  return kernel;
}

/// Eight FMAs a trip; a load before, sums and a store behind.
const std::vector<OperationCount> kPeak = {{Operation::kFmaF32, 8, 0},
                                           {Operation::kLoad16, 0, 1},
                                           {Operation::kStore4, 0, 1},
                                           {Operation::kAddF32, 0, 3}};
const std::vector<vulkan::Statistic> kPeakStatistics = {
    {"VGPRs", 8}, {"Spilled VGPRs", 0}, {"Code size", 148}, {"Subgroups per SIMD", 32}};

std::vector<vulkan::Executable> peak() {
  return executable_with(isa_fixture("peak_gfx1103.txt"), kPeakStatistics);
}

TEST_CASE("a formula that agrees with the code passes, with the driver's numbers beside it") {
  KernelCase kernel = kernel_with(kPeak);
  kernel.flops_per_trip = 16;
  kernel.read_bytes_once = 16;
  kernel.min_waves_per_simd = 12;
  kernel.min_arithmetic_share = 0.95;
  const IsaCheck check = check_isa(kernel, peak());
  CAPTURE(check.why);
  CHECK(check.proof == Proof::kPassed);
  CHECK(check.why.empty());
  CHECK(check.code_bytes == 148);
  CHECK(check.vgprs == 8);
  CHECK(check.waves_per_simd == 16);  // 32 units of 32 lanes
  CHECK(check.arithmetic_share == 1.0);
  CHECK_FALSE(check.dual_issued_share.has_value());
  REQUIRE(check.counts.size() == 4);
  CHECK(check.counts[0].kernel == "peak.fp32");
  CHECK(check.counts[0].operation == "FMA fp32");
  CHECK(check.counts[0].formula == 8);
  CHECK(check.counts[0].isa == 8);
  CHECK(check.counts[1].operation == "load 16 B once");
}

TEST_CASE("a formula that is off by one FMA fails and names both numbers") {
  for (const double wrong : {7.0, 9.0, 32.0}) {
    const IsaCheck check = check_isa(kernel_with({{Operation::kFmaF32, wrong, 0}}), peak());
    CHECK(check.proof == Proof::kFailed);
    CHECK(check.why.find("peak.fp32: formula " + std::to_string(static_cast<int>(wrong)) +
                         " FMA fp32 a trip, code has 8") == 0);
  }
}

TEST_CASE("claimed FLOPs and bytes must be what the formula amounts to") {
  KernelCase kernel = kernel_with(kPeak);
  kernel.flops_per_trip = 64;  // as if a vec4 were four times as much
  CHECK(check_isa(kernel, peak()).why ==
        "peak.fp32: 64 FLOPs a trip are claimed, the formula's operations make 16");
  kernel.flops_per_trip = 16;
  kernel.read_bytes_once = 32;
  CHECK(check_isa(kernel, peak()).why ==
        "peak.fp32: 32 bytes read once are claimed, the formula's operations make 16");
  kernel.read_bytes_once = 0;
  kernel.written_bytes_per_trip = 4;
  CHECK(check_isa(kernel, peak()).why ==
        "peak.fp32: 4 bytes written a trip are claimed, the formula's operations make 0");
}

TEST_CASE("what a formula names and counts outside of the loop is compared too") {
  const auto with_once = [](double loads) {
    return kernel_with({{Operation::kFmaF32, 8, 0}, {Operation::kLoad16, 0, loads}});
  };
  CHECK(check_isa(with_once(1), peak()).proof == Proof::kPassed);
  CHECK(check_isa(with_once(2), peak()).why == "peak.fp32: formula 2 load 16 B once, code has 1");
}

TEST_CASE("without a formula, what must be in a loop is looked for in all of them") {
  KernelCase kernel = kernel_with({});
  CHECK(check_isa(kernel, peak()).proof == Proof::kNotDone);
  kernel.in_loops = {Operation::kFmaF32};
  CHECK(check_isa(kernel, peak()).proof == Proof::kPassed);
  kernel.in_loops = {Operation::kFmaF32, Operation::kLoad16};  // which lies before the loop
  CHECK(check_isa(kernel, peak()).why == "peak.fp32: no loop of the code has a load 16 B");
}

TEST_CASE("repeated instructions count; without their line the code is not believed") {
  const KernelCase kernel = kernel_with({{Operation::kAddF32, 256, 0}});
  const std::string text = isa_fixture("repeats.txt");
  CHECK(check_isa(kernel, executable_with(text, {{"Code size", 1096}})).proof == Proof::kPassed);
  const auto one_repeat =
      check_isa(kernel_with({{Operation::kAddF32, 1, 0}}), executable_with(text, {}));
  CHECK(one_repeat.why.find("formula 1 add fp32 a trip, code has 256") != std::string::npos);
  // The branches' encodings, and the driver's own size of the code, tell that lines are missing.
  const std::string lost = replaced(text, "\t(then repeated 255 times)\n", "");
  CHECK(check_isa(kernel, executable_with(lost, {})).proof == Proof::kNotDone);
  std::string straight = lost.substr(0, lost.find("BB1:")) + lost.substr(lost.find("BB5:"));
  CHECK(check_isa(kernel, executable_with(straight, {{"Code size", 1096}})).why ==
        "the listing has 56 bytes of code, the driver says 1096");
}

TEST_CASE("a loop closed through a register is counted") {
  KernelCase kernel = kernel_with({{Operation::kAddF32, 65536, 0}});
  const auto long_code = executable_with(isa_fixture("long_jump.txt"), {{"Code size", 262260}});
  const IsaCheck check = check_isa(kernel, long_code);
  CHECK(check.why == "peak.fp32: 262260 bytes of code, at most 8192 are wanted");
  kernel.max_code_bytes.reset();
  CHECK(check_isa(kernel, long_code).proof == Proof::kPassed);
}

TEST_CASE("GCN's spellings and waves") {
  KernelCase kernel = kernel_with(kPeak);
  kernel.min_waves_per_simd = 12;  // is of RDNA
  const IsaCheck check =
      check_isa(kernel, executable_with(isa_fixture("peak_vega10.txt"),
                                        {{"Code size", 140}, {"Subgroups per SIMD", 10}}));
  CAPTURE(check.why);
  CHECK(check.proof == Proof::kPassed);
  CHECK(check.waves_per_simd == 10);
}

TEST_CASE("waves are of the kernel's subgroups and never more than a SIMD has slots") {
  const KernelCase kernel = kernel_with(kPeak);
  const auto waves = [&](double units, std::uint32_t subgroup) {
    return check_isa(kernel, executable_with(isa_fixture("peak_navi21.txt"),
                                             {{"Subgroups per SIMD", units}}, subgroup))
        .waves_per_simd;
  };
  CHECK(waves(32, 32) == 16);
  CHECK(waves(12, 32) == 12);
  CHECK(waves(32, 64) == 16);
  CHECK(waves(18, 64) == 9);
  CHECK(waves(40, 64) == 20);  // RDNA 1
  CHECK(waves(40, 32) == 20);
}

TEST_CASE("limits that a kernel sets are checked") {
  KernelCase kernel = kernel_with(kPeak);
  kernel.max_code_bytes = 128;
  kernel.min_waves_per_simd = 17;
  CHECK(check_isa(kernel, peak()).why ==
        "peak.fp32: 148 bytes of code, at most 128 are wanted; "
        "waves a SIMD: 16, at least 17 are wanted");
  const auto spilled = executable_with(isa_fixture("peak_gfx1103.txt"), {{"Spilled VGPRs", 3}});
  CHECK(check_isa(kernel_with(kPeak), spilled).why == "peak.fp32: registers are spilled to memory");
}

TEST_CASE("dual-issued halves count each, and their share is held against the kernel's wish") {
  KernelCase kernel = kernel_with({{Operation::kFmaF32, 8, 0}});
  kernel.min_arithmetic_share = 0.8;
  const std::string text = isa_fixture("pairs_mesa25.txt");
  const std::vector<vulkan::Statistic> statistics = {{"Code size", 172}, {"VOPD", 5}};
  const IsaCheck check = check_isa(kernel, executable_with(text, statistics, 32));
  CAPTURE(check.why);
  CHECK(check.proof == Proof::kPassed);
  REQUIRE(check.dual_issued_share.has_value());
  CHECK(*check.dual_issued_share == doctest::Approx(7.0 / 8));
  CHECK(*check.arithmetic_share == doctest::Approx(8.0 / 9));

  kernel.min_dual_issued_share = 0.9;
  CHECK(check_isa(kernel, executable_with(text, statistics, 32)).why ==
        "peak.fp32: share of dual-issued FMAs: 0.875, at least 0.9 are wanted");
  // A driver that could pair, and did not.
  const auto unpaired = executable_with(isa_fixture("peak_gfx1103.txt"), {{"VOPD", 0}}, 32);
  CHECK(check_isa(kernel, unpaired).dual_issued_share == 0.0);
  CHECK(check_isa(kernel, unpaired).proof == Proof::kFailed);
  // One that cannot, or wave64: nothing to hold it against.
  kernel.min_arithmetic_share.reset();
  CHECK(check_isa(kernel, peak()).proof == Proof::kPassed);
  const auto rdna2 = executable_with(isa_fixture("peak_navi21.txt"), {{"VOPD", 0}}, 32);
  CHECK(check_isa(kernel, rdna2).proof == Proof::kPassed);
}

TEST_CASE("operations in a loop around the formula's are a mismatch") {
  KernelCase kernel = kernel_with({{Operation::kFmaF32, 4, 0}, {Operation::kLoad16, 0, 1}});
  const auto nested = executable_with(isa_fixture("nested.txt"), {});
  CHECK(check_isa(kernel, nested).why ==
        "peak.fp32: formula 1 load 16 B once, code has 0; code has 1 load 16 B in another loop "
        "(BB1), whose trips are not known");
  CHECK(check_isa(kernel_with({{Operation::kFmaF32, 4, 0}}), nested).proof == Proof::kPassed);
}

TEST_CASE("one atomic for a whole wave is no atomic of each thread") {
  const auto folded = executable_with(isa_fixture("uniform_atomic.txt"), {});
  CHECK(check_isa(kernel_with({{Operation::kAtomic, 2, 0}}), folded).why ==
        "peak.fp32: 2 of 2 atomic a trip are not run by every thread");
}

TEST_CASE("transfers in the loop that the formula does not name are a mismatch") {
  const auto local = executable_with(isa_fixture("local_memory_vega10.txt"), {});
  CHECK(check_isa(kernel_with({{Operation::kSharedLoad, 2, 0}}), local).why ==
        "peak.fp32: formula 0 atomic a trip, code has 1; "
        "formula 0 local atomic a trip, code has 1");
  CHECK(check_isa(kernel_with({{Operation::kSharedLoad, 2, 0},
                               {Operation::kSharedStore, 0, 2},
                               {Operation::kAtomic, 1, 0},
                               {Operation::kSharedAtomic, 1, 0}}),
                  local)
            .proof == Proof::kPassed);
}

TEST_CASE("a loop that the driver unrolled or removed fails with the reason") {
  const IsaCheck twice = check_isa(kernel_with({{Operation::kFmaF32, 4, 0}}), peak());
  CHECK(twice.why ==
        "peak.fp32: formula 4 FMA fp32 a trip, code has 8; the driver seems to have unrolled the "
        "loop by 2");
  const auto straight = executable_with(isa_fixture("constants.txt"), {});
  CHECK(check_isa(kernel_with({{Operation::kFmaF32, 4, 0}}), straight).why ==
        "peak.fp32: formula 4 FMA fp32 a trip, code has 0 (it has no loop with them)");
}

TEST_CASE("the shader's own code is looked at, not that of the stage before") {
  KernelCase kernel = kernel_with({{Operation::kFmaF32, 8, 0}});
  std::vector<vulkan::Executable> stages = peak();
  stages.push_back({"Vertex Shader", 64, {}, isa_fixture("constants.txt")});
  CHECK(check_isa(kernel, stages).proof == Proof::kPassed);
  kernel.target = vulkan::TargetDescription{};
  CHECK(check_isa(kernel, stages).why == "the driver shows no code of this shader");
  stages[0].name = "Fragment Shader";
  std::swap(stages[0], stages[1]);
  CHECK(check_isa(kernel, stages).proof == Proof::kPassed);
}

TEST_CASE("without a listing that can be counted the proof is not done, and says why") {
  const KernelCase kernel = kernel_with(kPeak);
  CHECK(check_isa(kernel, {}).proof == Proof::kNotDone);
  const IsaCheck none = check_isa(kernel, executable_with("", {{"VGPRs", 8}}));
  CHECK(none.proof == Proof::kNotDone);
  CHECK(none.why == "the driver shows no assembly");
  CHECK(none.vgprs == 8);
  const IsaCheck llvm = check_isa(
      kernel,
      executable_with("_amdgpu_cs_main:\n\ts_mov_b32 s0, s3 // 000000000000: BE800003\n", {}));
  CHECK(llvm.proof == Proof::kNotDone);
  CHECK(llvm.why.find("not in the form of RADV's ACO") != std::string::npos);
  CHECK(check_isa(kernel_with({}), peak()).proof == Proof::kNotDone);
}

}  // namespace
}  // namespace gputrace::bench
