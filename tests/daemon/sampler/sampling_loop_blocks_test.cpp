// What the loop hands over: states, costs, segments, dropped ticks.
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "tests/daemon/sampler/loop_rig.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)
using namespace gputrace::test;     // NOLINT(google-build-using-namespace)

TEST_CASE("valid, asleep and unknown are kept apart and all ones is never a word") {
  LoopRig rig({.rate_hz = 1000}, {"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS_SE0"});
  rig.reader.set_words(0, {0xa0003028, 0xffffffff, 0x3028});
  rig.reader.set_state(1, SampleState::kAsleep);
  rig.reader.set_state(2, SampleState::kReset);
  rig.reader.set_word(2, 0x12345678);
  rig.stop_at_read(2);
  const auto blocks = rig.run();
  REQUIRE(blocks.size() == 1);
  const SampleBlock& block = blocks[0];
  REQUIRE(block.size == 3);
  CHECK(block.words[0] == 0xa0003028);
  CHECK(block.states_of(0)[0] == SampleState::kValid);
  CHECK(block.words[1] == 0);
  CHECK(block.states_of(0)[1] == SampleState::kAllOnes);
  CHECK(block.words[2] == 0x3028);
  CHECK(block.states_of(1)[0] == SampleState::kAsleep);
  CHECK(block.states_of(2)[2] == SampleState::kReset);
  CHECK(block.words[2 * block.capacity] == 0);
}

TEST_CASE("costs are summed over the calls that were made") {
  LoopRig rig({.rate_hz = 1000});
  rig.reader.set_cost_ns(2000);
  rig.stop_at_read(9);
  const auto blocks = rig.run();
  CHECK(blocks.back().totals.reads[0] == 10);
  CHECK(blocks.back().totals.read_cost_ns[0] == 20'000);
  CHECK(blocks.back().totals.cpu_ns > 0);

  LoopRig asleep({.rate_hz = 1000});
  asleep.reader.set_cost_ns(0);
  asleep.stop_at_read(9);
  const auto asleep_blocks = asleep.run();
  CHECK(asleep_blocks.back().totals.reads[0] == 0);
  CHECK(asleep_blocks.back().totals.ticks == 10);
}

TEST_CASE("a lost register ends the segment and the next one says why") {
  LoopRig rig({.rate_hz = 1000}, {"GRBM_STATUS", "GRBM_STATUS2"});
  rig.reader.lose_at(500, 0, "the path ended");
  rig.stop_at_read(1499);
  const auto blocks = rig.run();
  REQUIRE(blocks.size() == 3);
  REQUIRE(blocks[0].segment_start);
  CHECK(blocks[0].segment_start->registers.size() == 2);
  CHECK(blocks[0].segment_start->lost.empty());
  CHECK(blocks[0].register_count == 2);
  CHECK(blocks[0].size == 501);
  CHECK(blocks[0].states_of(0)[500] == SampleState::kLost);
  CHECK(blocks[0].totals.ticks == 501);

  REQUIRE(blocks[1].segment_start);
  REQUIRE(blocks[1].segment_start->registers.size() == 1);
  CHECK(blocks[1].segment_start->registers[0].name == "GRBM_STATUS2");
  REQUIRE(blocks[1].segment_start->lost.size() == 1);
  CHECK(blocks[1].segment_start->lost[0].name == "GRBM_STATUS");
  CHECK(blocks[1].segment_start->lost[0].reason == "the path ended");
  CHECK(blocks[1].register_count == 1);
  CHECK(blocks[1].start_ns == blocks[0].end_ns);
  CHECK(blocks[1].end_ns == kStart + kNsPerSecond);
  CHECK_FALSE(blocks[2].segment_start);
  CHECK(blocks[2].totals.ticks == 999);  // counts the new segment alone
  CHECK(blocks[2].totals.missed == 0);
}

TEST_CASE("when the last register is lost the loop ends and says why in an empty block") {
  LoopRig rig({.rate_hz = 1000});
  rig.reader.lose_at(10, 0, "the device was unplugged");
  const auto blocks = rig.run();  // no stop: it would hang
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].size == 11);
  CHECK(blocks[1].size == 0);
  REQUIRE(blocks[1].segment_start);
  CHECK(blocks[1].segment_start->registers.empty());
  CHECK(blocks[1].segment_start->lost.at(0).reason == "the device was unplugged");
}

TEST_CASE("when the reader is over the loop ends with the sample before, and nothing is lost") {
  LoopRig rig({.rate_hz = 1000});
  rig.reader.end_at(10);
  const auto blocks = rig.run();  // no stop: it would hang
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].size == 10);
  CHECK(blocks[0].totals.ticks == 10);
  REQUIRE(blocks[0].segment_start);
  CHECK(blocks[0].segment_start->lost.empty());
  CHECK(rig.reader.reads() == 10);
}

TEST_CASE(
    "ticks without a free block are counted as dropped, in the next block and in the totals") {
  LoopRig rig({.rate_hz = 1000}, {"GRBM_STATUS"}, 2);
  std::vector<SampleBlock> blocks;
  rig.reader.on_read([&](std::uint64_t read) {
    if (read == 2999) {  // the writer was away for two seconds and comes back
      while (SampleBlock* block = rig.queue.pop(0)) {
        blocks.push_back(*block);
        rig.queue.release(block);
      }
    }
    if (read == 3999) {
      rig.stop.request_stop();
    }
  });
  const auto rest = rig.run();
  blocks.insert(blocks.end(), rest.begin(), rest.end());
  REQUIRE(blocks.size() == 4);
  CHECK(blocks[1].end_ns == kStart + 2 * kNsPerSecond);
  CHECK(blocks[2].size == 1);
  CHECK(blocks[2].dropped_ticks == 999);
  CHECK(blocks[2].start_ns == kStart + 2999 * kNsPerMs);
  CHECK(blocks[3].dropped_ticks == 0);
  CHECK(blocks[3].totals.dropped_ticks == 999);
  CHECK(blocks[3].totals.ticks == 4000);
}

TEST_CASE("ticks dropped until the very end are still told when a block is free by then") {
  LoopRig rig({.rate_hz = 1000}, {"GRBM_STATUS"}, 1);
  std::vector<SampleBlock> blocks;
  rig.clock.on_sleep([&](FakeClock& clock) {
    if (clock.now_ns() > kStart + 1500 * kNsPerMs) {
      rig.queue.release(rig.queue.pop(0));
      rig.stop.request_stop();
    }
  });
  const auto rest = rig.run();
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].size == 0);
  CHECK(rest[0].dropped_ticks >= 499);
  CHECK(rest[0].totals.dropped_ticks == rest[0].dropped_ticks);
}

TEST_CASE("losses that no block could announce are announced together later") {
  LoopRig rig({.rate_hz = 1000}, {"A", "B", "C"}, 1);
  rig.reader.lose_at(10, 0, "first");
  rig.reader.lose_at(20, 1, "second");
  std::vector<SampleBlock> blocks;
  rig.reader.on_read([&](std::uint64_t read) {
    if (read == 30) {
      SampleBlock* block = rig.queue.pop(0);
      blocks.push_back(*block);
      rig.queue.release(block);
    } else if (read == 40) {
      rig.stop.request_stop();
    }
  });
  const auto rest = rig.run();
  REQUIRE(rest.size() == 1);
  REQUIRE(rest[0].segment_start);
  REQUIRE(rest[0].segment_start->lost.size() == 2);
  CHECK(rest[0].segment_start->lost[0].reason == "first");
  CHECK(rest[0].segment_start->lost[1].reason == "second");
  CHECK(rest[0].segment_start->registers.at(0).name == "C");
  CHECK(rest[0].size == 11);
  CHECK(rest[0].dropped_ticks == 19);
}

TEST_CASE("a stop before the first sample still hands over the segment") {
  LoopRig rig({.rate_hz = 1000});
  rig.stop.request_stop();
  const auto blocks = rig.run();
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].size == 0);
  CHECK(blocks[0].segment_start);
  CHECK(rig.reader.reads() == 0);
}

TEST_CASE("the loop samples in its thread while a writer takes the blocks") {
  MonotonicClock clock;
  FakeRegisterReader reader;
  const SamplingOptions options{.rate_hz = 20'000, .block_ns = 10 * kNsPerMs};
  BlockQueue queue(4, 1, block_capacity(options));
  SamplingLoop loop(reader, queue, clock, options);
  std::stop_source stop;
  std::jthread sampling([&] { loop.run(stop.get_token()); });
  std::uint64_t ticks = 0;
  std::uint64_t dropped = 0;
  std::uint64_t total = 0;
  while (!queue.closed()) {
    SampleBlock* block = queue.pop(kNsPerSecond);
    if (block == nullptr) {
      continue;
    }
    ticks += block->size;
    dropped += block->dropped_ticks;
    total = block->totals.ticks;
    queue.release(block);
    if (ticks > 1000) {
      stop.request_stop();
    }
  }
  CHECK(ticks + dropped == total);
  CHECK(reader.reads() == total);
}

TEST_CASE("pinning the memory works or says what it means") {
  LoopRig rig({.rate_hz = 1000});
  const auto pinned = rig.loop.pin_memory();
  if (!pinned) {
    CHECK(pinned.error().message.find("paged out") != std::string::npos);
    MESSAGE("not pinned here: " << pinned.error().message);
  }
}
