// Hands sample blocks from the sampling thread to the writer and back, without ever making the
// sampling thread wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "daemon/base/result.h"
#include "daemon/sampler/sample_block.h"

namespace gputrace::sampler {

/// A fixed pool of blocks and two single-producer single-consumer rings. One sampling thread, one
/// writing thread.
class BlockQueue {
 public:
  BlockQueue(std::size_t blocks, std::size_t register_count, std::size_t tick_capacity);
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;
  ~BlockQueue();

  /// Sampling thread: an empty block, or nullptr when the writer holds them all (the caller counts
  /// what it drops). Never blocks, never allocates.
  [[nodiscard]] SampleBlock* acquire() noexcept;
  /// Sampling thread: passes a filled block on.
  void submit(SampleBlock* block) noexcept;
  /// Sampling thread: no block will follow.
  void close() noexcept;

  /// Writing thread: the next filled block; nullptr after `timeout_ns`, or at once when the queue
  /// is closed and drained (see closed()).
  [[nodiscard]] SampleBlock* pop(std::int64_t timeout_ns);
  /// Writing thread: gives a block back.
  void release(SampleBlock* block) noexcept;
  /// True when close() was called and every block has been popped.
  [[nodiscard]] bool closed() const noexcept;

  /// Keeps the pool in RAM (mlock), so that filling a block never waits for a page. kNoSpace or
  /// kPermissionDenied when RLIMIT_MEMLOCK is too small: sampling works without, only less evenly.
  [[nodiscard]] Status lock_pool() const;

 private:
  struct Rings;
  std::unique_ptr<Rings> rings_;
};

}  // namespace gputrace::sampler
