// What one session gets of the shared loop: a bounded queue between the distributing thread, which
// never waits for a session, and the session's own thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/sampler/gpu_identity.h"
#include "daemon/sampler/sample_block.h"
#include "daemon/sampler/sensor_loop.h"
#include "daemon/store/session.h"

namespace gputrace::recorder {

/// What all samples of a stretch have in common. Another object, another segment.
struct SharedSegment {
  sampler::GpuIdentity gpu;
  std::string regdb_table;
  double rate_hz = 0;
  std::vector<sampler::OfferedRegister> registers;
  std::string reason;  ///< why it began
};

struct Notice {
  store::Event event;
  std::string warning;  ///< to be told to the person who records; empty = nothing to tell
};

/// The sources of one loop of sensors. Another object, other series.
struct SharedSensorSources {
  std::vector<store::SensorSource> sources;
};

/// What one tick of the slow loop brought. The first of its sources that a session gets has no
/// readings: what its states count was before the session.
struct SensorBatch {
  std::shared_ptr<const SharedSensorSources> sources;
  std::vector<sampler::SensorReading> readings;
  std::vector<sampler::SensorSourceState> states;  ///< of all sources, now
};

struct FeedItem {
  std::vector<Notice> notices;
  std::vector<std::shared_ptr<const SensorBatch>> sensors;  ///< in order of time
  std::uint64_t dropped_sensors = 0;                        ///< batches before these
  std::shared_ptr<const SharedSegment> segment;             ///< of the block
  /// May be absent. Its totals count from the item before, not from the segment's start.
  std::unique_ptr<sampler::SampleBlock> block;
};

class SessionFeed {
 public:
  SessionFeed() = default;
  SessionFeed(const SessionFeed&) = delete;
  SessionFeed& operator=(const SessionFeed&) = delete;
  ~SessionFeed() = default;

  /// A full queue takes nothing: the block's ticks are counted as dropped in the next one.
  void push(std::shared_ptr<const SharedSegment> segment,
            std::unique_ptr<sampler::SampleBlock> block);
  void push(Notice notice);
  /// Wakes nobody: it is popped when the thread looks next. A full queue drops and counts it.
  void push(std::shared_ptr<const SensorBatch> batch);
  /// Nothing will follow but a block that says what was dropped last.
  void close();

  /// Waits so long; absent when nothing came, and sooner after wake() or close().
  [[nodiscard]] std::optional<FeedItem> pop(std::int64_t timeout_ns);
  /// Ends the pop() that waits, else the next one.
  void wake();
  /// True when closed and empty.
  [[nodiscard]] bool closed() const;
  [[nodiscard]] bool empty() const;

 private:
  [[nodiscard]] bool is_full(std::size_t more_bytes) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FeedItem> items_;  ///< all below: guarded by mutex_
  std::size_t bytes_ = 0;       ///< of blocks
  std::size_t blocks_ = 0;      ///< in items_, like the next two
  std::size_t notices_ = 0;
  std::size_t sensors_ = 0;
  std::uint64_t dropped_sensors_ = 0;
  sampler::SamplingTotals dropped_;  ///< of blocks that were not taken
  std::uint32_t dropped_ticks_ = 0;
  std::shared_ptr<const SharedSegment> dropped_segment_;
  std::int64_t dropped_end_ns_ = 0;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace gputrace::recorder
