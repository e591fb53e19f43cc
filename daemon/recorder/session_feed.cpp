#include "daemon/recorder/session_feed.h"

#include <chrono>
#include <utility>

namespace gputrace::recorder {

namespace {

// Outlasts a disk that is busy for some seconds; several sessions must stay within the memory of a
// small daemon.
constexpr std::size_t kMostBytes = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kMostBlocks = 64;
// Notices are few; a device that flaps must not grow memory without bound.
constexpr std::size_t kMostNotices = 256;
// Half a minute at 10 Hz; a batch of 60 values takes 4 KiB.
constexpr std::size_t kMostSensors = 300;

std::size_t bytes_of(const sampler::SampleBlock& block) {
  return sizeof block + block.time_ns.size() * sizeof(std::int64_t) +
         block.words.size() * (sizeof(std::uint32_t) + sizeof(sampler::SampleState));
}

}  // namespace

bool SessionFeed::is_full(std::size_t more_bytes) const {
  return blocks_ > 0 && (blocks_ >= kMostBlocks || bytes_ + more_bytes > kMostBytes);
}

void SessionFeed::push(std::shared_ptr<const SharedSegment> segment,
                       std::unique_ptr<sampler::SampleBlock> block) {
  const std::scoped_lock lock(mutex_);
  const std::size_t bytes = bytes_of(*block);
  if (is_full(bytes)) {
    // The reads took place, so all totals stay; what they gave is lost.
    dropped_ += block->totals;
    dropped_.dropped_ticks += block->size;
    dropped_ticks_ += block->dropped_ticks + static_cast<std::uint32_t>(block->size);
    dropped_segment_ = std::move(segment);
    dropped_end_ns_ = block->end_ns;
    return;
  }
  block->totals += std::exchange(dropped_, {});
  block->dropped_ticks += std::exchange(dropped_ticks_, 0);
  bytes_ += bytes;
  ++blocks_;
  items_.push_back({{}, {}, 0, std::move(segment), std::move(block)});
  changed_.notify_one();
}

void SessionFeed::push(Notice notice) {
  const std::scoped_lock lock(mutex_);
  if (notices_ >= kMostNotices) {
    return;
  }
  ++notices_;
  FeedItem item;
  item.notices.push_back(std::move(notice));
  items_.push_back(std::move(item));
  changed_.notify_one();
}

void SessionFeed::push(std::shared_ptr<const SensorBatch> batch) {
  const std::scoped_lock lock(mutex_);
  if (sensors_ >= kMostSensors) {
    ++dropped_sensors_;
    return;
  }
  if (items_.empty() || items_.back().block || !items_.back().notices.empty() ||
      dropped_sensors_ > 0) {
    items_.emplace_back().dropped_sensors = std::exchange(dropped_sensors_, 0);
  }
  items_.back().sensors.push_back(std::move(batch));
  ++sensors_;
}

void SessionFeed::close() {
  const std::scoped_lock lock(mutex_);
  if (dropped_sensors_ > 0) {
    items_.emplace_back().dropped_sensors = std::exchange(dropped_sensors_, 0);
  }
  if (dropped_ticks_ > 0) {
    const std::size_t registers = dropped_segment_->registers.size();
    auto block = std::make_unique<sampler::SampleBlock>(registers, 0);
    block->register_count = registers;
    block->start_ns = dropped_end_ns_;
    block->end_ns = dropped_end_ns_;
    block->totals = std::exchange(dropped_, {});
    block->dropped_ticks = std::exchange(dropped_ticks_, 0);
    bytes_ += bytes_of(*block);
    ++blocks_;
    items_.push_back({{}, {}, 0, std::move(dropped_segment_), std::move(block)});
  }
  closed_ = true;
  woken_ = true;
  changed_.notify_one();
}

void SessionFeed::wake() {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

std::optional<FeedItem> SessionFeed::pop(std::int64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                    [this] { return !items_.empty() || woken_; });
  woken_ = false;
  if (items_.empty()) {
    return std::nullopt;
  }
  FeedItem item = std::move(items_.front());
  items_.pop_front();
  if (item.block) {
    bytes_ -= bytes_of(*item.block);
    --blocks_;
  }
  notices_ -= item.notices.size();
  sensors_ -= item.sensors.size();
  return item;
}

bool SessionFeed::closed() const {
  const std::scoped_lock lock(mutex_);
  return closed_ && items_.empty();
}

bool SessionFeed::empty() const {
  const std::scoped_lock lock(mutex_);
  return items_.empty();
}

}  // namespace gputrace::recorder
