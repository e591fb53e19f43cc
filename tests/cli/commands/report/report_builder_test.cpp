#include "cli/commands/report/report_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/report/render_json.h"
#include "cli/report/render_text.h"
#include "tests/support/golden.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;  // NOLINT(google-build-using-namespace)
using sampler::SampleState;

namespace {

Result<report::Report> report_of(const std::filesystem::path& path,
                                 const commands::ReportOptions& options = {}) {
  const Result<store::SessionReader> session = store::SessionReader::open(path);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  return commands::build_report(*session, "game.gputrace", regdb::RegisterDatabase::built_in(),
                                options);
}

/// The report of a session that must succeed.
report::Report must_report(const std::filesystem::path& path,
                           const commands::ReportOptions& options = {}) {
  Result<report::Report> report = report_of(path, options);
  INFO((report ? "" : report.error().message));
  REQUIRE(report);
  return std::move(*report);
}

report::Report must_report(const test::SessionRecipe& recipe,
                           const commands::ReportOptions& options = {}) {
  const test::TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  REQUIRE(test::make_session(path, recipe));
  return must_report(path, options);
}

const report::Unit* find_unit(const report::Report& report, std::string_view register_name,
                              std::string_view name) {
  const auto it = std::find_if(report.units.begin(), report.units.end(), [&](const auto& unit) {
    return unit.register_name == register_name && unit.name == name;
  });
  return it == report.units.end() ? nullptr : &*it;
}

double busy_of(const report::Report& report, std::string_view register_name,
               std::string_view name) {
  const report::Unit* unit = find_unit(report, register_name, name);
  return unit == nullptr ? -1 : unit->busy;
}

bool has_warning(const report::Report& report, std::string_view code) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [code](const report::Warning& warning) { return warning.code == code; });
}

/// GUI_ACTIVE and SPI_BUSY in every second run of four ticks, EA_BUSY in the second half.
test::SessionRecipe game() {
  test::SessionRecipe recipe;
  recipe.registers = {"GRBM_STATUS", "GRBM_STATUS2"};
  recipe.seconds = 4;
  recipe.label = "a game";
  recipe.command = std::vector<std::string>{"./game", "--fast"};
  recipe.word = [](std::size_t reg, std::size_t tick) {
    if (reg == 1) {
      return tick < 2000 ? 0x8U : 0x10008U;
    }
    return tick / 4 % 2 == 0 ? 0x3028U : 0x80403028U;
  };
  return recipe;
}

}  // namespace

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
  CHECK(late.error().message == "--from 4.0 s is outside the session, which is 4.0 s long");
  options.from_s.reset();
  options.to_s = 4.2;
  CHECK_FALSE(report_of(path, options));
  options.to_s = 4.04;
  CHECK(report_of(path, options));
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

/// Two segments of one GPU: STATUS and STATUS2 for 1 s, then STATUS alone for 3 s.
void write_two_segments(const std::filesystem::path& path) {
  test::SessionRecipe first = game();
  store::SessionDescription description;
  description.started = TimeAnchor{first.start_ns, first.start_ns, 1'790'000'000'000'000'000};
  auto writer = store::SessionWriter::create(path, store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(first)));
  REQUIRE(writer->write_block(test::block_of(first, 0, 1000)));
  test::SessionRecipe second = game();
  second.registers = {"GRBM_STATUS"};
  second.start_ns += kNsPerSecond;
  store::SegmentDescription segment = test::segment_of(second);
  segment.reason = "register lost: GRBM_STATUS2";
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
  write_two_segments(path);
  const report::Report report = must_report(path);
  REQUIRE(report.segments.size() == 2);
  CHECK_FALSE(report.segments[0].main);
  CHECK(report.segments[1].main);
  CHECK(report.segments[1].start_s == doctest::Approx(1));
  CHECK(report.segments[1].reason == "register lost: GRBM_STATUS2");
  CHECK(has_warning(report, "segments"));
  CHECK(find_unit(report, "GRBM_STATUS", "GUI_ACTIVE")->samples == 4000U);
  CHECK(find_unit(report, "GRBM_STATUS2", "EA_BUSY")->samples == 1000U);
  CHECK(report.sampling.samples == 3000U);

  commands::ReportOptions options;
  options.to_s = 1.5;
  const report::Report begin = must_report(path, options);
  CHECK(begin.segments[0].main);
  CHECK(find_unit(begin, "GRBM_STATUS", "GUI_ACTIVE")->samples.value_or(0) < 1510);
}

namespace {

/// 10 s of percentages: GUI_ACTIVE (bit 31) 20 % in the first half, 60 % in the second.
void write_means(const std::filesystem::path& path, std::optional<std::uint32_t> samples) {
  store::SessionDescription description;
  description.kind = store::SessionKind::kImport;
  description.origin = "radeontop dump t.txt";
  auto writer = store::SessionWriter::create(path, store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  test::SessionRecipe recipe;
  recipe.registers = {"GRBM_STATUS"};
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

TEST_CASE("missed periods and late reads are warned about with the way to SCHED_FIFO") {
  const test::TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
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
  REQUIRE(writer->finish({recipe.start_ns + kNsPerSecond, 0, std::nullopt}));
  const report::Report report = must_report(path);
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
