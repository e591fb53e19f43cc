// Phases of recordings whose limits are known, and of recordings that are odd.
#include "cli/analysis/phase.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string_view>

#include "cli/analysis/phase/stretch_sum.h"
#include "tests/cli/analysis/class_profiles.h"
#include "tests/support/busy_signal.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using analysis::BusyGrid;
using analysis::Phase;
using analysis::Tick;
using analysis::UnitKey;

std::vector<double> duty(std::string_view profile) {
  for (const ClassProfile& known : class_profiles()) {
    if (known.name == profile) {
      return known.busy;
    }
  }
  return std::vector<double>(profile_units().size());  // "idle"
}

SignalPhase steady(std::string_view profile, double seconds) {
  return {.seconds = seconds, .passes = {{.share = 1, .duty = duty(profile)}}};
}

BusySignal signal(std::vector<SignalPhase> phases) {
  BusySignal made;
  made.seed = 5;
  made.units = profile_units();
  made.relaxation_ms = std::vector<double>(made.units.size(), 1.5);
  made.phases = std::move(phases);
  return made;
}

std::vector<Phase> phases_of(const analysis::GridSource& source,
                             const analysis::WitnessOf& witness = {}) {
  auto phases = analysis::find_phases(source, witness, {});
  REQUIRE_MESSAGE(phases.has_value(), error_text(phases));
  return std::move(*phases);
}

std::vector<Phase> phases_of(const BusySignal& made, const analysis::WitnessOf& witness = {}) {
  return phases_of(generate(made), witness);
}

std::vector<std::string_view> classes(const std::vector<Phase>& phases) {
  std::vector<std::string_view> names;
  names.reserve(phases.size());
  for (const Phase& phase : phases) {
    names.push_back(analysis::to_string(phase.whole.verdict.bottleneck));
  }
  return names;
}

using Names = std::vector<std::string_view>;

/// Cells without ticks, as of an import; cell `i` has what `fill` gives it.
class FakeSource : public analysis::GridSource {
 public:
  std::size_t count = 100;
  bool fails = false;
  bool misfits = false;

  [[nodiscard]] const std::vector<UnitKey>& units() const override { return profile_units(); }
  [[nodiscard]] double start_s() const override { return 2; }
  [[nodiscard]] double cell_s() const override { return 0.1; }
  [[nodiscard]] std::size_t cells() const override { return count; }
  [[nodiscard]] Result<BusyGrid> read(std::size_t /*first*/, std::size_t cells) const override {
    if (fails) {
      return fail(ErrorCode::kCorrupt, "a block of the recording is damaged");
    }
    BusyGrid grid;
    grid.asleep.resize(misfits ? cells + 1 : cells);
    grid.unknown.resize(cells);
    const std::vector<double> busy = duty("texture");
    for (std::size_t u = 0; u < units().size(); ++u) {
      const auto hits = static_cast<std::uint32_t>(std::lround(100 * busy[u]));
      grid.units.push_back({units()[u], std::vector<analysis::Cell>(
                                            cells, {.samples = 100, .busy = hits, .changes = 2})});
    }
    return grid;
  }
  [[nodiscard]] Result<std::vector<Tick>> ticks(double, double) const override {
    return std::vector<Tick>{};
  }
};

}  // namespace

TEST_CASE("phases have the classes and the times of what was recorded") {
  const auto phases =
      phases_of(signal({steady("cpu", 6), steady("game, 54 W", 6), steady("shaders of a game", 6),
                        steady("raster", 6), steady("idle", 6), steady("high intensity", 6)}));
  CHECK(classes(phases) == Names{"cpu", "memory", "compute", "raster", "idle", "compute"});
  for (std::size_t i = 0; i < phases.size(); ++i) {
    CHECK(std::abs(phases[i].whole.start_s - 6.0 * static_cast<double>(i)) < 0.03);
    CHECK(phases[i].whole.units.size() == profile_units().size());
    CHECK(phases[i].scenes.size() == 1);
  }
  CHECK(std::abs(phases.back().whole.end_s - 36) < 1e-9);
}

TEST_CASE("neighbours of one class are one phase of several scenes") {
  const auto phases =
      phases_of(signal({steady("low intensity", 8), steady("game, 54 W", 8), steady("cpu", 8)}));
  REQUIRE(classes(phases) == Names{"memory", "cpu"});
  REQUIRE(phases[0].scenes.size() == 2);
  CHECK(phases[0].whole.end_s == phases[0].scenes[1].end_s);
  CHECK(phases[0].scenes[0].end_s == phases[0].scenes[1].start_s);
  // The phase is about all of its time.
  const auto& ta = phases[0].whole.units[2];
  CHECK(ta.busy == doctest::Approx((0.95 + 0.83) / 2).epsilon(0.02));
  CHECK(ta.counts->samples > 15'000);
}

TEST_CASE("scenes of one limit that differ do not make their phase unsure") {
  // Written colour, then a kernel: memory both times, and the mean of the two is no work at all.
  std::vector<double> fill(profile_units().size(), .97);
  fill[2] = fill[3] = fill[10] = fill[11] = 0;
  BusySignal made = signal({steady("low intensity", 5), steady("low intensity", 5)});
  made.phases[0].passes[0].duty = fill;
  const auto phases = phases_of(made);
  REQUIRE(classes(phases) == Names{"memory"});
  REQUIRE(phases[0].scenes.size() == 2);
  CHECK(phases[0].whole.verdict.confidence >= 0.7);
  CHECK(phases[0].whole.verdict.evidence.front().find("scenes differ") != std::string::npos);
}

TEST_CASE("a phase of half a second is found, and what is shorter joins what is beside it") {
  CHECK(classes(phases_of(signal(
            {steady("game, 54 W", 5), steady("high intensity", 0.5), steady("game, 54 W", 5)}))) ==
        Names{"memory", "compute", "memory"});
  CHECK(classes(phases_of(signal({steady("game, 54 W", 5), steady("high intensity", 0.25),
                                  steady("game, 54 W", 5)}))) == Names{"memory"});
}

TEST_CASE("passes of frames stay inside a phase") {
  BusySignal made = signal({steady("cpu", 5)});
  made.phases.push_back({.seconds = 20,
                         .passes = {{.share = 0.3, .duty = duty("raster")},
                                    {.share = 0.7, .duty = duty("low intensity")}},
                         .fps = 20,
                         .jitter = 0.05});
  const auto phases = phases_of(made);
  REQUIRE(phases.size() == 2);
  CHECK(phases[1].scenes.size() == 1);
}

TEST_CASE("slow wandering of 2 to 5 points changes no class") {
  for (const std::string_view profile : {"game, 54 W", "high intensity", "texture"}) {
    for (const double points : {0.02, 0.05}) {
      CAPTURE(profile);
      CAPTURE(points);
      BusySignal made = signal({steady(profile, 120)});
      made.wander = points;
      CHECK(phases_of(made).size() == 1);
    }
  }
}

TEST_CASE("a GPU that slept was idle; a suspended machine leaves a gap") {
  BusySignal made = signal({steady("texture", 5), steady("idle", 4), steady("texture", 5)});
  made.phases[1].power = SignalPower::kAsleep;
  const auto slept = phases_of(made);
  REQUIRE(classes(slept) == Names{"texture", "idle", "texture"});
  CHECK(slept[1].whole.asleep_share > 0.9);

  made.phases[1].power = SignalPower::kSuspended;
  const auto suspended = phases_of(made);
  REQUIRE(classes(suspended) == Names{"texture", "texture"});
  CHECK(suspended[1].whole.start_s - suspended[0].whole.end_s > 3.5);
}

TEST_CASE("a hole that ends inside a cell is no phase of too few samples") {
  SignalPhase gap = steady("idle", 9.998);  // the last cell has two samples of what comes next
  gap.power = SignalPower::kSuspended;
  const auto phases = phases_of(signal({steady("texture", 6), gap, steady("texture", 6)}));
  REQUIRE(classes(phases) == Names{"texture", "texture"});
  CHECK(phases[0].whole.end_s < 6.1);
  CHECK(phases[1].whole.start_s > 15.8);
}

TEST_CASE("samples unknown here and there: the same class, hardly less surely") {
  BusySignal made = signal({steady("texture", 10)});
  const double whole = phases_of(made).at(0).whole.verdict.confidence;
  made.unknown = 0.5;
  const auto phases = phases_of(made);
  REQUIRE(classes(phases) == Names{"texture"});
  CHECK(phases[0].whole.unknown_share == doctest::Approx(0.5).epsilon(0.05));
  CHECK(phases[0].whole.verdict.confidence >= whole - 0.05);
}

analysis::StretchSum sum_of(const std::vector<std::pair<analysis::Cell, std::uint32_t>>& cells) {
  analysis::BusyGrid grid;
  grid.units.push_back({{"GRBM_STATUS", "TA_BUSY"}, {}});
  for (const auto& [cell, unknown] : cells) {
    grid.units[0].cells.push_back(cell);
    grid.unknown.push_back(unknown);
  }
  grid.asleep.resize(cells.size());
  analysis::StretchSum sum(1);
  sum.add(grid, 0, cells.size());
  return sum;
}

TEST_CASE("time of which nothing is known is told from samples that are missing here and there") {
  const analysis::Cell known{.samples = 100, .busy = 60, .changes = 40};
  const analysis::Cell half{.samples = 50, .busy = 30, .changes = 20};
  CHECK(sum_of({{known, 0}, {known, 0}}).unseen_share() == 0);
  CHECK(sum_of({{half, 50}, {half, 50}}).unseen_share() == 0);
  CHECK(sum_of({{known, 0}, {{}, 100}}).unseen_share() == doctest::Approx(0.5));
  CHECK(sum_of({{half, 50}, {half, 50}}).unknown_share() == doctest::Approx(0.5));
}

TEST_CASE("samples that are missing while a unit is busy widen what is known of it") {
  const std::vector<analysis::UnitKey> keys{{"GRBM_STATUS", "TA_BUSY"}};
  const analysis::Cell idle{.samples = 100, .busy = 0, .changes = 0};
  const analysis::Cell busy{.samples = 20, .busy = 20, .changes = 0};
  // By samples 1 of 6 is busy, by time one half.
  const auto related = sum_of({{idle, 0}, {busy, 80}, {idle, 0}, {busy, 80}}).units(keys);
  CHECK(related[0].missing_shift == doctest::Approx(1.0 / 2 - 1.0 / 6));
  const analysis::Cell mixed{.samples = 50, .busy = 25, .changes = 20};
  CHECK(sum_of({{mixed, 50}, {mixed, 50}}).units(keys)[0].missing_shift == doctest::Approx(0));
  CHECK(sum_of({{idle, 0}, {busy, 0}}).units(keys)[0].missing_shift == 0);
}

TEST_CASE("memory's witness is asked for each stretch") {
  const analysis::WitnessOf witness = [](double start_s, double) {
    return start_s < 4 ? std::optional(dram_bytes(71, 73)) : std::nullopt;
  };
  const auto phases = phases_of(
      signal({steady("low intensity", 5), steady("cpu", 5), steady("low intensity", 5)}), witness);
  CHECK(classes(phases) == Names{"bandwidth", "cpu", "memory"});
}

TEST_CASE("bandwidth and latency that the busy bits do not tell apart are two phases") {
  // Sensors speak for a tenth of a second; the chase begins at 10 s.
  const analysis::WitnessOf witness = [](double start_s, double end_s) {
    const double streams = std::clamp((10 - start_s) / (end_s - start_s), 0.0, 1.0);
    return std::optional(dram_bytes(71 * streams + 2 * (1 - streams), 73));
  };
  const auto phases = phases_of(signal({steady("low intensity", 20)}), witness);
  REQUIRE(classes(phases) == Names{"bandwidth", "latency"});
  CHECK(std::abs(phases[1].whole.start_s - 10) <= 0.2);
  CHECK(phases[0].whole.end_s == phases[1].whole.start_s);
}

TEST_CASE("traffic that changes while something else is the limit changes no phase") {
  const analysis::WitnessOf witness = [](double start_s, double) {
    return std::optional(dram_bytes(start_s < 10 ? 71 : 2, 73));
  };
  CHECK(classes(phases_of(signal({steady("texture", 20)}), witness)) == Names{"texture"});
}

TEST_CASE("a short scene that memory's witness leaves out belongs to its neighbour") {
  const analysis::WitnessOf witness = [](double start_s, double end_s) {
    return end_s - start_s > 3 ? std::optional(dram_bytes(71, 73)) : std::nullopt;
  };
  const auto phases =
      phases_of(signal({steady("low intensity", 6), steady("game, 54 W", 2)}), witness);
  REQUIRE(classes(phases) == Names{"bandwidth"});
  CHECK(phases[0].scenes.size() == 2);
  CHECK(phases[0].scenes[1].verdict.bottleneck == Bottleneck::kMemory);
}

TEST_CASE("one second, nothing at all, and nothing but unreadable samples") {
  CHECK(classes(phases_of(signal({steady("raster", 1)}))) == Names{"raster"});

  FakeSource source;
  source.count = 0;
  CHECK(phases_of(source).empty());

  BusySignal made = signal({steady("raster", 3)});
  made.unknown = 1;
  made.unknown_run = 1e9;
  const auto unreadable = phases_of(made);
  REQUIRE(classes(unreadable) == Names{"unknown"});
  CHECK_FALSE(unreadable[0].whole.verdict.would_change.empty());
}

TEST_CASE("windows of other tools have no ticks and start where they start") {
  const FakeSource source;
  const auto phases = phases_of(source);
  REQUIRE(classes(phases) == Names{"texture"});
  CHECK(phases[0].whole.start_s == 2);
  CHECK(phases[0].whole.end_s == doctest::Approx(12));
}

TEST_CASE("a recording that cannot be read or does not fit together is an error") {
  FakeSource source;
  source.fails = true;
  CHECK(error_text(analysis::find_phases(source, {}, {})).find("damaged") != std::string::npos);
  source.fails = false;
  source.misfits = true;
  CHECK(error_text(analysis::find_phases(source, {}, {})).find("do not fit together") !=
        std::string::npos);
}

}  // namespace gputrace::test
