#include "daemon/sampler/block_queue.h"

#include <atomic>
#include <chrono>
#include <semaphore>
#include <vector>

#include "daemon/base/time.h"

namespace gputrace::sampler {

namespace {

/// Lamport's single-producer single-consumer queue ("Specifying concurrent program modules", TOPLAS
/// 1983). It can hold every block of the pool, so push() never finds it full.
class BlockRing {
 public:
  explicit BlockRing(std::size_t blocks) : slots_(blocks) {}

  void push(SampleBlock* block) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    slots_[tail % slots_.size()] = block;
    tail_.store(tail + 1, std::memory_order_release);
  }

  SampleBlock* pop() noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) {
      return nullptr;
    }
    SampleBlock* block = slots_[head % slots_.size()];
    head_.store(head + 1, std::memory_order_release);
    return block;
  }

  [[nodiscard]] bool empty() const noexcept {
    return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire);
  }

 private:
  // Apart, so that the two threads do not pull one cache line to and fro.
  alignas(64) std::atomic<std::size_t> head_{0};
  std::vector<SampleBlock*> slots_;
  alignas(64) std::atomic<std::size_t> tail_{0};
};

template <class T>
Status lock_vector(const std::vector<T>& values) {
  return values.empty() ? Status() : lock_memory(values.data(), values.size() * sizeof(T));
}

Status lock_block(const SampleBlock& block) {
  for (const Status& status : {lock_memory(&block, sizeof block), lock_vector(block.time_ns),
                               lock_vector(block.words), lock_vector(block.states)}) {
    if (!status) {
      return status;
    }
  }
  return {};
}

}  // namespace

struct BlockQueue::Rings {
  explicit Rings(std::size_t blocks) : free(blocks), filled(blocks) {}

  BlockRing free;
  BlockRing filled;
  std::vector<std::unique_ptr<SampleBlock>> pool;
  // Only wakes the writer: what there is to pop is decided by `filled` and `closed`, so a surplus
  // token costs one more look. release() is at most a futex wake, never a wait.
  std::counting_semaphore<> doorbell{0};
  std::atomic<bool> closed{false};
};

BlockQueue::BlockQueue(std::size_t blocks, std::size_t register_count, std::size_t tick_capacity)
    : rings_(std::make_unique<Rings>(blocks)) {
  GPUTRACE_CHECK(blocks > 0);
  for (std::size_t i = 0; i < blocks; ++i) {
    rings_->pool.push_back(std::make_unique<SampleBlock>(register_count, tick_capacity));
    rings_->free.push(rings_->pool.back().get());
  }
}

BlockQueue::~BlockQueue() = default;

SampleBlock* BlockQueue::acquire() noexcept {
  return rings_->free.pop();
}

void BlockQueue::submit(SampleBlock* block) noexcept {
  rings_->filled.push(block);
  rings_->doorbell.release();
}

void BlockQueue::close() noexcept {
  rings_->closed.store(true, std::memory_order_release);
  rings_->doorbell.release();
}

SampleBlock* BlockQueue::pop(std::int64_t timeout_ns) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  bool waiting = true;
  while (true) {
    // Read before the ring: a queue seen closed gets no block afterwards.
    const bool closed = rings_->closed.load(std::memory_order_acquire);
    if (SampleBlock* block = rings_->filled.pop(); block != nullptr) {
      return block;
    }
    if (closed || !waiting) {
      return nullptr;
    }
    waiting = rings_->doorbell.try_acquire_until(deadline);
  }
}

void BlockQueue::release(SampleBlock* block) noexcept {
  block->size = 0;
  block->segment_start.reset();  // here, so that the sampling thread frees nothing
  rings_->free.push(block);
}

bool BlockQueue::closed() const noexcept {
  return rings_->closed.load(std::memory_order_acquire) && rings_->filled.empty();
}

Status BlockQueue::lock_pool() const {
  for (const auto& block : rings_->pool) {
    if (const Status status = lock_block(*block); !status) {
      return fail(status.error(), "the sample blocks may be paged out");
    }
  }
  return {};
}

}  // namespace gputrace::sampler
