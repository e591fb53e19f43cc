#include "cli/commands/kernels/verify_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "cli/commands/kernels/radv.h"

namespace gputrace::commands {
namespace {

std::vector<bench::KernelCase> cases_named(const std::vector<std::string>& ids) {
  std::vector<bench::KernelCase> cases;
  for (const std::string& id : ids) {
    cases.emplace_back().id = id;
  }
  return cases;
}

std::vector<std::string> selected(const std::vector<std::string>& wanted) {
  const auto result =
      select_kernels(cases_named({"peak.fp32", "peak.fp32.wave32", "peak.fp16", "peaks"}), wanted);
  if (!result) {
    return {result.error().message.substr(0, 25)};
  }
  std::vector<std::string> ids;
  for (const bench::KernelCase& kernel : *result) {
    ids.push_back(kernel.id);
  }
  return ids;
}

TEST_CASE("kernels are named by their id or its beginning up to a dot") {
  using Ids = std::vector<std::string>;
  CHECK(selected({}).size() == 4);
  CHECK(selected({"peak"}) == Ids{"peak.fp32", "peak.fp32.wave32", "peak.fp16"});
  CHECK(selected({"peak.fp32"}) == Ids{"peak.fp32", "peak.fp32.wave32"});
  CHECK(selected({"peak.fp16", "peaks"}) == Ids{"peak.fp16", "peaks"});
  CHECK(selected({"peaks", "pea"}) == Ids{"no kernel is named pea, o"});
}

TEST_CASE("every known kernel has an id of its own and a description") {
  std::set<std::string> ids;
  for (const bench::KernelCase& kernel : known_kernels()) {
    CAPTURE(kernel.id);
    CHECK(ids.insert(kernel.id).second);
    CHECK_FALSE(kernel.description.empty());
    CHECK_MESSAGE((!kernel.formula.empty() || !kernel.in_loops.empty()),
                  "nothing in its code is checked");
  }
  CHECK_FALSE(ids.empty());
}

/// A driver that crashes on every id with an "x" in it.
Result<Verification> verify_unless_x(const std::string& family,
                                     const std::vector<std::string>& ids) {
  Verification verification{"GPU", "Mesa", family, {}};
  for (const std::string& id : ids) {
    if (id.find('x') != std::string::npos) {
      return fail(ErrorCode::kIo, "the process crashed (signal 6, Aborted)");
    }
    KernelVerdict good;
    good.id = id;
    good.verdict = Verdict::kPassed;
    verification.kernels.push_back(good);
    good.id += ".more";  // begins with the id, too
    verification.kernels.push_back(good);
  }
  return verification;
}

TEST_CASE("a kernel that the driver crashes on is named, the others are verified") {
  const std::vector<KernelName> names{{"a", false}, {"bx", false}, {"c", false},
                                      {"d", false}, {"ex", true},  {"f", true}};
  int calls = 0;
  const auto verify = [&](const std::vector<std::string>& ids) {
    ++calls;
    return verify_unless_x("", ids);
  };
  const Verification all = verify_apart(names, false, verify);
  CHECK(all.device == "GPU");
  CHECK(calls < 12);
  REQUIRE(all.kernels.size() == 6);
  CHECK(all.kernels[0].verdict == Verdict::kPassed);
  CHECK(all.kernels[1].verdict == Verdict::kFailed);
  CHECK(all.kernels[1].isa.why ==
        "bx: the driver does not compile it: the process crashed (signal 6, Aborted)");
  CHECK(all.kernels[3].id == "d");
  CHECK(all.kernels[3].verdict == Verdict::kPassed);
  CHECK(all.kernels[4].id == "ex");
  CHECK(all.kernels[4].verdict == Verdict::kFailed);
}

TEST_CASE("a crash on what draws is RADV's own where the GPU is not there") {
  const auto verify = [](const std::vector<std::string>& ids) {
    return verify_unless_x("rembrandt", ids);
  };
  const Verification all = verify_apart({{"dx", true}, {"e", true}, {"bx", false}}, true, verify);
  REQUIRE(all.kernels.size() == 3);
  CHECK(all.kernels[0].id == "bx");
  CHECK(all.kernels[0].verdict == Verdict::kFailed);
  CHECK(all.kernels[1].verdict == Verdict::kSkipped);
  CHECK(all.kernels[2].verdict == Verdict::kSkipped);
  CHECK(all.kernels[2].isa.why ==
        "e: RADV crashes on what draws without this GPU: the process crashed (signal 6, Aborted)");
  // Some draw: then the crash is the kernel's.
  const Verification one = verify_apart({{"e", true}, {"dx", true}}, true, verify);
  REQUIRE(one.kernels.size() == 2);
  CHECK(one.kernels[1].verdict == Verdict::kFailed);
}

TEST_CASE("families that Mesa renamed are tried under both names") {
  using Names = std::vector<std::string>;
  CHECK(spellings_of("gfx1103_r1") == Names{"gfx1103_r1", "phoenix"});
  CHECK(spellings_of("phoenix") == Names{"phoenix", "gfx1103_r1"});
  CHECK(spellings_of("vega10") == Names{"vega10"});
}

}  // namespace
}  // namespace gputrace::commands
