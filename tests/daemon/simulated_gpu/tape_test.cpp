#include "daemon/simulated_gpu/tape.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

#include "daemon/simulated_gpu/network.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

TapeSegment segment(std::uint64_t time_ns, UnitMask mask) {
  return time_ns << 32U | mask;
}

/// What the tape ought to say: every unit's intervals on a grid of nanoseconds.
std::vector<UnitMask> random_states(BusyRecorder& busy, std::uint32_t length_ns, unsigned seed) {
  std::vector<UnitMask> states(length_ns, 0);
  std::mt19937 generator(seed);
  const auto below = [&generator](unsigned limit) {
    return static_cast<std::uint32_t>(generator() % limit);
  };
  for (const Unit unit : {Unit::kTa, Unit::kEa, Unit::kCb, Unit::kCpf}) {
    std::uint32_t time = below(50);
    while (time + 200 < length_ns) {
      const std::uint32_t end = time + 1 + below(100);
      busy.add(unit, time, end);
      for (std::uint32_t i = time; i < end; ++i) {
        states[i] |= bit_of(unit) | bit_of(Unit::kGui);
      }
      time = end + 1 + below(90);
    }
  }
  return states;
}

void check_against(const Tape& tape, const std::vector<UnitMask>& states) {
  REQUIRE(tape.length_ns() == states.size());
  std::array<std::uint64_t, kUnitCount> busy{};
  bool equal = true;
  for (std::size_t x = 0; x < states.size(); ++x) {
    equal = equal && tape.state_at(x) == states[x];
    for (const Unit unit : {Unit::kTa, Unit::kEa, Unit::kGui}) {
      equal = equal && tape.busy_ns(x, unit) == busy[index_of(unit)];
      busy[index_of(unit)] += (states[x] & bit_of(unit)) != 0 ? 1 : 0;
    }
  }
  CHECK(equal);
  CHECK(tape.busy_ns(states.size(), Unit::kGui) == busy[index_of(Unit::kGui)]);
}

TEST_CASE("look-up and integral of a tape equal a dense scan") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    BusyRecorder busy(0, true);
    const std::vector<UnitMask> states = random_states(busy, 20'000, seed);
    check_against(Tape::from_recording(busy, {.length_ns = 20'000}), states);
  }
}

TEST_CASE("a repeated body is played as often as it says, in look-up and integral") {
  BusyRecorder busy(0, true);
  const std::vector<UnitMask> once = random_states(busy, 5'000, 7);
  const Tape tape = Tape::from_recording(
      busy, {.length_ns = 5'000, .body_begin_ns = 1'003, .body_end_ns = 3'998, .repeats = 3});
  std::vector<UnitMask> states(once.begin(), once.begin() + 3'998);
  for (int i = 0; i < 3; ++i) {
    states.insert(states.end(), once.begin() + 1'003, once.begin() + 3'998);
  }
  states.insert(states.end(), once.begin() + 3'998, once.end());
  check_against(tape, states);
}

TEST_CASE("idle gaps up to the hold time close, longer ones stay") {
  BusyRecorder busy(10, true);
  busy.add(Unit::kTa, 100, 200);
  busy.add(Unit::kTa, 300, 310);
  busy.add(Unit::kTa, 210, 250);  // 10 after the first
  busy.add(Unit::kTa, 400, 400);  // nothing
  const Tape tape = Tape::from_recording(busy, {.length_ns = 500});
  CHECK(tape.busy_ns(500, Unit::kTa) == 150 + 10);
  CHECK(tape.state_at(205) == (bit_of(Unit::kTa) | bit_of(Unit::kGui)));
  CHECK(tape.state_at(275) == 0);
}

TEST_CASE("a recorder that does not record keeps nothing") {
  BusyRecorder busy(10, false);
  busy.add(Unit::kTa, 100, 200);
  CHECK(busy.take(Unit::kTa).empty());
}

TEST_CASE("segments of a tape make the same tape again") {
  BusyRecorder busy(0, true);
  const std::vector<UnitMask> states = random_states(busy, 10'000, 5);
  const Tape tape = Tape::from_recording(busy, {.length_ns = 10'000});
  const auto again =
      Tape::from_segments({tape.segments().begin(), tape.segments().end()}, tape.shape());
  REQUIRE(again.has_value());
  check_against(*again, states);
}

TEST_CASE("segments that cannot be a tape are refused") {
  const TapeShape shape{.length_ns = 100};
  CHECK(Tape::from_segments({segment(0, 0)}, shape).has_value());
  CHECK_FALSE(Tape::from_segments({}, shape).has_value());
  CHECK_FALSE(Tape::from_segments({segment(1, 0)}, shape).has_value());
  CHECK_FALSE(Tape::from_segments({segment(0, 0), segment(5, 1), segment(5, 0)}, shape));
  CHECK_FALSE(Tape::from_segments({segment(0, 0), segment(101, 1)}, shape).has_value());
  CHECK_FALSE(Tape::from_segments({segment(0, 1U << kUnitCount)}, shape).has_value());
  CHECK_FALSE(Tape::from_segments({segment(0, 0)}, {.length_ns = 0}).has_value());
  CHECK_FALSE(
      Tape::from_segments({segment(0, 0)}, {.length_ns = 9, .body_end_ns = 10}).has_value());
  CHECK_FALSE(
      Tape::from_segments({segment(0, 0)},
                          {.length_ns = 9, .body_begin_ns = 5, .body_end_ns = 5, .repeats = 1})
          .has_value());
}

TEST_CASE("a server that conserves work serves early what comes late in its queue") {
  Server server;
  CHECK(server.serve(0, 100, 10) == 110);  // idle until 100
  CHECK(server.serve(0, 50, 10) == 60);    // not behind the one that arrives later
  Server in_order;
  CHECK(in_order.serve_in_order(100, 10) == 110);
  CHECK(in_order.serve_in_order(50, 10) == 120);
}

}  // namespace
}  // namespace gputrace::test
