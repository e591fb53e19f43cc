// What stands between the shared loop and a session's file: slices, the feed, events from states.
#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/recorder/block_slice.h"
#include "daemon/recorder/session_feed.h"
#include "daemon/recorder/state_watch.h"

namespace gputrace::recorder {
namespace {

using sampler::SampleBlock;
using sampler::SampleState;

/// A tick each millisecond from `start_ms` on; its word is its number.
std::unique_ptr<SampleBlock> block_of(std::size_t ticks, std::int64_t start_ms = 0,
                                      std::size_t registers = 2) {
  auto block = std::make_unique<SampleBlock>(registers, ticks);
  block->register_count = registers;
  block->size = ticks;
  block->start_ns = start_ms * kNsPerMs;
  block->end_ns = (start_ms + static_cast<std::int64_t>(ticks)) * kNsPerMs;
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    block->time_ns[tick] = block->start_ns + static_cast<std::int64_t>(tick) * kNsPerMs;
    for (std::size_t reg = 0; reg < registers; ++reg) {
      block->words[reg * ticks + tick] = static_cast<std::uint32_t>(tick + 1000 * reg);
      block->states[reg * ticks + tick] = SampleState::kValid;
    }
  }
  block->totals.ticks = ticks;
  block->totals.reads[0] = ticks;
  return block;
}

TEST_CASE("a slice has the ticks of its span, their words and their share of the totals") {
  const auto block = block_of(100);
  const auto part = slice_block(*block, block->totals, 1000, 20 * kNsPerMs, 60 * kNsPerMs);
  REQUIRE(part->size == 40);
  CHECK(part->start_ns == 20 * kNsPerMs);
  CHECK(part->end_ns == 60 * kNsPerMs);
  CHECK(part->time_ns.front() == 20 * kNsPerMs);
  CHECK(part->words_of(0)[0] == 20);
  CHECK(part->words_of(1)[39] == 1059);
  CHECK(part->totals.ticks == 40);
  CHECK(part->totals.reads[0] == 40);
  CHECK(part->missed == 0);
}

TEST_CASE("a block after the end of a span leaves no gap before its empty slice") {
  const auto block = block_of(100, 500);
  const auto part = slice_block(*block, block->totals, 1000, 0, 450 * kNsPerMs);
  CHECK(part->size == 0);
  CHECK(part->start_ns == 450 * kNsPerMs);
  CHECK(part->end_ns == 450 * kNsPerMs);
  CHECK(part->missed == 0);
}

TEST_CASE("slices of a block add up to it") {
  auto block = block_of(100);
  block->missed = 3;
  block->dropped_ticks = 5;
  block->totals.missed = 3;
  block->totals.dropped_ticks = 5;
  block->totals.ticks = 105;
  const auto first = slice_block(*block, block->totals, 1000, 0, 33 * kNsPerMs);
  const auto second = slice_block(*block, block->totals, 1000, 33 * kNsPerMs, kNsPerSecond);
  CHECK(first->size + second->size == 100);
  CHECK(first->totals.ticks + second->totals.ticks == 105);
  CHECK(first->dropped_ticks == 5);
  CHECK(second->dropped_ticks == 0);
  const auto whole = slice_block(*block, block->totals, 1000, 0, kNsPerSecond);
  CHECK(whole->missed == 3);
  CHECK(whole->totals.missed == 3);
}

TEST_CASE("periods that a slice lacks are missed in it, and no others") {
  auto block = block_of(50);
  block->end_ns = 100 * kNsPerMs;  // the second half was missed
  block->missed = 50;
  block->totals.missed = 50;
  CHECK(slice_block(*block, block->totals, 1000, 0, 50 * kNsPerMs)->missed == 0);
  CHECK(slice_block(*block, block->totals, 1000, 40 * kNsPerMs, 90 * kNsPerMs)->missed == 40);
}

TEST_CASE("a full feed drops, never waits, and says what it dropped in the next block") {
  SessionFeed feed;
  const auto segment = std::make_shared<SharedSegment>();
  constexpr std::size_t kTicks = 20'000;
  std::uint64_t pushed = 0;
  for (int i = 0; i < 50; ++i) {
    feed.push(segment, block_of(kTicks));
    pushed += kTicks;
  }
  std::uint64_t kept = 0;
  while (auto item = feed.pop(0)) {
    REQUIRE(item->block);
    CHECK(item->block->dropped_ticks == 0);
    kept += item->block->size;
  }
  CHECK(kept > 0);
  CHECK(kept < pushed);
  feed.push(segment, block_of(10));
  const auto item = feed.pop(0);
  REQUIRE(item.has_value());
  CHECK(item->block->dropped_ticks == pushed - kept);
  CHECK(item->block->totals.dropped_ticks == pushed - kept);
  CHECK(item->block->totals.ticks == pushed - kept + 10);
}

TEST_CASE("what a full feed dropped last is told when it closes") {
  SessionFeed feed;
  const auto segment = std::make_shared<SharedSegment>();
  constexpr std::size_t kTicks = 20'000;
  constexpr int kBlocks = 50;
  for (int i = 0; i < kBlocks; ++i) {
    feed.push(segment, block_of(kTicks, i * static_cast<std::int64_t>(kTicks)));
  }
  feed.close();
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;
  std::int64_t end_ns = 0;
  while (auto item = feed.pop(0)) {
    REQUIRE(item->block);
    kept += item->block->size;
    dropped += item->block->dropped_ticks;
    end_ns = item->block->end_ns;
  }
  CHECK(dropped > 0);
  CHECK(kept + dropped == kBlocks * kTicks);
  CHECK(end_ns == kBlocks * static_cast<std::int64_t>(kTicks) * kNsPerMs);
  CHECK(feed.closed());
}

TEST_CASE("a closed feed gives what it has and then says that it is closed") {
  SessionFeed feed;
  feed.push(Notice{{1, "lost", "why"}, "warn"});
  feed.close();
  CHECK_FALSE(feed.closed());
  const auto item = feed.pop(0);
  REQUIRE(item.has_value());
  CHECK(item->notices.at(0).event.kind == "lost");
  CHECK(feed.closed());
  CHECK_FALSE(feed.pop(0).has_value());
}

void set_states(SampleBlock& block, std::size_t from, std::size_t to, SampleState state) {
  for (std::size_t reg = 0; reg < block.register_count; ++reg) {
    for (std::size_t tick = from; tick < to; ++tick) {
      block.states[reg * block.capacity + tick] = state;
    }
  }
}

TEST_CASE("a reset is told when it begins and when it is over, with its duration") {
  StateWatch watch;
  auto block = block_of(1000);
  set_states(*block, 100, 600, SampleState::kReset);
  const auto events = watch.look(*block);
  REQUIRE(events.size() == 2);
  CHECK(events[0].kind == "gpu_reset");
  CHECK(events[0].time_ns == 100 * kNsPerMs);
  CHECK(events[1].kind == "gpu_reset_over");
  CHECK(events[1].text.find("0.5 s") != std::string::npos);
}

TEST_CASE("sleep over several blocks is one pair; errors neither begin nor end it") {
  StateWatch watch;
  auto first = block_of(1000);
  set_states(*first, 500, 1000, SampleState::kAsleep);
  auto second = block_of(1000, 1000);
  set_states(*second, 0, 500, SampleState::kReadError);
  set_states(*second, 500, 1000, SampleState::kAsleep);
  const auto third = block_of(1000, 2000);
  const auto began = watch.look(*first);
  REQUIRE(began.size() == 1);
  CHECK(began[0].kind == "runtime_suspend");
  CHECK(watch.look(*second).empty());
  const auto ended = watch.look(*third);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].kind == "runtime_resume");
  CHECK(ended[0].text.find("1.5 s") != std::string::npos);
}

TEST_CASE("sleep that flaps gives one pair a second at most, and no half pair") {
  StateWatch watch;
  int suspends = 0;
  int resumes = 0;
  for (std::int64_t second = 0; second < 5; ++second) {
    auto block = block_of(1000, second * 1000);
    for (std::size_t tick = 0; tick < 1000; tick += 10) {
      set_states(*block, tick, tick + 5, SampleState::kAsleep);
    }
    for (const store::Event& event : watch.look(*block)) {
      suspends += event.kind == "runtime_suspend" ? 1 : 0;
      resumes += event.kind == "runtime_resume" ? 1 : 0;
    }
  }
  CHECK(suspends == resumes);
  CHECK(suspends >= 4);
  CHECK(suspends <= 5);
}

}  // namespace
}  // namespace gputrace::recorder
