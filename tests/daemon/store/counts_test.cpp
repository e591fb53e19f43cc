// Counts against a plain loop over the ticks that went in.
#include <doctest/doctest.h>

#include <random>

#include "daemon/store/session_reader.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using sampler::SampleState;

struct Tick {
  std::int64_t time_ns = 0;
  std::uint32_t word = 0;
  SampleState state = SampleState::kValid;
};

/// Three seconds with sleep, unknown samples, a dropped second and bits of all tempers.
test::SessionRecipe recipe(std::uint64_t seed) {
  test::SessionRecipe recipe;
  recipe.seed = seed;
  recipe.seconds = 4;
  recipe.registers = {"GRBM_STATUS", "GRBM_STATUS2"};
  recipe.word = [seed](std::size_t reg, std::size_t tick) {
    std::mt19937_64 random(seed * 77 + reg * 31 + tick / (reg == 0 ? 1 : 5));
    return static_cast<std::uint32_t>(random()) & static_cast<std::uint32_t>(random()) &
           0x7fffffffU;
  };
  recipe.state = [seed](std::size_t reg, std::size_t tick) {
    std::mt19937_64 random(seed * 13 + tick / 3 + reg * 1'000'000);
    const auto dice = random() % 100;
    return dice < 3 ? SampleState::kReset : dice < 8 ? SampleState::kAsleep : SampleState::kValid;
  };
  return recipe;
}

std::vector<Tick> ticks_of(const test::SessionRecipe& recipe, std::size_t reg) {
  std::vector<Tick> ticks;
  for (std::size_t second = 0; second < 4; ++second) {
    const auto block = test::block_of(recipe, second * 1000, (second + 1) * 1000);
    for (std::size_t i = 0; i < block.size; ++i) {
      ticks.push_back(
          {block.time_ns[i], block.words_of(reg)[i], std::as_const(block).states_of(reg)[i]});
    }
  }
  return ticks;
}

void check_against_loop(const test::SessionRecipe& recipe, const SegmentCounts& counts,
                        const BitCells& bit, TimeSpan span) {
  const std::vector<Tick> ticks = ticks_of(recipe, bit.register_index);
  const RegisterCells& cells = counts.registers[bit.register_index];
  std::vector<std::uint32_t> valid(cells.valid.size());
  auto asleep = valid;
  auto unknown = valid;
  auto busy = valid;
  auto changes = valid;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    if (ticks[i].time_ns < span.start_ns || ticks[i].time_ns >= span.end_ns) {
      continue;
    }
    const auto at = static_cast<std::size_t>((ticks[i].time_ns - counts.first_ns) / kCellNs);
    REQUIRE(at < valid.size());
    const bool is_valid = ticks[i].state == SampleState::kValid;
    ++(is_valid ? valid : ticks[i].state == SampleState::kAsleep ? asleep : unknown)[at];
    busy[at] += is_valid ? ticks[i].word >> bit.bit & 1U : 0;
    if (is_valid && i > 0 && ticks[i - 1].state == SampleState::kValid) {
      changes[at] += (ticks[i].word ^ ticks[i - 1].word) >> bit.bit & 1U;
    }
  }
  CHECK(cells.valid == valid);
  CHECK(cells.asleep == asleep);
  CHECK(cells.unknown == unknown);
  CHECK(bit.busy == busy);
  CHECK(bit.changes == changes);
}

TEST_CASE("counts per 100 ms are those of a loop over the ticks, across cells and blocks") {
  const std::vector<BitRef> bits{{0, 0}, {0, 5}, {0, 31}, {1, 3}, {1, 12}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const test::TempDir dir;
    const auto made = recipe(seed);
    REQUIRE(test::make_session(dir.path() / "a.gputrace", made));
    const Result<SessionReader> reader = SessionReader::open(dir.path() / "a.gputrace");
    REQUIRE(reader);
    const StoredSegment& segment = reader->segments().at(0);
    const auto counts = reader->counts(segment, bits, std::nullopt);
    REQUIRE(counts);
    CHECK(counts->first_ns == made.start_ns);
    CHECK(counts->registers.at(0).valid.size() == 40);
    for (const BitCells& bit : counts->bits) {
      check_against_loop(made, *counts, bit, {0, made.start_ns + 100 * kNsPerSecond});
    }
    // Ends anywhere inside cells, also both in the same one.
    for (const auto& [from, to] :
         {std::pair{123'456'000, 2'987'654'000LL}, std::pair{1'510'000'000, 1'570'000'000LL},
          std::pair{0, 50'000'000LL}}) {
      const TimeSpan span{made.start_ns + from, made.start_ns + to};
      const auto part = reader->counts(segment, bits, span);
      REQUIRE(part);
      for (const BitCells& bit : part->bits) {
        check_against_loop(made, *part, bit, span);
      }
    }
  }
}

TEST_CASE("a change is not counted across dropped ticks") {
  const test::TempDir dir;
  Result<SessionWriter> writer =
      SessionWriter::create(dir.path() / "a.gputrace", OnExisting::kRefuse, {});
  REQUIRE(writer);
  test::SessionRecipe made;
  made.word = [](std::size_t, std::size_t tick) { return tick < 1000 ? 0U : 1U; };
  for (const std::uint32_t dropped : {0U, 7U}) {
    CAPTURE(dropped);
    REQUIRE(writer->begin_segment(test::segment_of(made)));
    REQUIRE(writer->write_block(test::block_of(made, 0, 1000)));
    auto second = test::block_of(made, 1000, 2000);
    second.dropped_ticks = dropped;
    REQUIRE(writer->write_block(second));
  }
  REQUIRE(writer->finish({}));
  const Result<SessionReader> reader = SessionReader::open(dir.path() / "a.gputrace");
  REQUIRE(reader);
  const std::vector<BitRef> bits{{0, 0}};
  const auto kept = reader->counts(reader->segments().at(0), bits, std::nullopt);
  const auto broken = reader->counts(reader->segments().at(1), bits, std::nullopt);
  CHECK(kept.value().bits[0].changes[10] == 1);
  CHECK(broken.value().bits[0].changes[10] == 0);
}

TEST_CASE("samples are counted by state, whole and in a span") {
  const test::TempDir dir;
  const auto made = recipe(3);
  REQUIRE(test::make_session(dir.path() / "a.gputrace", made));
  const Result<SessionReader> reader = SessionReader::open(dir.path() / "a.gputrace");
  REQUIRE(reader);
  for (const TimeSpan span : {TimeSpan{made.start_ns, made.start_ns + 4 * kNsPerSecond},
                              TimeSpan{made.start_ns + 700'000, made.start_ns + 1'234'567'000}}) {
    const auto states = reader->state_counts(reader->segments().at(0), span);
    REQUIRE(states);
    for (std::size_t reg = 0; reg < 2; ++reg) {
      std::array<std::uint64_t, 8> expected{};
      for (const Tick& tick : ticks_of(made, reg)) {
        expected[static_cast<std::size_t>(tick.state)] +=
            tick.time_ns >= span.start_ns && tick.time_ns < span.end_ns ? 1 : 0;
      }
      CHECK((*states)[reg].by_state == expected);
    }
  }
}

TEST_CASE("ticks of a span are those inside it") {
  const test::TempDir dir;
  const auto made = recipe(4);
  REQUIRE(test::make_session(dir.path() / "a.gputrace", made));
  const Result<SessionReader> reader = SessionReader::open(dir.path() / "a.gputrace");
  REQUIRE(reader);
  const TimeSpan span{made.start_ns + 999'500'000, made.start_ns + 3'000'500'000};
  std::vector<Tick> expected = ticks_of(made, 1);
  std::erase_if(expected, [&](const Tick& tick) {
    return tick.time_ns < span.start_ns || tick.time_ns >= span.end_ns;
  });
  std::size_t at = 0;
  REQUIRE(reader->for_each_block(reader->segments().at(0), span,
                                 [&](const sampler::SampleBlock& block) -> Status {
                                   for (std::size_t i = 0; i < block.size; ++i, ++at) {
                                     REQUIRE(at < expected.size());
                                     REQUIRE(block.time_ns[i] == expected[at].time_ns);
                                     REQUIRE(block.words_of(1)[i] == expected[at].word);
                                     REQUIRE(block.states_of(1)[i] == expected[at].state);
                                   }
                                   return {};
                                 }));
  CHECK(at == expected.size());
}

}  // namespace
}  // namespace gputrace::store
