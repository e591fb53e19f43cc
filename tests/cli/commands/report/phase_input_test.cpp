// Recordings that tell little, or something odd: the best honest answer, with its limits.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/cli/commands/report/load_session.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using sampler::SampleState;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool is_memory(Bottleneck bottleneck) {
  return bottleneck == Bottleneck::kMemory || bottleneck == Bottleneck::kBandwidth ||
         bottleneck == Bottleneck::kLatency;
}

/// Nothing that needs what was not there is claimed.
bool is_open(const report::Phase& phase) {
  return phase.bottleneck == Bottleneck::kUnknown || phase.bottleneck == Bottleneck::kMixed ||
         phase.confidence < 0.9;
}

TEST_CASE("without GRBM_STATUS3 memory is still found, less surely, and it is said") {
  const report::Report with = must_report(recipe_of(all_registers(), {{8, memory_load()}}));
  const report::Report without =
      must_report(recipe_of({"GRBM_STATUS", "GRBM_STATUS2"}, {{8, memory_load()}}));
  REQUIRE(with.phases.size() == 1);
  REQUIRE(without.phases.size() == 1);
  CHECK(is_memory(without.phases[0].bottleneck));
  CHECK(without.phases[0].confidence <= with.phases[0].confidence);
  CHECK_FALSE(has_warning(with, "units_missing"));
  CHECK(contains(warning_text(without, "units_missing"), "GL2CC_BUSY"));
}

TEST_CASE("two registers without the memory path do not tell memory, and say what is missing") {
  const report::Report report =
      must_report(recipe_of({"GRBM_STATUS", "GRBM_STATUS_SE0"}, {{8, memory_load()}}));
  REQUIRE(report.phases.size() == 1);
  CHECK(is_open(report.phases[0]));
  const std::string warning = warning_text(report, "units_missing");
  CHECK(contains(warning, "EA_BUSY"));
  CHECK(contains(warning, "limit by memory cannot be judged"));
  CHECK(contains(warning, "sudo gputrace record"));
}

TEST_CASE("one register without GUI_ACTIVE has phases that claim little") {
  const report::Report report = must_report(recipe_of({"GRBM_STATUS2"}, {{8, memory_load()}}));
  REQUIRE(report.phases.size() == 1);
  CHECK(is_open(report.phases[0]));
  CHECK(contains(warning_text(report, "units_missing"), "GUI_ACTIVE"));
}

/// radeontop's columns, as its import writes them: windows of a second.
report::Report radeontop_report(std::optional<std::uint32_t> samples) {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  store::SessionDescription description;
  description.kind = store::SessionKind::kImport;
  description.origin = "radeontop dump trace.txt";
  SessionRecipe recipe;
  recipe.registers = {"radeontop"};
  recipe.regdb_table = "radeontop";
  recipe.simulated = false;
  description.started = TimeAnchor{recipe.start_ns, recipe.start_ns, recipe.start_realtime_ns};
  {
    auto writer = store::SessionWriter::create(path, store::OnExisting::kReplace, description);
    REQUIRE(writer);
    REQUIRE(writer->begin_segment(segment_of(recipe)));
    const auto map = regdb::RegisterDatabase::built_in().map_for_table("radeontop");
    REQUIRE(map);
    std::vector<store::WindowMean> means;
    for (int i = 0; i < 60; ++i) {
      for (const regdb::RegisterField& field : map->find("radeontop")->fields) {
        const double wiggle = 0.02 * ((i * 7 + field.shift) % 5 - 2);
        const double busy = i < 30 ? 0.01 : field.name == "sc" || field.name == "db" ? 0.1 : 0.95;
        const std::int64_t start = recipe.start_ns + i * kNsPerSecond;
        means.push_back({.register_index = 0,
                         .bit = field.shift,
                         .start_ns = start,
                         .end_ns = start + kNsPerSecond,
                         .busy = std::clamp(busy + wiggle, 0.0, 1.0),
                         .samples = samples});
      }
    }
    REQUIRE(writer->write_window_means(means));
    REQUIRE(writer->finish({recipe.start_ns + 60 * kNsPerSecond, {}, {}}));
  }
  return must_report(path);
}

TEST_CASE("radeontop's windows become phases to a window, without intervals") {
  const report::Report report = radeontop_report(120);
  REQUIRE(report.phases.size() == 2);
  CHECK(report.phases[0].bottleneck == Bottleneck::kIdle);
  CHECK(std::abs(report.phases[0].end_s - 30) <= 1);
  CHECK(report.phases[1].bottleneck != Bottleneck::kIdle);
  CHECK(is_open(report.phases[1]));
  for (const report::Unit& unit : report.phases[1].units) {
    CHECK_FALSE(unit.ci95);
    CHECK_FALSE(unit.ci95_run);
    CHECK(unit.samples.value_or(0) > 0);
  }
  CHECK(contains(warning_text(report, "phases_from_percentages"), "1.0 s each"));
  CHECK(contains(warning_text(report, "units_missing"), "limit by memory"));
}

TEST_CASE("windows of an unknown number of samples have phases, and no n is claimed") {
  const report::Report report = radeontop_report(std::nullopt);
  REQUIRE_FALSE(report.phases.empty());
  CHECK_FALSE(report.phases.front().units.at(0).samples);
  CHECK(contains(warning_text(report, "phases_from_percentages"), "unknown number of samples"));
}

TEST_CASE("an idle GPU is idle, in one phase") {
  const report::Report report = must_report(recipe_of(all_registers(), {{20, {}}}));
  REQUIRE(report.phases.size() == 1);
  CHECK(report.phases[0].bottleneck == Bottleneck::kIdle);
  CHECK(report.phases[0].confidence > 0.9);
  CHECK_FALSE(report.phases[0].position);
}

TEST_CASE("a GPU that slept is not idle by what was read, and has no position") {
  SessionRecipe recipe = recipe_of(all_registers(), {{10, {}}});
  recipe.state = [](std::size_t, std::size_t) { return SampleState::kAsleep; };
  const report::Report report = must_report(recipe);
  CHECK(report.units.empty());
  CHECK(has_warning(report, "no_samples"));
  for (const report::Phase& phase : report.phases) {
    CHECK(phase.asleep_share == doctest::Approx(1));
    CHECK(phase.bottleneck == Bottleneck::kIdle);
    CHECK_FALSE(phase.position);
    CHECK(phase.units.empty());
  }
}

TEST_CASE("a GPU that sleeps after its work has that time apart") {
  SessionRecipe recipe = recipe_of(all_registers(), {{20, memory_load()}});
  recipe.state = [](std::size_t, std::size_t tick) {
    return tick < 10'000 ? SampleState::kValid : SampleState::kAsleep;
  };
  const report::Report report = must_report(recipe);
  REQUIRE(report.phases.size() == 2);
  CHECK(is_memory(report.phases[0].bottleneck));
  CHECK(std::abs(report.phases[0].end_s - 10) < 0.05);
  CHECK(report.phases[1].asleep_share == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("a second of samples has one phase and a warning") {
  const report::Report report = must_report(recipe_of(all_registers(), {{1, memory_load()}}));
  REQUIRE(report.phases.size() == 1);
  CHECK(report.phases[0].end_s == doctest::Approx(1));
  CHECK(contains(warning_text(report, "short"), "record for 10 s"));
}

TEST_CASE("a tenth of a second has a phase at most, and the warning") {
  const report::Report report = must_report(recipe_of(all_registers(), {{0.1, compute_load()}}));
  CHECK(report.phases.size() == 1);
  CHECK(has_warning(report, "short"));
}

/// The second half after a pause of a minute in which nothing was read.
report::Report paused_report(const std::string& event) {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  SessionRecipe recipe = recipe_of(all_registers(), {{10, memory_load()}});
  {
    auto writer = begin_session(path, recipe, {});
    SessionRecipe later = recipe_of(all_registers(), {{10, compute_load()}});
    const bool pause = event == "suspend";
    later.start_ns = recipe.start_ns + (pause ? 70 : 10) * kNsPerSecond;
    REQUIRE(writer.write_event({recipe.start_ns + 10 * kNsPerSecond, event, "what happened"}));
    for (std::size_t first = 0; first < 10'000; first += 1000) {
      REQUIRE(writer.write_block(block_of(later, first, first + 1000)));
    }
    recipe.seconds = pause ? 80 : 20;
    finish_session(writer, recipe);
  }
  return must_report(path);
}

TEST_CASE("time in which nothing was recorded belongs to no phase") {
  const report::Report report = paused_report("suspend");
  REQUIRE(report.phases.size() == 2);
  CHECK(is_memory(report.phases[0].bottleneck));
  CHECK(std::abs(report.phases[0].end_s - 10) <= 0.1);
  CHECK(std::abs(report.phases[1].start_s - 70) <= 0.1);
  CHECK(report.phases[1].bottleneck == Bottleneck::kCompute);
  CHECK(has_warning(report, "suspended"));
}

TEST_CASE("a step of the clock moves no phase") {
  const report::Report report = paused_report("clock_step");
  REQUIRE(report.phases.size() == 2);
  CHECK(std::abs(report.phases[0].end_s - 10) < 0.05);
  CHECK(report.phases[1].end_s == doctest::Approx(20));
  CHECK(has_warning(report, "clock_step"));
}

TEST_CASE("samples that cannot be read for half of the time are not taken for anything") {
  SessionRecipe recipe = recipe_of(all_registers(), {{20, memory_load()}});
  recipe.state = [](std::size_t, std::size_t tick) {
    return tick % 2 == 0 ? SampleState::kAllOnes : SampleState::kValid;
  };
  const report::Report mixed = must_report(recipe);
  REQUIRE(mixed.phases.size() == 1);
  CHECK(mixed.phases[0].unknown_share == doctest::Approx(0.5).epsilon(0.01));
  CHECK(is_open(mixed.phases[0]));
  CHECK(has_warning(mixed, "unknown"));
  recipe.state = [](std::size_t, std::size_t tick) {
    return tick >= 10'000 ? SampleState::kAllOnes : SampleState::kValid;
  };
  const report::Report second_half = must_report(recipe);
  REQUIRE(second_half.phases.size() == 2);
  CHECK(is_memory(second_half.phases[0].bottleneck));
  CHECK(second_half.phases[1].bottleneck == Bottleneck::kUnknown);
  CHECK(second_half.phases[1].unknown_share == doctest::Approx(1).epsilon(0.01));
}

}  // namespace
}  // namespace gputrace::test
