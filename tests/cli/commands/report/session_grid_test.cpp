#include "cli/commands/report/session_grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli/analysis/window.h"
#include "regdb/register_database.h"
#include "tests/cli/commands/report/sensor_session.h"
#include "tests/cli/commands/report/session_reports.h"

namespace gputrace::test {
namespace {

using sampler::SampleState;

/// The grid of a file, with what it reads from.
struct Opened {
  TempDir folder;
  std::optional<store::SessionReader> session;
  commands::SessionGrid grid;

  Opened() = default;
  explicit Opened(const SessionRecipe& recipe,
                  std::optional<store::TimeSpan> selection = std::nullopt) {
    REQUIRE(make_session(path(), recipe));
    open(selection);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder.path() / "s.gputrace"; }

  void open(std::optional<store::TimeSpan> selection = std::nullopt) {
    Result<store::SessionReader> opened = store::SessionReader::open(path());
    REQUIRE(opened);
    session.emplace(std::move(*opened));
    const auto map = regdb::RegisterDatabase::built_in().map_for_table("11.0.0");
    REQUIRE(map);
    commands::GpuRecording recording;
    recording.session = &*session;
    for (const store::StoredSegment& segment : session->segments()) {
      recording.segments.push_back(&segment);
    }
    recording.map = *map;
    const std::int64_t start_ns = SessionRecipe{}.start_ns;
    const auto span = session->span();
    REQUIRE(span);
    recording.timeline =
        selection ? commands::make_timeline(selection->start_ns, selection->end_ns, 64, true)
                  : commands::make_timeline(start_ns, span->end_ns, 64, false);
    recording.session_start_ns = start_ns;
    auto made = commands::make_session_grid(recording);
    REQUIRE(made);
    REQUIRE(*made);
    grid = std::move(**made);
  }
  [[nodiscard]] const analysis::GridSource& source() const { return *grid.source; }
  [[nodiscard]] std::size_t unit(const std::string& name, const std::string& reg = "") const {
    const auto& units = grid.source->units();
    const auto it = std::ranges::find_if(units, [&](const analysis::UnitKey& key) {
      return key.name == name && (reg.empty() || key.register_name == reg);
    });
    return static_cast<std::size_t>(it - units.begin());
  }
  [[nodiscard]] bool has(const std::string& name, const std::string& reg = "") const {
    return unit(name, reg) < grid.source->units().size();
  }
};

analysis::BusyGrid all_of(const analysis::GridSource& source) {
  auto grid = source.read(0, source.cells());
  REQUIRE(grid);
  return std::move(*grid);
}

TEST_CASE("a session becomes cells of 100 ms whose sums are those of its ticks") {
  const Opened file(game());
  CHECK(file.source().cell_s() == 0.1);
  CHECK(file.source().start_s() == 0);
  REQUIRE(file.source().cells() == 40);
  CHECK_FALSE(file.grid.from_means);
  const analysis::BusyGrid grid = all_of(file.source());
  const analysis::Counts pipe = analysis::sum(grid.units[file.unit("GUI_ACTIVE")].cells);
  CHECK(pipe.samples == 4000);
  CHECK(pipe.busy == 2000);
  CHECK(pipe.changes == 999);
  const std::vector<analysis::Cell>& memory = grid.units[file.unit("EA_BUSY")].cells;
  CHECK(memory[19].busy == 0);
  CHECK(memory[20].busy == memory[20].samples);
  CHECK(*std::ranges::max_element(grid.unknown) == 0);
}

TEST_CASE("any part can be read, in any order, and is what the whole has there") {
  const Opened file(game());
  const analysis::BusyGrid whole = all_of(file.source());
  for (const std::size_t first : {25, 0, 39}) {
    const auto part = file.source().read(first, 1);
    REQUIRE(part);
    for (std::size_t u = 0; u < whole.units.size(); ++u) {
      CHECK(part->units[u].cells.at(0).busy == whole.units[u].cells[first].busy);
    }
  }
  CHECK_FALSE(file.source().read(39, 2));
  CHECK_FALSE(file.source().read(41, 0));
}

TEST_CASE("ticks have the bits of every unit, and tell valid from unknown") {
  SessionRecipe recipe = game();
  recipe.state = [](std::size_t reg, std::size_t tick) {
    return reg == 1 && tick == 2003 ? SampleState::kReset : SampleState::kValid;
  };
  const Opened file(recipe);
  const auto ticks = file.source().ticks(1.99, 2.02);
  REQUIRE(ticks);
  CHECK(std::abs(static_cast<double>(ticks->size()) - 30) <= 2);
  const std::uint64_t memory = std::uint64_t{1} << file.unit("EA_BUSY");
  const std::uint64_t pipe = std::uint64_t{1} << file.unit("GUI_ACTIVE");
  std::size_t unknown = 0;
  double before = 0;
  for (const analysis::Tick& tick : *ticks) {
    CHECK(tick.at_s > before);
    before = tick.at_s;
    CHECK((tick.valid & pipe) != 0);
    CHECK((tick.busy & ~tick.valid) == 0);
    if ((tick.valid & memory) == 0) {
      ++unknown;
    } else {
      CHECK(((tick.busy & memory) != 0) == (tick.at_s >= 2));
    }
  }
  CHECK(unknown == 1);
  CHECK(file.source().ticks(10, 11)->empty());
}

TEST_CASE("units of shader engines are there only if the whole GPU has none of that name") {
  SessionRecipe recipe = game();
  recipe.registers = {"GRBM_STATUS_SE0", "GRBM_STATUS_SE1", "GRBM_STATUS", "GRBM_STATUS2"};
  const Opened without(recipe);
  CHECK(without.source().units().front().register_name == "GRBM_STATUS");
  CHECK(without.has("TA_BUSY", "GRBM_STATUS"));
  CHECK_FALSE(without.has("TA_BUSY", "GRBM_STATUS_SE0"));
  CHECK(without.has("GL1CC_BUSY", "GRBM_STATUS_SE0"));
  CHECK(without.has("GL1CC_BUSY", "GRBM_STATUS_SE1"));
  recipe.registers.emplace_back("GRBM_STATUS3");
  const Opened with(recipe);
  CHECK(with.has("GL1CC_BUSY", "GRBM_STATUS3"));
  CHECK_FALSE(with.has("GL1CC_BUSY", "GRBM_STATUS_SE0"));
  CHECK(with.source().units().size() <= analysis::kMaxGridUnits);
}

TEST_CASE("a selection's grid has no sample from outside it") {
  const std::int64_t start = SessionRecipe{}.start_ns;
  const Opened file(game(), store::TimeSpan{start + 1'950 * kNsPerMs, start + 2'250 * kNsPerMs});
  CHECK(file.source().start_s() == doctest::Approx(1.9));
  REQUIRE(file.source().cells() == 4);
  const analysis::BusyGrid grid = all_of(file.source());
  const analysis::Counts memory = analysis::sum(grid.units[file.unit("EA_BUSY")].cells);
  CHECK(std::abs(static_cast<double>(memory.samples) - 300) <= 2);
  CHECK(std::abs(static_cast<double>(memory.busy) - 250) <= 2);
  const auto ticks = file.source().ticks(0, 10);
  REQUIRE(ticks);
  CHECK(ticks->size() == memory.samples);
}

TEST_CASE("asleep and unknown are counted by cell, of the register that is known best") {
  SessionRecipe recipe = game();
  recipe.state = [](std::size_t reg, std::size_t tick) {
    return tick < 1000               ? SampleState::kAsleep
           : tick < 2000             ? SampleState::kAllOnes
           : reg == 1 && tick < 3000 ? SampleState::kGuardLate
                                     : SampleState::kValid;
  };
  const Opened file(recipe);
  const analysis::BusyGrid grid = all_of(file.source());
  const auto sum = [](const std::vector<std::uint32_t>& cells) {
    std::uint64_t total = 0;
    for (const std::uint32_t cell : cells) {
      total += cell;
    }
    return total;
  };
  CHECK(sum(grid.asleep) == 1000);
  CHECK(sum(grid.unknown) == 1000);
  CHECK(analysis::sum(grid.units[file.unit("GUI_ACTIVE")].cells).samples == 2000);
  CHECK(analysis::sum(grid.units[file.unit("EA_BUSY")].cells).samples == 1000);
}

TEST_CASE("segments follow each other on one grid; a gap between them has no samples") {
  Opened file;
  SessionRecipe recipe = game();
  recipe.seconds = 1;
  {
    auto writer = begin_session(file.path(), recipe, {});
    SessionRecipe later = recipe;
    later.registers = {"GRBM_STATUS"};
    later.start_ns = recipe.start_ns + 2'030 * kNsPerMs;
    REQUIRE(writer.begin_segment(segment_of(later)));
    REQUIRE(writer.write_block(block_of(later, 0, 1000)));
    recipe.seconds = 3.03;
    finish_session(writer, recipe);
  }
  file.open();
  const analysis::BusyGrid grid = all_of(file.source());
  REQUIRE(file.source().cells() == 31);
  const std::vector<analysis::Cell>& pipe = grid.units[file.unit("GUI_ACTIVE")].cells;
  CHECK(analysis::sum(pipe).samples == 2000);
  CHECK(pipe[9].samples > 0);
  CHECK(pipe[10].samples == 0);
  CHECK(pipe[19].samples == 0);
  CHECK(pipe[20].samples > 0);
  CHECK(analysis::sum(grid.units[file.unit("EA_BUSY")].cells).samples == 1000);
}

/// Windows of a second of radeontop's columns.
void import_means(const std::filesystem::path& path, std::optional<std::uint32_t> samples) {
  store::SessionDescription description;
  description.kind = store::SessionKind::kImport;
  description.origin = "radeontop dump trace.txt";
  SessionRecipe recipe;
  recipe.registers = {"GRBM_STATUS"};
  description.started = TimeAnchor{recipe.start_ns, recipe.start_ns, recipe.start_realtime_ns};
  auto writer = store::SessionWriter::create(path, store::OnExisting::kReplace, description);
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(segment_of(recipe)));
  std::vector<store::WindowMean> means;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t start = recipe.start_ns + i * kNsPerSecond;
    means.push_back({.register_index = 0,
                     .bit = 31,
                     .start_ns = start,
                     .end_ns = start + kNsPerSecond + (i % 2 == 0 ? 9 : -9) * kNsPerMs,
                     .busy = i < 10 ? 0.5 : 1,
                     .samples = samples});
  }
  REQUIRE(writer->write_window_means(means));
  REQUIRE(writer->finish({recipe.start_ns + 20 * kNsPerSecond, {}, {}}));
}

TEST_CASE("percentages are cells as long as their windows, without ticks") {
  Opened file;
  import_means(file.path(), 120);
  file.open();
  CHECK(file.grid.from_means);
  CHECK_FALSE(file.grid.stand_in_counts);
  CHECK(file.source().cell_s() == doctest::Approx(1).epsilon(0.02));
  const analysis::BusyGrid grid = all_of(file.source());
  const std::vector<analysis::Cell>& pipe = grid.units[file.unit("GUI_ACTIVE")].cells;
  const analysis::Counts sum = analysis::sum(pipe);
  CHECK(sum.samples == 20 * 120);
  CHECK(sum.busy == 10 * 60 + 10 * 120);
  CHECK(sum.changes == 10 * 60);
  CHECK(file.source().ticks(0, 20)->empty());
  CHECK(analysis::sum(grid.units[file.unit("TA_BUSY")].cells).samples == 0);
}

TEST_CASE("percentages of an unknown number of samples count as few, and it is said") {
  Opened file;
  import_means(file.path(), std::nullopt);
  file.open();
  CHECK(file.grid.stand_in_counts);
  const analysis::BusyGrid grid = all_of(file.source());
  CHECK(analysis::sum(grid.units[file.unit("GUI_ACTIVE")].cells).samples ==
        20 * commands::kStandInSamples);
}

TEST_CASE("a session without a known bit has no grid") {
  Opened file;
  SessionRecipe recipe = game();
  recipe.registers = {"NO_SUCH_REGISTER"};
  REQUIRE(make_session(file.path(), recipe));
  const auto session = store::SessionReader::open(file.path());
  REQUIRE(session);
  commands::GpuRecording recording;
  recording.session = &*session;
  recording.segments = {&session->segments().front()};
  recording.map = *regdb::RegisterDatabase::built_in().map_for_table("11.0.0");
  const auto grid = commands::make_session_grid(recording);
  REQUIRE(grid);
  CHECK_FALSE(*grid);
}

}  // namespace
}  // namespace gputrace::test
