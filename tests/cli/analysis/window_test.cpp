#include "cli/analysis/window.h"

#include <doctest/doctest.h>

#include <vector>

using gputrace::analysis::Cell;
using gputrace::analysis::round_column_length;

TEST_CASE("a sum over cells holds all three counts") {
  const std::vector<Cell> cells{{.samples = 3, .busy = 2, .changes = 1},
                                {.samples = 4'000'000'000, .busy = 3'000'000'000, .changes = 7},
                                {.samples = 4'000'000'000, .busy = 5, .changes = 0}};
  const auto total = gputrace::analysis::sum(cells);
  CHECK(total.samples == 8'000'000'003U);
  CHECK(total.busy == 3'000'000'007U);
  CHECK(total.changes == 8);
}

TEST_CASE("columns have round lengths and never exceed their number") {
  CHECK(round_column_length(0, 60) == 1);
  CHECK(round_column_length(60, 60) == 1);
  CHECK(round_column_length(61, 60) == 2);
  CHECK(round_column_length(600, 60) == 10);
  CHECK(round_column_length(36'000, 60) == 600);
  CHECK(round_column_length(36'001, 60) == 800);
  for (std::size_t cells = 1; cells < 2'000'000; cells = cells * 3 / 2 + 1) {
    CHECK((cells + 59) / 60 <= round_column_length(cells, 60));
  }
}

TEST_CASE("merged cells keep every count") {
  gputrace::analysis::CellMerger merger(3);
  for (std::uint32_t i = 0; i < 7; ++i) {
    merger.add({.samples = 10, .busy = i, .changes = 1});
  }
  REQUIRE(merger.cells().size() == 3);
  CHECK(merger.cells()[0].samples == 30);
  CHECK(merger.cells()[0].busy == 3);
  CHECK(merger.cells()[2].samples == 10);
  CHECK(gputrace::analysis::sum(merger.cells()).busy == 21);
  CHECK(gputrace::analysis::sum(merger.cells()).changes == 7);
}
