#include "cli/commands/kernels/verification.h"

#include <doctest/doctest.h>

#include <string>

namespace gputrace::commands {
namespace {

using analysis::Proof;

Verification example() {
  KernelVerdict good;
  good.id = "peak.fp32.wave32";
  good.verdict = Verdict::kPassed;
  good.isa.proof = Proof::kPassed;
  good.isa.subgroup_size = 32;
  good.isa.counts = {{good.id, "FMA fp32", 32, 32},
                     {good.id, "load 16 B", 2, 2},
                     {good.id, "load 16 B once", 1, 1},
                     {good.id, "store 4 B once", 1, 1}};
  good.isa.code_bytes = 456;
  good.isa.vgprs = 16;
  good.isa.waves_per_simd = 16;
  good.isa.arithmetic_share = 0.97;
  good.isa.dual_issued_share = 1;
  KernelVerdict bad;
  bad.id = "sweep.n16";
  bad.verdict = Verdict::kFailed;
  bad.isa.why = "sweep.n16: formula 32 FMA fp32 a trip, code has 16";
  bad.isa.counts = {{bad.id, "FMA fp32", 32, 16}};
  KernelVerdict skipped;
  skipped.id = "peak.matrix";
  skipped.verdict = Verdict::kSkipped;
  skipped.isa.why = "the device has no fp16 matrices";
  return {"Null hardware (RADV GFX1103_R1)", "Mesa 22.3.6", "gfx1103_r1", {good, bad, skipped}};
}

TEST_CASE("the table has a line for each kernel, and the reason of each that did not pass") {
  CHECK(to_text(example()) ==
        "Null hardware (RADV GFX1103_R1), Mesa 22.3.6, compiled for gfx1103_r1 without the GPU\n"
        "\n"
        "kernel            wave  formula/code a trip  loads/stores  bytes  VGPRs  waves  share  "
        "verdict\n"
        "peak.fp32.wave32    32  FMA fp32 32/32            2+1/0+1    456     16     16   97 %  "
        "passed\n"
        "sweep.n16            -  FMA fp32 32/16                0/0      -      -      -      -  "
        "failed\n"
        "peak.matrix          -  -                               -      -      -      -      -  "
        "skipped\n"
        "\n"
        "sweep.n16: formula 32 FMA fp32 a trip, code has 16\n"
        "peak.matrix: the device has no fp16 matrices\n"
        "3 kernels, 1 passed, 1 failed, 1 skipped\n");
}

TEST_CASE("a reason that several kernels share is told once") {
  Verification verification = example();
  KernelVerdict more = verification.kernels[2];
  more.id = "peak.matrix.fp16";
  verification.kernels.push_back(more);
  CHECK(to_text(verification).find("\npeak.matrix and 1 more: the device has no fp16 matrices\n") !=
        std::string::npos);
}

TEST_CASE("one mismatch, or one kernel that could not be counted, is enough to fail") {
  Verification verification = example();
  CHECK_FALSE(is_good(verification));
  verification.kernels[1].verdict = Verdict::kNotDone;
  CHECK_FALSE(is_good(verification));
  verification.kernels[1].verdict = Verdict::kNoFormula;
  CHECK(is_good(verification));
  verification.kernels[0].verdict = Verdict::kSkipped;
  CHECK_FALSE(is_good(verification));  // nothing was verified
}

TEST_CASE("JSON brings everything back") {
  const Verification before = example();
  const Result<Verification> after = verification_from_json(to_json(before));
  REQUIRE(after.has_value());
  CHECK(to_json(*after) == to_json(before));
  CHECK(to_text(*after) == to_text(before));
  CHECK(after->kernels[0].isa.dual_issued_share == 1.0);
  CHECK_FALSE(after->kernels[1].isa.vgprs.has_value());
}

TEST_CASE("an answer that was cut or is not an object is refused") {
  const std::string whole = to_json(example());
  CHECK_FALSE(verification_from_json(whole.substr(0, whole.size() / 2)).has_value());
  CHECK_FALSE(verification_from_json("").has_value());
  CHECK_FALSE(verification_from_json("[]").has_value());
  CHECK_FALSE(verification_from_json("{\"device\":{\"name\":3}}").has_value());
}

TEST_CASE("a driver's names do no harm to a terminal") {
  Verification verification = example();
  verification.device = "\x1b[31mGPU";
  CHECK(to_text(verification).find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace gputrace::commands
