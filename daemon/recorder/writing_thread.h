// The thread that writes a session: blocks from the reading thread, an anchor and a commit each
// second, events. When told to finish it closes the file without waiting for a read that hangs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/ipc/message.h"
#include "daemon/recorder/clock_watch.h"
#include "daemon/recorder/reading_thread.h"
#include "daemon/store/session_writer.h"

namespace gputrace::recorder {

class WritingThread {
 public:
  /// `writer` has begun `segment` and holds the anchor `started`. `warn` is called on the writing
  /// thread. The reading thread must have been started.
  WritingThread(store::SessionWriter writer, store::SegmentDescription segment,
                const TimeAnchor& started, ReadingThread& reading,
                std::function<void(ipc::WarningAnswer)> warn);
  WritingThread(const WritingThread&) = delete;
  WritingThread& operator=(const WritingThread&) = delete;
  ~WritingThread() = default;

  void start();
  void add_event(store::Event event);
  /// Stops the reading, closes the file, ends the thread. Returns what became of the file.
  [[nodiscard]] ipc::ClosedAnswer finish(std::optional<int> exit_code, std::optional<int> signal);

 private:
  struct Orders {
    std::vector<store::Event> events;
    std::optional<store::SessionEnd> end;
  };

  void run();
  /// Waits for a block, or for an order when no block can follow.
  void wait_and_write(bool order_may_come);
  [[nodiscard]] Orders take_orders();
  void write(const Status& status);
  void write_block(const sampler::SampleBlock& block);
  void begin_segment(const sampler::SampleBlock& block);
  void count(const sampler::SampleBlock& block);
  void write_events(const std::vector<store::Event>& events);
  void write_anchor_when_due();
  void commit_when_due();
  void recording_ended(std::int64_t now_ns, const std::string& why);
  [[nodiscard]] double seconds_since_start(std::int64_t now_ns) const;
  void close_file(store::SessionEnd end);

  // Of the writing thread alone.
  store::SessionWriter writer_;
  store::SegmentDescription segment_;
  const TimeAnchor started_;
  ReadingThread& reading_;
  std::function<void(ipc::WarningAnswer)> warn_;
  ClockWatch clock_watch_;
  std::int64_t anchored_ns_;
  std::int64_t committed_ns_;
  bool block_uncommitted_ = false;
  std::optional<std::int64_t> ended_ns_;  ///< the recording ended before the workload
  bool write_failed_ = false;
  sampler::SamplingTotals totals_;         ///< of the segment
  sampler::SamplingTotals totals_before_;  ///< of the segments before
  std::uint64_t words_ = 0;
  std::uint64_t unknown_words_ = 0;
  std::optional<std::int64_t> first_ns_;
  std::int64_t last_ns_ = 0;
  ipc::ClosedAnswer closed_;

  std::mutex mutex_;
  std::condition_variable ordered_;
  Orders orders_;  ///< guarded by mutex_

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace gputrace::recorder
