#include "cli/commands/report/report_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/report/render_json.h"
#include "cli/report/render_text.h"
#include "tests/cli/commands/report/session_reports.h"
#include "tests/support/golden.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)
using sampler::SampleState;

TEST_CASE("a session becomes units with busy fractions, intervals and a band") {
  const report::Report report = must_report(game());
  CHECK(busy_of(report, "GRBM_STATUS", "GUI_ACTIVE") == doctest::Approx(0.5));
  CHECK(busy_of(report, "GRBM_STATUS", "SPI_BUSY") == doctest::Approx(0.5));
  CHECK(busy_of(report, "GRBM_STATUS2", "EA_BUSY") == doctest::Approx(0.5));
  CHECK(busy_of(report, "GRBM_STATUS", "TA_BUSY") == 0);
  const report::Unit* pipe = find_unit(report, "GRBM_STATUS", "GUI_ACTIVE");
  REQUIRE(pipe != nullptr);
  CHECK(pipe->samples == 4000U);
  REQUIRE(pipe->ci95);
  REQUIRE(pipe->ci95_run);
  CHECK(pipe->ci95_run.value_or(analysis::Interval{}).lower > 0.48);
  CHECK(report.session.label == "a game");
  CHECK(report.session.exit_code == 0);
  CHECK(report.session.duration_s.value_or(0) == doctest::Approx(4));
  CHECK(report.gpu.gc == "11.0.1");
  CHECK(report.sampling.samples == 4000U);
  CHECK(report.sampling.achieved_hz.value_or(0) == doctest::Approx(1000));
  CHECK(has_warning(report, "simulated"));
  CHECK(report.segments.empty());

  REQUIRE(report.band.rows.size() == 3);
  CHECK(report.band.column_s == doctest::Approx(0.1));
  CHECK(report.band.rows[1].label == "SPI_BUSY");
  CHECK(report.band.rows[2].label == "EA_BUSY");
  CHECK(report.band.rows[2].cells[19].busy == 0);
  CHECK(report.band.rows[2].cells[20].busy == 1);
}

TEST_CASE("only busy bits become units") {
  const report::Report report = must_report(game());
  CHECK(find_unit(report, "GRBM_STATUS", "DB_CLEAN") == nullptr);
  CHECK(find_unit(report, "GRBM_STATUS", "ME0PIPE0_CMDFIFO_AVAIL") == nullptr);
  CHECK(find_unit(report, "GRBM_STATUS2", "RLC_RQ_PENDING") == nullptr);
}

TEST_CASE("the text and JSON of a session look as agreed") {
  const report::Report report = must_report(game());
  test::check_golden("report_session.txt", report::render_text(report, {}));
  test::check_golden("report_session.json", report::render_json(report));
}

TEST_CASE("registers that nobody could read are unknown with a reason, not idle") {
  const report::Report report = must_report(game());
  REQUIRE(report.unknown_registers.size() == 1);
  CHECK(report.unknown_registers[0].name == "GRBM_STATUS3");
  CHECK(report.unknown_registers[0].reason.find("root") != std::string::npos);
  CHECK(find_unit(report, "GRBM_STATUS3", "GL2CC_BUSY") == nullptr);
}

TEST_CASE("a selection counts only what is inside it") {
  commands::ReportOptions options;
  options.from_s = 2.05;
  options.to_s = 3;
  const report::Report report = must_report(game(), options);
  CHECK(busy_of(report, "GRBM_STATUS2", "EA_BUSY") == 1);
  CHECK(std::abs(static_cast<double>(report.sampling.samples.value_or(0)) - 950) <= 2);
  REQUIRE(report.selection);
  CHECK(report.band.rows.at(0).cells.size() == 10);
}

TEST_CASE("a selection outside the session is refused, a rounded end is not") {
  const test::TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  REQUIRE(test::make_session(path, game()));
  commands::ReportOptions options;
  options.from_s = 4;
  const auto late = report_of(path, options);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::kInvalidArgument);
  CHECK(late.error().message == "--from 4.0 s is not inside the session, which is 4.0 s long");
  options.from_s.reset();
  options.to_s = 4.2;
  CHECK_FALSE(report_of(path, options));
  options.to_s = 4.04;
  CHECK(report_of(path, options));
  options.to_s = 0;
  const auto empty = report_of(path, options);
  REQUIRE_FALSE(empty);
  CHECK(empty.error().message == "--to must be after the session's start");
  options.from_s = 3;
  options.to_s = 2;
  const auto reversed = report_of(path, options);
  REQUIRE_FALSE(reversed);
  CHECK(reversed.error().code == ErrorCode::kUsage);
}

TEST_CASE("unknown samples are left out of the fractions and counted with their reasons") {
  test::SessionRecipe recipe = game();
  recipe.state = [](std::size_t reg, std::size_t tick) {
    return reg == 1 || tick % 10 != 0 ? SampleState::kValid
           : tick % 20 == 0           ? SampleState::kAllOnes
                                      : SampleState::kReset;
  };
  const report::Report report = must_report(recipe);
  CHECK(report.sampling.samples == 4000U);
  CHECK(report.sampling.unknown == 400U);
  CHECK(report.sampling.unknown_reasons ==
        std::map<std::string, std::uint64_t>{{"all_ones", 200}, {"reset", 200}});
  CHECK(find_unit(report, "GRBM_STATUS", "GUI_ACTIVE")->samples == 3600U);
  CHECK(find_unit(report, "GRBM_STATUS2", "EA_BUSY")->samples == 4000U);
  CHECK(has_warning(report, "unknown"));
}

TEST_CASE("busy fractions are over the awake time, sleep stands beside them") {
  test::SessionRecipe recipe = game();
  recipe.state = [](std::size_t, std::size_t tick) {
    return tick < 3000 ? SampleState::kAsleep : SampleState::kValid;
  };
  const report::Report report = must_report(recipe);
  CHECK(busy_of(report, "GRBM_STATUS2", "EA_BUSY") == 1);
  CHECK(report.sampling.asleep_s.value_or(-1) == doctest::Approx(3));
  CHECK(report.sampling.unknown == 0U);
  CHECK(report.band.rows.at(0).cells[0].state == report::BandState::kAsleep);
}

TEST_CASE("reads keep a GPU awake, but nothing is read from one that sleeps") {
  test::SessionRecipe recipe = game();
  recipe.simulated = false;
  CHECK(must_report(recipe).sampling.kept_gfx_awake == true);
  recipe.state = [](std::size_t, std::size_t) { return SampleState::kAsleep; };
  CHECK(must_report(recipe).sampling.kept_gfx_awake == false);
}

TEST_CASE("a register that slept or could not be read has both counts in its reason") {
  test::SessionRecipe recipe = game();
  recipe.state = [](std::size_t, std::size_t tick) {
    return tick < 3990 ? SampleState::kAsleep : SampleState::kReset;
  };
  const report::Report report = must_report(recipe);
  CHECK(report.unknown_registers.at(0).reason == "no valid sample (reset 10, asleep 3,990)");
}

TEST_CASE("a session without a valid sample has no units, says so, and is not an error") {
  test::SessionRecipe recipe = game();
  recipe.state = [](std::size_t, std::size_t) { return SampleState::kReadError; };
  const report::Report report = must_report(recipe);
  CHECK(report.units.empty());
  CHECK(report.band.rows.empty());
  CHECK(has_warning(report, "no_samples"));
  CHECK(report.unknown_registers.size() == 3);
  CHECK(report::render_text(report, {}).find("No valid sample") != std::string::npos);
}

TEST_CASE("a session with nothing in it has a report") {
  test::SessionRecipe recipe = game();
  recipe.seconds = 0;
  const report::Report report = must_report(recipe);
  CHECK(report.units.empty());
  CHECK(report.sampling.samples == 0U);
  CHECK(report::render_text(report, {}).find("there is no sample in it") != std::string::npos);
}

TEST_CASE("a cut session is reported without exit status and with a warning") {
  test::SessionRecipe recipe = game();
  recipe.finish = false;
  const report::Report report = must_report(recipe);
  CHECK(report.session.cut);
  CHECK_FALSE(report.session.exit_code);
  CHECK(has_warning(report, "cut"));
  CHECK(busy_of(report, "GRBM_STATUS", "GUI_ACTIVE") == doctest::Approx(0.5));
}

TEST_CASE("fewer than ten samples give a fraction without intervals") {
  test::SessionRecipe recipe = game();
  recipe.seconds = 0.008;
  const report::Report report = must_report(recipe);
  const report::Unit* pipe = find_unit(report, "GRBM_STATUS", "GUI_ACTIVE");
  REQUIRE(pipe != nullptr);
  CHECK(pipe->busy == doctest::Approx(0.5));
  CHECK_FALSE(pipe->ci95);
  CHECK_FALSE(pipe->ci95_run);
  const std::string text = report::render_text(report, {});
  CHECK(text.find("too few to say how busy the GPU was") != std::string::npos);
  CHECK(text.find("The GPU had work") == std::string::npos);
  CHECK(text.find("at least 10 samples") != std::string::npos);
}

TEST_CASE("shader engines' units are told apart") {
  test::SessionRecipe recipe = game();
  recipe.registers = {"GRBM_STATUS", "GRBM_STATUS_SE0", "GRBM_STATUS_SE1"};
  recipe.word = [](std::size_t reg, std::size_t) { return reg == 1 ? 1U << 25 : 0U; };
  const report::Report report = must_report(recipe);
  CHECK(busy_of(report, "GRBM_STATUS_SE0", "TA_BUSY") == 1);
  CHECK(busy_of(report, "GRBM_STATUS_SE1", "TA_BUSY") == 0);
  CHECK(find_unit(report, "GRBM_STATUS_SE1", "TA_BUSY")->engine == 1);
  CHECK_FALSE(find_unit(report, "GRBM_STATUS", "TA_BUSY")->engine);
}

TEST_CASE("a table that this version does not know is a warning, not a failure") {
  test::SessionRecipe recipe = game();
  recipe.regdb_table = "99.0";
  const report::Report report = must_report(recipe);
  CHECK(report.units.empty());
  CHECK(has_warning(report, "unknown_table"));
}

namespace {

/// Two segments of one GPU: the first for 1 s, then the second for 3 s.
void write_two_segments(const std::filesystem::path& path, const test::SessionRecipe& first,
                        test::SessionRecipe second, const std::string& reason) {
  store::SessionDescription description;
  description.started = TimeAnchor{first.start_ns, first.start_ns, 1'790'000'000'000'000'000};
  auto writer = store::SessionWriter::create(path, store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(first)));
  REQUIRE(writer->write_block(test::block_of(first, 0, 1000)));
  second.start_ns += kNsPerSecond;
  store::SegmentDescription segment = test::segment_of(second);
  segment.reason = reason;
  REQUIRE(writer->begin_segment(segment));
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(writer->write_block(test::block_of(second, i * 1000, (i + 1) * 1000)));
  }
  REQUIRE(writer->finish({first.start_ns + 4 * kNsPerSecond, 0, std::nullopt}));
}

}  // namespace

TEST_CASE("units are summed over the segments of one GPU, and segments are listed") {
  const test::TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  test::SessionRecipe second = game();
  second.registers = {"GRBM_STATUS"};
  write_two_segments(path, game(), second, "register lost: GRBM_STATUS2");
  const report::Report report = must_report(path);
  REQUIRE(report.segments.size() == 2);
  CHECK_FALSE(report.segments[0].main);
  CHECK(report.segments[1].main);
  CHECK(report.segments[1].start_s == doctest::Approx(1));
  CHECK(report.segments[1].reason == "register lost: GRBM_STATUS2");
  CHECK(has_warning(report, "segments"));
  CHECK(find_unit(report, "GRBM_STATUS", "GUI_ACTIVE")->samples == 4000U);
  CHECK(find_unit(report, "GRBM_STATUS2", "EA_BUSY")->samples == 1000U);
  REQUIRE(report.unknown_registers.size() == 2);  // STATUS3 needs root
  CHECK(report.unknown_registers[1].name == "GRBM_STATUS2");
  CHECK(report.unknown_registers[1].reason.find("some segments only") != std::string::npos);
  CHECK(report.sampling.samples == 3000U);

  commands::ReportOptions options;
  options.to_s = 1.5;
  const report::Report begin = must_report(path, options);
  CHECK(begin.segments[0].main);
  CHECK(find_unit(begin, "GRBM_STATUS", "GUI_ACTIVE")->samples.value_or(0) < 1510);
}

TEST_CASE(
    "a GPU that slept until it was woken: its sleep counts, and no register was lacking then") {
  const test::TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  test::SessionRecipe asleep = game();
  asleep.registers = {"GRBM_STATUS"};
  asleep.state = [](std::size_t, std::size_t) { return SampleState::kAsleep; };
  write_two_segments(path, asleep, game(), "the GPU woke up");
  const report::Report report = must_report(path);
  CHECK(report.sampling.asleep_s.value_or(-1) == doctest::Approx(1).epsilon(0.01));
  CHECK(report.sampling.asleep_share.value_or(-1) == doctest::Approx(0.25).epsilon(0.01));
  CHECK(report.sampling.samples == 3000U);
  CHECK(report.sampling.unknown == 0U);
  CHECK(find_unit(report, "GRBM_STATUS2", "EA_BUSY")->samples == 3000U);
  for (const report::UnknownRegister& reg : report.unknown_registers) {
    CHECK(reg.reason.find("some segments only") == std::string::npos);
  }
  CHECK(report.band.rows.at(0).cells[0].state == report::BandState::kAsleep);
}
