#include "daemon/sampler/block_queue.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <set>
#include <thread>
#include <vector>

#include "daemon/base/time.h"

using gputrace::kNsPerSecond;
using gputrace::sampler::BlockQueue;
using gputrace::sampler::SampleBlock;
using gputrace::sampler::SegmentStart;

TEST_CASE("the pool gives each block once and nothing when the writer holds them all") {
  BlockQueue queue(3, 2, 10);
  std::set<SampleBlock*> blocks;
  for (int i = 0; i < 3; ++i) {
    SampleBlock* block = queue.acquire();
    REQUIRE(block != nullptr);
    CHECK(block->capacity == 10);
    CHECK(block->words.size() == 20);
    blocks.insert(block);
    queue.submit(block);
  }
  CHECK(blocks.size() == 3);
  CHECK(queue.acquire() == nullptr);

  SampleBlock* popped = queue.pop(0);
  REQUIRE(popped != nullptr);
  CHECK(queue.acquire() == nullptr);  // the writer still reads it
  queue.release(popped);
  CHECK(queue.acquire() == popped);
}

TEST_CASE("blocks come out in the order in which they went in") {
  BlockQueue queue(4, 1, 1);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 3; ++i) {
      SampleBlock* block = queue.acquire();
      REQUIRE(block != nullptr);
      block->start_ns = round * 3 + i;
      queue.submit(block);
    }
    for (int i = 0; i < 3; ++i) {
      SampleBlock* block = queue.pop(0);
      REQUIRE(block != nullptr);
      CHECK(block->start_ns == round * 3 + i);
      queue.release(block);
    }
  }
  CHECK(queue.pop(0) == nullptr);
  CHECK(queue.pop(1000) == nullptr);
}

TEST_CASE("a closed queue is drained before it says so") {
  BlockQueue queue(2, 1, 1);
  queue.submit(queue.acquire());
  queue.close();
  CHECK_FALSE(queue.closed());
  SampleBlock* block = queue.pop(3600 * kNsPerSecond);
  REQUIRE(block != nullptr);
  CHECK(queue.closed());
  queue.release(block);
  CHECK(queue.pop(3600 * kNsPerSecond) == nullptr);  // at once: this test would hang
}

TEST_CASE("a released block carries nothing of the segment that it served") {
  BlockQueue queue(1, 1, 1);
  SampleBlock* block = queue.acquire();
  const auto segment = std::make_shared<const SegmentStart>();
  block->segment_start = segment;
  block->size = 1;
  queue.submit(block);
  queue.release(queue.pop(0));
  CHECK(segment.use_count() == 1);
  CHECK(queue.acquire()->size == 0);
}

TEST_CASE("two threads pass many blocks without losing, doubling or mixing any") {
  constexpr std::int64_t kBlocks = 20'000;
  BlockQueue queue(4, 1, 8);
  std::int64_t refused = 0;
  std::jthread sampler([&] {
    for (std::int64_t i = 0; i < kBlocks;) {
      SampleBlock* block = queue.acquire();
      if (block == nullptr) {
        ++refused;
        std::this_thread::yield();
        continue;
      }
      block->start_ns = i;
      block->words.assign(8, static_cast<std::uint32_t>(i));
      queue.submit(block);
      ++i;
    }
    queue.close();
  });
  std::int64_t next = 0;
  bool same = true;
  while (!queue.closed()) {
    SampleBlock* block = queue.pop(kNsPerSecond);
    if (block == nullptr) {
      continue;
    }
    same = same && block->start_ns == next;
    for (const std::uint32_t word : block->words) {
      same = same && word == static_cast<std::uint32_t>(next);
    }
    ++next;
    queue.release(block);
  }
  sampler.join();
  CHECK(same);
  CHECK(next == kBlocks);
  MESSAGE("the sampling side found the pool empty " << refused << " times");
}

TEST_CASE("a writer that waits is woken by a block and by the end") {
  BlockQueue queue(1, 1, 1);
  SampleBlock* got = nullptr;
  SampleBlock* after_close = nullptr;
  std::jthread writer([&] {
    got = queue.pop(3600 * kNsPerSecond);
    after_close = queue.pop(3600 * kNsPerSecond);
  });
  SampleBlock* block = queue.acquire();
  queue.submit(block);
  queue.close();
  writer.join();
  CHECK(got == block);
  CHECK(after_close == nullptr);
}

TEST_CASE("locking the pool needs a limit that allows it, and says so when it does not") {
  const BlockQueue queue(2, 4, 100);
  const rlimit none{0, 0};
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_MEMLOCK, &before) == 0);
  const auto locked = queue.lock_pool();
  if (locked) {
    CHECK(before.rlim_cur > 0);
  } else {
    CHECK_MESSAGE(locked.error().message.find("paged out") != std::string::npos,
                  locked.error().message);
  }
  if (::geteuid() == 0) {
    MESSAGE("skipped the refusal: root may lock memory whatever the limit says");
    return;
  }
  REQUIRE(::setrlimit(RLIMIT_MEMLOCK, &none) == 0);
  const auto refused = BlockQueue(2, 4, 100).lock_pool();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("paged out") != std::string::npos);
}
