#include "cli/commands/report/report_warnings.h"

#include <doctest/doctest.h>

#include <string>

#include "cli/report/render_text.h"
#include "tests/cli/commands/report/session_reports.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

/// 10 s of percentages: GUI_ACTIVE (bit 31) 20 % in the first half, 60 % in the second.
void write_means(const std::filesystem::path& path, std::optional<std::uint32_t> samples,
                 bool own_names = false) {
  store::SessionDescription description;
  description.kind = store::SessionKind::kImport;
  description.origin = "radeontop dump t.txt";
  auto writer = store::SessionWriter::create(path, store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  test::SessionRecipe recipe;
  recipe.registers = {own_names ? "radeontop" : "GRBM_STATUS"};
  recipe.regdb_table = own_names ? "radeontop" : recipe.regdb_table;
  recipe.simulated = false;
  REQUIRE(writer->begin_segment(test::segment_of(recipe)));
  std::vector<store::WindowMean> means;
  for (std::int64_t i = 0; i < 10; ++i) {
    store::WindowMean mean;
    mean.bit = 31;
    mean.start_ns = recipe.start_ns + i * kNsPerSecond;
    mean.end_ns = mean.start_ns + kNsPerSecond;
    mean.busy = i < 5 ? 0.2 : 0.6;
    mean.samples = samples;
    means.push_back(mean);
  }
  REQUIRE(writer->write_window_means(means));
  REQUIRE(writer->finish({recipe.start_ns + 10 * kNsPerSecond, std::nullopt, std::nullopt}));
}

}  // namespace

TEST_CASE("imported percentages are averaged over time, without intervals") {
  const test::TempDir folder;
  write_means(folder.path() / "n", 120);
  write_means(folder.path() / "no_n", std::nullopt);
  const report::Report report = must_report(folder.path() / "n");
  REQUIRE(report.units.size() == 1);
  CHECK(report.units[0].busy == doctest::Approx(0.4));
  CHECK(report.units[0].samples == 1200U);
  CHECK_FALSE(report.units[0].ci95);
  CHECK_FALSE(report.units[0].ci95_run);
  CHECK(has_warning(report, "imported"));
  CHECK_FALSE(has_warning(report, "radeontop_names"));
  CHECK(report.sampling.samples == 1200U);
  CHECK_FALSE(report.sampling.unknown);
  CHECK_FALSE(report.sampling.missed);
  CHECK_FALSE(report.sampling.asleep_s);
  CHECK_FALSE(report.sampling.kept_gfx_awake);
  CHECK(report.band.rows.at(0).cells.at(0).busy == doctest::Approx(0.2));
  CHECK(report.band.rows.at(0).cells.back().busy == doctest::Approx(0.6));
  CHECK_FALSE(must_report(folder.path() / "no_n").units[0].samples);
  CHECK_FALSE(must_report(folder.path() / "no_n").sampling.samples);

  commands::ReportOptions options;
  options.from_s = 4.5;
  options.to_s = 5.5;
  CHECK(must_report(folder.path() / "n", options).units[0].busy == doctest::Approx(0.4));
  options.from_s = 5;
  CHECK(must_report(folder.path() / "n", options).units[0].busy == doctest::Approx(0.6));
}

TEST_CASE("radeontop's own names come with a warning that some mean other units") {
  const test::TempDir folder;
  write_means(folder.path() / "own", 120, true);
  const report::Report report = must_report(folder.path() / "own");
  REQUIRE(report.units.size() == 1);
  CHECK(report.units[0].name == "gpu");
  CHECK(has_warning(report, "radeontop_names"));
}

/// Two percent missed, 5 % of the reads 2 ms late.
report::Report unpunctual_report(const std::filesystem::path& path, bool had_fifo) {
  test::SessionRecipe recipe = game();
  recipe.simulated = false;
  store::SessionDescription description;
  auto writer = store::SessionWriter::create(path, store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(recipe)));
  sampler::SampleBlock block = test::block_of(recipe, 0, 1000);
  block.totals.missed = 20;
  block.totals.dropped_ticks = 3;
  block.totals.lateness[20] = 950;  // 26 to 32 us
  block.totals.lateness[44] = 50;   // 1.7 to 2 ms
  block.totals.cpu_ns = 17'000'000;
  block.totals.reads[0] = 1000;
  block.totals.read_cost_ns[0] = 2'400'000;
  REQUIRE(writer->write_block(block));
  if (!had_fifo) {
    REQUIRE(writer->write_event({recipe.start_ns, "no_realtime", "cannot use SCHED_FIFO: EPERM"}));
  }
  REQUIRE(writer->finish({recipe.start_ns + kNsPerSecond, 0, std::nullopt}));
  return must_report(path);
}

TEST_CASE("missed periods and late reads are warned about with the way to SCHED_FIFO") {
  const test::TempDir folder;
  const report::Report report = unpunctual_report(folder.path() / "s.gputrace", false);
  CHECK(has_warning(report, "missed"));
  CHECK(has_warning(report, "late"));
  CHECK(has_warning(report, "dropped"));
  CHECK_FALSE(has_warning(report, "simulated"));
  CHECK(report::render_text(report, {}).find("rtprio") != std::string::npos);
  CHECK(report.sampling.missed == 20U);
  CHECK(report.sampling.late_p50_us.value_or(0) > 20);
  CHECK(report.sampling.late_p50_us.value_or(0) < 40);
  CHECK(report.sampling.registers[0].read_cost_ns.value_or(0) == doctest::Approx(2400));
  CHECK_FALSE(report.sampling.registers[1].read_cost_ns);
  CHECK(report.sampling.kept_gfx_awake == true);
}

TEST_CASE("nobody who had SCHED_FIFO is told how to get it") {
  const test::TempDir folder;
  const report::Report report = unpunctual_report(folder.path() / "s.gputrace", true);
  CHECK(has_warning(report, "missed"));
  CHECK(has_warning(report, "late"));
  const std::string text = report::render_text(report, {});
  CHECK(text.find("rtprio") == std::string::npos);
  CHECK(text.find("--rate") != std::string::npos);
}

TEST_CASE("events of the recording become warnings") {
  const test::TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  const test::SessionRecipe recipe = game();
  auto writer = store::SessionWriter::create(path, store::OnExisting::kRefuse, {});
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(recipe)));
  REQUIRE(writer->write_block(test::block_of(recipe, 0, 1000)));
  for (const char* kind : {"clock_step", "suspend", "suspend", "lost", "warning", "mark"}) {
    REQUIRE(writer->write_event({recipe.start_ns, kind, std::string("text of ") + kind}));
  }
  REQUIRE(writer->finish({recipe.start_ns + kNsPerSecond, 0, std::nullopt}));
  const report::Report report = must_report(path);
  for (const char* code : {"clock_step", "suspended", "lost", "recorder"}) {
    CHECK_MESSAGE(has_warning(report, code), code);
  }
  CHECK_FALSE(has_warning(report, "mark"));
}
