#include "cli/commands/bench/result_file.h"

#include <doctest/doctest.h>

#include "cli/commands/bench/machine_folder.h"
#include "cli/report/bench_json.h"
#include "tests/support/make_results.h"
#include "tests/support/temp_dir.h"

namespace gputrace::commands {
namespace {

TEST_CASE("results come back from their stored form unchanged, and absent ones stay absent") {
  for (const store::ResultRun& stored : {test::full_run(), test::bare_run()}) {
    const analysis::BenchRun run = bench_run(stored);
    const analysis::BenchRun again = bench_run(stored_run(run));
    CHECK(report::render_bench_json(again) == report::render_bench_json(run));
    CHECK(run.device.name == stored.device);
    CHECK(run.device.pci == stored.pci);
    CHECK(again.device.revision_id == stored.revision_id);
    CHECK(again.temperature_c == stored.temperature_c);
    CHECK(again.tests.size() == stored.tests.size());
  }
  const analysis::BenchRun run = bench_run(test::full_run());
  const analysis::TestResult& sweep = run.tests.at(0);
  CHECK(sweep.id == "roofline.sweep");
  CHECK(sweep.result == analysis::Proof::kPassed);
  CHECK(sweep.rate == analysis::Proof::kNotDone);
  CHECK(sweep.series.at(1).points.at(0).status == analysis::TestStatus::kSkipped);
  CHECK_FALSE(sweep.series.at(1).points.at(0).median);
  CHECK(sweep.series.at(0).points.at(1).start_ns == 1'000'000'000'000);
  CHECK(sweep.counts.at(1).formula == 1);
  CHECK_FALSE(sweep.counts.at(1).isa);
  CHECK(sweep.derived.at(1).confidence == "likely");
  CHECK(run.tests.at(1).isa == analysis::Proof::kFailed);
}

TEST_CASE(
    "a file of the machine folder is named by kind, device and time, and taken names differ") {
  const test::TempDir dir;
  const auto folder = machine_folder(dir.path() / "sessions");
  CHECK(folder == dir.path() / "machine");
  std::filesystem::create_directory(folder);
  const auto name = [&](std::string_view device) {
    return machine_file(folder, store::SessionKind::kRoofline, device, 0).filename().string();
  };
  CHECK(name("AMD Radeon 780M (RADV GFX1103_R1)").starts_with("roofline-AMD_Radeon_780M-19"));
  CHECK(name("../../etc/passwd").find('/') == std::string::npos);
  CHECK(name("(odd)").starts_with("roofline-_odd_-"));
  const auto first = machine_file(folder, store::SessionKind::kBench, "llvmpipe", 0);
  REQUIRE(store::create_result_file(first, store::OnExisting::kRefuse,
                                    {.kind = store::SessionKind::kBench,
                                     .label = std::nullopt,
                                     .command = std::nullopt,
                                     .started = std::nullopt,
                                     .origin = ""},
                                    {}, {}));
  CHECK(machine_file(folder, store::SessionKind::kBench, "llvmpipe", 0) != first);
}

}  // namespace
}  // namespace gputrace::commands
