// Bursts and flushes: blocks that end before their second.
#include <doctest/doctest.h>

#include "tests/daemon/sampler/loop_rig.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)
using namespace gputrace::test;     // NOLINT(google-build-using-namespace)

namespace {

constexpr Burst kBurst{100 * kNsPerMs, 5 * kNsPerSecond};

SamplingOptions with_bursts() {
  SamplingOptions options{.rate_hz = 1000};
  options.burst = kBurst;
  return options;
}

}  // namespace

TEST_CASE("a burst's windows lie on the clock itself") {
  CHECK(kBurst.window_from(0) == 0);
  CHECK(kBurst.window_from(99 * kNsPerMs) == 0);
  CHECK(kBurst.window_from(100 * kNsPerMs) == 5 * kNsPerSecond);
  CHECK(kBurst.window_from(5 * kNsPerSecond + 1) == 5 * kNsPerSecond);
}

TEST_CASE("in bursts there is one block a burst, and the rest is neither sampled nor missed") {
  LoopRig rig(with_bursts());  // kStart is the beginning of a window
  rig.stop_at_read(250);
  const auto blocks = rig.run();
  REQUIRE(blocks.size() == 3);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(blocks[i].size == 100);
    CHECK(blocks[i].start_ns == kStart + static_cast<std::int64_t>(i) * kBurst.every_ns);
    CHECK(blocks[i].end_ns == blocks[i].start_ns + kBurst.length_ns);
  }
  CHECK(blocks[2].start_ns == kStart + 2 * kBurst.every_ns);
  CHECK(blocks[2].totals.ticks == 251);
  CHECK(blocks[2].totals.missed == 0);
  for (const std::int64_t time_ns : all_times(blocks)) {
    CHECK((time_ns - kStart) % kBurst.every_ns < kBurst.length_ns);
  }
}

TEST_CASE("a stall over several bursts misses their periods alone") {
  LoopRig rig(with_bursts());
  rig.stall_at_sleep(50, 12 * kNsPerSecond);  // into the rest after the third window
  rig.stop_at_read(120);
  const auto blocks = rig.run();
  CHECK(blocks.back().totals.ticks + blocks.back().totals.missed > 300);
  CHECK(blocks.back().totals.ticks + blocks.back().totals.missed <= 400);
  for (const std::int64_t time_ns : all_times(blocks)) {
    CHECK((time_ns - kStart) % kBurst.every_ns < kBurst.length_ns);
  }
}

TEST_CASE("a stop in the rest ends the loop without a block for it") {
  LoopRig rig(with_bursts());
  rig.clock.on_sleep([&](FakeClock& clock) {
    if (clock.now_ns() > kStart + kNsPerSecond) {
      rig.stop.request_stop();
    }
  });
  const auto blocks = rig.run();
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].size == 100);
  CHECK(blocks[0].end_ns == kStart + kBurst.length_ns);
}

TEST_CASE("a flush hands over the block in hand and loses nothing") {
  LoopRig rig({.rate_hz = 1000});
  std::uint32_t flush = 0;
  rig.reader.on_read([&](std::uint64_t read) {
    if (read == 300) {
      flush = rig.loop.request_flush();
    } else if (read == 1500) {
      rig.stop.request_stop();
    }
  });
  const auto blocks = rig.run();
  REQUIRE(blocks.size() == 3);
  CHECK(flush == 1);
  CHECK(blocks[0].flush == 1);
  CHECK(blocks[0].size == 301);
  CHECK(blocks[1].start_ns == blocks[0].end_ns);
  CHECK(blocks[1].end_ns == kStart + kNsPerSecond);
  CHECK(blocks[2].start_ns == blocks[1].end_ns);
  CHECK(all_times(blocks).size() == 1501);
}

TEST_CASE("a flush with nothing in hand is answered by an empty block") {
  LoopRig rig({.rate_hz = 1});
  rig.clock.on_sleep([&, asked = false](FakeClock& clock) mutable {
    if (!std::exchange(asked, true)) {
      static_cast<void>(rig.loop.request_flush());
    } else if (clock.now_ns() > kStart + 3 * kNsPerSecond) {
      rig.stop.request_stop();
    }
  });
  const auto blocks = rig.run();
  REQUIRE(blocks.size() >= 2);
  CHECK(blocks[0].size == 0);
  CHECK(blocks[0].flush == 1);
  CHECK(blocks[1].start_ns == blocks[0].end_ns);
}

TEST_CASE("blocks that hold something follow each other without a gap, whoever flushes between") {
  LoopRig rig({.rate_hz = 1000});
  bool is_between_ticks = false;
  rig.reader.on_read([&](std::uint64_t read) {
    if (read == 300) {
      static_cast<void>(rig.loop.request_flush());
      is_between_ticks = true;
    } else if (read == 600) {
      rig.stop.request_stop();
    }
  });
  rig.clock.on_sleep([&](FakeClock&) {
    if (std::exchange(is_between_ticks, false)) {
      static_cast<void>(rig.loop.request_flush());
    }
  });
  auto blocks = rig.run();
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[1].flush == 2);
  CHECK(std::erase_if(blocks, [](const auto& block) { return block.size == 0; }) == 1);
  CHECK(blocks[1].start_ns == blocks[0].end_ns);
}

TEST_CASE("the loop says since when a read is in progress") {
  LoopRig rig({.rate_hz = 1000});
  std::int64_t during_ns = 0;
  rig.reader.on_read([&](std::uint64_t read) {
    during_ns = rig.loop.read_began_ns();
    if (read == 3) {
      rig.stop.request_stop();
    }
  });
  const auto blocks = rig.run();
  CHECK(during_ns == blocks[0].time_ns[3]);
  CHECK(rig.loop.read_began_ns() == 0);
}
