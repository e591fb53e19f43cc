#include "cli/analysis/change_point.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/busy_signal_cases.h"

namespace gputrace::analysis {
namespace {

using test::BusySignal;
using test::GeneratedSource;
using test::SignalPhase;
using test::SignalPower;

std::vector<double> times_in(const GridSource& source) {
  const auto points = find_change_points(source);
  REQUIRE(points.has_value());
  std::vector<double> times;
  std::size_t before = 0;
  for (const ChangePoint& point : *points) {
    CHECK(point.cell > before);
    CHECK(point.cell < source.cells());
    const double edge_s = source.start_s() + static_cast<double>(point.cell) * source.cell_s();
    CHECK(std::abs(point.at_s - edge_s) <= source.cell_s());
    before = point.cell;
    times.push_back(point.at_s);
  }
  return times;
}

/// As many as in truth, each within `reach_s` of its own.
void check_all_found(const GridSource& source, const std::vector<double>& truth, double reach_s) {
  const std::vector<double> found = times_in(source);
  CAPTURE(found);
  CAPTURE(truth);
  REQUIRE(found.size() == truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    CHECK(std::abs(found[i] - truth[i]) <= reach_s);
  }
}

/// Six units: three at 0.9 and three at 0.2 in phases of even number, the other way round in
/// others.
BusySignal alternating(std::uint64_t seed, const std::vector<double>& seconds) {
  BusySignal signal;
  signal.seed = seed;
  signal.units = test::signal_units();
  signal.units.resize(6);
  signal.relaxation_ms.assign(6, 2);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    std::vector<double> duty{.9, .9, .9, .2, .2, .2};
    if (i % 2 == 1) {
      std::reverse(duty.begin(), duty.end());
    }
    signal.phases.push_back({.seconds = seconds[i], .passes = {{.share = 1, .duty = duty}}});
  }
  return signal;
}

TEST_CASE("changes of independent units are placed within 30 ms") {
  for (const std::uint64_t seed : {3001U, 3002U, 3003U}) {
    CAPTURE(seed);
    const auto source = generate(test::simple_recording(seed));
    check_all_found(source, source.true_changes(), 0.03);
  }
}

TEST_CASE(
    "units with a common drive, frame gates, unknown and missing samples do not hide changes") {
  const auto source = generate(test::hard_recording(3000, 4, 8, 0.7));
  check_all_found(source, source.true_changes(), 0.15);
}

TEST_CASE("half a second in which the memory side is less busy is found") {
  const auto fast = generate(test::short_phase(3000, 1, 2, 0.5, 0.26));
  check_all_found(fast, fast.true_changes(), 0.15);
  const auto slow = generate(test::short_phase(3000, 4, 8, 0.5, 0.52));
  check_all_found(slow, slow.true_changes(), 0.15);
}

TEST_CASE("no steady load has changes") {
  for (test::StationaryKind& kind : test::stationary_kinds(3000, 30)) {
    CAPTURE(kind.name);
    CHECK(times_in(generate(kind.signal)).empty());
  }
}

TEST_CASE("nothing that moves no unit by 5 points is a change") {
  BusySignal signal = alternating(3000, {120, 120});
  for (std::size_t u = 0; u < 6; ++u) {
    const double duty = signal.phases[0].passes[0].duty[u];
    signal.phases[1].passes[0].duty[u] = duty - 0.03;
  }
  CHECK(times_in(generate(signal)).empty());
  for (double& duty : signal.phases[1].passes[0].duty) {
    duty -= 0.07;
  }
  CHECK(times_in(generate(signal)).size() == 1);
}

TEST_CASE("falling asleep and waking are changes") {
  BusySignal signal = alternating(3000, {7.33, 5, 4.21, 6});
  signal.phases[2].power = SignalPower::kAsleep;
  const auto source = generate(signal);
  check_all_found(source, source.true_changes(), 0.03);
}

TEST_CASE("a recording that is asleep all the time has no change") {
  BusySignal signal = alternating(3000, {20});
  signal.phases[0].power = SignalPower::kAsleep;
  CHECK(times_in(generate(signal)).empty());
}

TEST_CASE("a suspend begins and ends with a change, the same load before and behind it") {
  BusySignal signal = alternating(3000, {10.47, 30.2, 10});
  signal.phases[1].power = SignalPower::kSuspended;
  signal.phases[2].passes = signal.phases[0].passes;
  const auto source = generate(signal);
  check_all_found(source, source.true_changes(), 0.1);
}

TEST_CASE("a hole shorter than a second is no change") {
  BusySignal signal = alternating(3000, {10.4, 0.6, 10});
  signal.phases[1].power = SignalPower::kSuspended;
  signal.phases[2].passes = signal.phases[0].passes;
  CHECK(times_in(generate(signal)).empty());
}

TEST_CASE("a change is found where half of the samples are unknown") {
  BusySignal signal = alternating(3000, {10.4, 12.3, 9});
  signal.unknown = 0.5;
  SUBCASE("single ones") {
    signal.unknown_run = 1;
  }
  SUBCASE("50 ms in a row") {
    signal.unknown_run = 50;
  }
  const auto source = generate(signal);
  check_all_found(source, source.true_changes(), 0.15);
}

TEST_CASE("recordings of a second or less have no phases of their own") {
  CHECK(times_in(generate(alternating(3000, {1}))).empty());
  CHECK(times_in(generate(alternating(3000, {0.05}))).empty());
  BusySignal none = alternating(3000, {});
  CHECK(times_in(generate(none)).empty());
}

TEST_CASE("a register that is read ten times less often than another still counts") {
  BusySignal signal = alternating(3000, {20.4, 15.3});
  signal.second_register = 0.1;
  const std::string rare = signal.units[1].register_name;
  REQUIRE(rare != signal.units[0].register_name);
  // Only the rare units change.
  signal.phases[1].passes = signal.phases[0].passes;
  for (std::size_t u = 0; u < 6; ++u) {
    if (signal.units[u].register_name == rare) {
      signal.phases[1].passes[0].duty[u] = 0.5;
    }
  }
  const auto source = generate(signal);
  check_all_found(source, source.true_changes(), 0.2);
}

TEST_CASE("10 samples a second are searched in longer cells") {
  BusySignal signal = alternating(3000, {120.4, 95, 130});
  signal.rate_hz = 10;
  const auto source = generate(signal);
  check_all_found(source, source.true_changes(), 1);
  BusySignal steady = alternating(3000, {600});
  steady.rate_hz = 10;
  CHECK(times_in(generate(steady)).empty());
}

/// Cells that were made by hand, without ticks.
class PlainSource : public GridSource {
 public:
  PlainSource(double cell_s, std::vector<std::vector<Cell>> cells)
      : cell_s_(cell_s), cells_(std::move(cells)) {
    for (std::size_t u = 0; u < cells_.size(); ++u) {
      units_.push_back({"radeontop", "unit " + std::to_string(u)});
    }
  }
  [[nodiscard]] const std::vector<UnitKey>& units() const override { return units_; }
  [[nodiscard]] double start_s() const override { return 0; }
  [[nodiscard]] double cell_s() const override { return cell_s_; }
  [[nodiscard]] std::size_t cells() const override { return cells_.front().size(); }
  [[nodiscard]] Result<BusyGrid> read(std::size_t first, std::size_t count) const override {
    if (fails) {
      return fail(ErrorCode::kIo, "cannot read the recording");
    }
    BusyGrid grid;
    const auto begin = static_cast<std::ptrdiff_t>(first);
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const auto from = cells_[u].begin() + begin;
      grid.units.push_back({units_[u], {from, from + static_cast<std::ptrdiff_t>(count)}});
    }
    grid.asleep.resize(count);
    grid.unknown.resize(misfit ? count + 1 : count);
    return grid;
  }
  [[nodiscard]] Result<std::vector<Tick>> ticks(double, double) const override {
    return std::vector<Tick>{};
  }

  bool fails = false;
  bool misfit = false;

 private:
  double cell_s_;
  std::vector<std::vector<Cell>> cells_;
  std::vector<UnitKey> units_;
};

/// Percentages as other tools print them: a number of samples and of busy ones, changes unknown.
PlainSource percentages(double cell_s, std::size_t cells, const std::vector<std::size_t>& changes) {
  test::SignalRandom random(3000);
  std::vector<std::vector<Cell>> all(3, std::vector<Cell>(cells));
  for (std::size_t i = 0; i < cells; ++i) {
    const auto phase = std::count_if(changes.begin(), changes.end(),
                                     [&](std::size_t change) { return change <= i; });
    for (std::size_t u = 0; u < all.size(); ++u) {
      const double share = (phase % 2 == 0) == (u == 0) ? 0.8 : 0.4;
      const double moved = std::clamp(share + 0.04 * random.normal(), 0.0, 1.0);
      all[u][i] = {120, static_cast<std::uint32_t>(std::lround(moved * 120)), 0};
    }
  }
  return {cell_s, std::move(all)};
}

TEST_CASE("windows of a second from other tools have changes at their edges") {
  const auto points = find_change_points(percentages(1, 200, {60, 130}));
  REQUIRE(points.has_value());
  REQUIRE(points->size() == 2);
  CHECK((*points)[0].cell == 60);
  CHECK((*points)[0].at_s == 60);
  CHECK((*points)[1].cell == 130);
  CHECK(times_in(percentages(1, 200, {})).empty());
}

TEST_CASE("a recording of hours is searched in parts with the same result") {
  // Changes beside the ends of parts of two hours, and none for hours.
  const std::vector<std::size_t> changes{100, 63'000, 63'900, 71'990, 72'010, 127'000, 215'000};
  const auto points = find_change_points(percentages(0.1, 220'000, changes));
  REQUIRE(points.has_value());
  std::vector<std::size_t> found;
  for (const ChangePoint& point : *points) {
    found.push_back(point.cell);
  }
  CHECK(found == changes);
}

TEST_CASE("a recording that cannot be read says so") {
  PlainSource source = percentages(0.1, 100, {});
  source.fails = true;
  const auto points = find_change_points(source);
  REQUIRE_FALSE(points.has_value());
  CHECK(points.error().code == ErrorCode::kIo);
  source.fails = false;
  source.misfit = true;
  const auto misfit = find_change_points(source);
  REQUIRE_FALSE(misfit.has_value());
  CHECK(misfit.error().code == ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace gputrace::analysis
