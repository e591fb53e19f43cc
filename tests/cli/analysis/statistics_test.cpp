#include "cli/analysis/statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "cli/analysis/window.h"

using gputrace::analysis::Cell;
using gputrace::analysis::Counts;
using gputrace::analysis::Interval;

namespace {

constexpr Interval kNone{.lower = -1, .upper = -1};

Interval workload(const Counts& total, std::span<const Cell> cells) {
  return gputrace::analysis::ci95(total, cells).value_or(kNone);
}
Interval recording(const Counts& total) {
  return gputrace::analysis::ci95_run(total).value_or(kNone);
}
double half(const Interval& interval) {
  return (interval.upper - interval.lower) / 2;
}

}  // namespace

TEST_CASE("a thousand idle samples leave up to 5.4 % for the workload, 0.3 % for the recording") {
  const Counts idle{.samples = 1000, .busy = 0, .changes = 0};
  CHECK(workload(idle, {}).lower == 0);
  CHECK(workload(idle, {}).upper == doctest::Approx(0.054).epsilon(0.01));
  CHECK(recording(idle).lower == 0);
  CHECK(recording(idle).upper == doctest::Approx(0.003));
}

TEST_CASE("a unit that was always busy mirrors one that was always idle") {
  const Counts idle{.samples = 1000, .busy = 0, .changes = 0};
  const Counts busy{.samples = 1000, .busy = 1000, .changes = 0};
  CHECK(workload(busy, {}).upper == 1);
  CHECK(1 - workload(busy, {}).lower == doctest::Approx(workload(idle, {}).upper));
  CHECK(recording(busy).upper == 1);
  CHECK(1 - recording(busy).lower == doctest::Approx(recording(idle).upper));
}

TEST_CASE("fewer than ten samples give no interval") {
  const Counts nine{.samples = 9, .busy = 4, .changes = 3};
  CHECK_FALSE(gputrace::analysis::ci95(nine, {}));
  CHECK_FALSE(gputrace::analysis::ci95_run(nine));
  const Counts ten{.samples = 10, .busy = 4, .changes = 3};
  CHECK(gputrace::analysis::ci95(ten, {}));
  CHECK(gputrace::analysis::ci95_run(ten));
  CHECK_FALSE(gputrace::analysis::ci95(Counts{}, {}));
}

TEST_CASE("the more a unit stays as it is, the wider the workload and the narrower the recording") {
  // p = 0.93, n = 1000; T expected for relaxation times of 1 and 8 ms at 1 kHz.
  // Half widths of simulated two-state signals: 2.5 and 6.4 points for the workload, 0.8 and 0.3
  // for the recording.
  const Counts quick{.samples = 1000, .busy = 930, .changes = 78};
  const Counts slow{.samples = 1000, .busy = 930, .changes = 15};
  CHECK(half(workload(quick, {})) == doctest::Approx(0.025).epsilon(0.15));
  CHECK(half(workload(slow, {})) == doctest::Approx(0.064).epsilon(0.15));
  CHECK(half(recording(quick)) == doctest::Approx(0.008).epsilon(0.15));
  CHECK(half(recording(slow)) == doctest::Approx(0.003).epsilon(0.15));
}

TEST_CASE("independent samples get the plain Wilson interval for both questions") {
  const Counts counts{.samples = 1000, .busy = 500, .changes = 500};
  CHECK(workload(counts, {}).lower == doctest::Approx(0.469).epsilon(0.005));
  CHECK(recording(counts).lower == doctest::Approx(0.469).epsilon(0.005));
}

TEST_CASE("intervals agree with a calculation in Python, written from the formulas alone") {
  // Quantile of t by integrating its density, the correlation time by bisection in double range.
  struct Row {
    Counts counts;
    Interval workload;
    Interval recording;
  };
  const std::vector<Row> rows{
      {{.samples = 10, .busy = 0, .changes = 0}, {0.000000, 0.847216}, {0.000000, 0.300000}},
      {{.samples = 10, .busy = 10, .changes = 0}, {0.152784, 1.000000}, {0.700000, 1.000000}},
      {{.samples = 10, .busy = 5, .changes = 1}, {0.048026, 0.951974}, {0.385756, 0.614244}},
      {{.samples = 10, .busy = 5, .changes = 9}, {0.217168, 0.782832}, {0.236593, 0.763407}},
      {{.samples = 100, .busy = 50, .changes = 10}, {0.228063, 0.771937}, {0.472521, 0.527479}},
      {{.samples = 100, .busy = 1, .changes = 2}, {0.000464, 0.180115}, {0.003094, 0.031829}},
      {{.samples = 1000, .busy = 0, .changes = 0}, {0.000000, 0.053993}, {0.000000, 0.003000}},
      {{.samples = 1000, .busy = 930, .changes = 78}, {0.900324, 0.951319}, {0.921455, 0.937678}},
      {{.samples = 1000, .busy = 930, .changes = 15}, {0.828371, 0.973384}, {0.926672, 0.933188}},
      {{.samples = 2999, .busy = 1500, .changes = 3}, {0.123648, 0.876497}, {0.499633, 0.500701}},
      {{.samples = 5000, .busy = 2, .changes = 4}, {0.000046, 0.003474}, {0.000167, 0.000957}},
      {{.samples = 1000, .busy = 500, .changes = 1}, {0.071306, 0.928694}, {0.498868, 0.501132}},
      {{.samples = 1000, .busy = 500, .changes = 999}, {0.468996, 0.531004}, {0.469070, 0.530930}},
      {{.samples = 12, .busy = 11, .changes = 2}, {0.338583, 0.995787}, {0.744170, 0.976524}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.counts.samples);
    CAPTURE(row.counts.busy);
    CAPTURE(row.counts.changes);
    const Interval repeat = workload(row.counts, {});
    const Interval run = recording(row.counts);
    CHECK(std::abs(repeat.lower - row.workload.lower) < 2e-5);
    CHECK(std::abs(repeat.upper - row.workload.upper) < 2e-5);
    CHECK(std::abs(run.lower - row.recording.lower) < 2e-5);
    CHECK(std::abs(run.upper - row.recording.upper) < 2e-5);
  }
}

TEST_CASE("a very slow unit still has an interval") {
  const Counts counts{.samples = 3'600'000, .busy = 1'800'000, .changes = 1};
  const auto run = recording(counts);
  CHECK(run.lower < 0.5);
  CHECK(run.lower > 0.4999);
}

TEST_CASE("thirty cells that differ widen the interval of the workload") {
  std::vector<Cell> even(60, Cell{.samples = 100, .busy = 50, .changes = 50});
  std::vector<Cell> uneven = even;
  for (std::size_t i = 0; i < uneven.size(); ++i) {
    uneven[i].busy = i < 30 ? 10 : 90;
  }
  const Counts total = gputrace::analysis::sum(even);
  const auto narrow = workload(total, even);
  const auto wide = workload(total, uneven);
  // Means of 0.1 and 0.9: s = 0.4, half width 2.045 * 0.4068 / sqrt(30).
  CHECK(half(wide) == doctest::Approx(0.152).epsilon(0.05));
  CHECK(half(narrow) == doctest::Approx(0.0132).epsilon(0.05));
}

TEST_CASE("cells without samples take no part in the batches") {
  std::vector<Cell> cells;
  for (int i = 0; i < 60; ++i) {
    cells.push_back({.samples = 100, .busy = i % 2 == 0 ? 40U : 60U, .changes = 50});
    cells.push_back({});  // the GPU slept
  }
  const Counts total = gputrace::analysis::sum(cells);
  std::vector<Cell> filled;
  for (const Cell& cell : cells) {
    if (cell.samples > 0) {
      filled.push_back(cell);
    }
  }
  CHECK(workload(total, cells).lower == doctest::Approx(workload(total, filled).lower));
}

TEST_CASE("with fewer than thirty cells the two-state model decides") {
  const std::vector<Cell> cells(29, Cell{.samples = 1000, .busy = 500, .changes = 100});
  const Counts total = gputrace::analysis::sum(cells);
  CHECK(workload(total, cells).lower == doctest::Approx(workload(total, {}).lower));
}
