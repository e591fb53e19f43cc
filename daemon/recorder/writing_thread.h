// The thread that writes a session's file: blocks of its feed, an anchor and a commit each second,
// events. When told to finish it closes the file without waiting for a read that hangs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/ipc/message.h"
#include "daemon/recorder/clock_watch.h"
#include "daemon/recorder/disk_reserve.h"
#include "daemon/recorder/session_feed.h"
#include "daemon/recorder/session_output.h"
#include "daemon/recorder/shared_sampling.h"
#include "daemon/store/session_writer.h"

namespace gputrace::recorder {

class WritingThread final : public SessionOutput {
 public:
  /// `writer` has begun `segment` and holds the anchor `started`. `warn` is called on the writing
  /// thread.
  WritingThread(store::SessionWriter writer, store::SegmentDescription segment,
                const TimeAnchor& started, DiskReserve reserve, SharedSampling& sampling,
                std::shared_ptr<SessionFeed> feed, std::function<void(ipc::WarningAnswer)> warn);

  void add_event(store::Event event) override;
  /// Leaves the sampling, closes the file, ends the thread. Returns what became of the file.
  [[nodiscard]] ipc::ClosedAnswer finish(std::optional<int> exit_code,
                                         std::optional<int> signal) override;

 private:
  struct Orders {
    std::vector<store::Event> events;
    std::optional<store::SessionEnd> end;
  };
  /// While the disk is too full: nothing is written.
  struct Pause {
    std::int64_t since_ns = 0;
    std::int64_t end_ns = 0;         ///< of the last block not written
    sampler::SamplingTotals totals;  ///< of blocks not written
    std::uint32_t dropped_ticks = 0;
    std::vector<store::Event> events;  ///< marks and others, written when it is over
  };

  void run();
  void take(FeedItem item);
  [[nodiscard]] Orders take_orders();
  void write(const Status& status);
  void write_block(sampler::SampleBlock& block);
  void begin_segment(const SharedSegment& segment, std::int64_t start_ns);
  void count(const sampler::SampleBlock& block);
  void drop(const sampler::SampleBlock& block);
  void write_events(const std::vector<store::Event>& events);
  void write_anchor_when_due();
  void commit_when_due();
  /// False while the disk has too little room. Says so when that begins and when it ends.
  [[nodiscard]] bool may_write();
  void begin_pause();
  void end_pause();
  void write_dropped();
  void recording_ended(std::int64_t now_ns, const std::string& why);
  [[nodiscard]] double seconds_since_start(std::int64_t now_ns) const;
  void close_file(store::SessionEnd end);

  // Of the writing thread alone.
  store::SessionWriter writer_;
  store::SegmentDescription segment_;
  std::shared_ptr<const SharedSegment> shared_segment_;  ///< what segment_ was made of
  const TimeAnchor started_;
  DiskReserve reserve_;
  SharedSampling& sampling_;
  std::shared_ptr<SessionFeed> feed_;
  std::function<void(ipc::WarningAnswer)> warn_;
  ClockWatch clock_watch_;
  std::int64_t anchored_ns_;
  std::int64_t committed_ns_;
  bool block_uncommitted_ = false;
  std::optional<Pause> pause_;
  bool warned_of_reserve_ = false;
  int warnings_told_ = 0;
  std::optional<std::int64_t> ended_ns_;  ///< the recording ended before the workload
  bool write_failed_ = false;
  sampler::SamplingTotals totals_;  ///< of the segment
  std::uint64_t kept_ticks_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t dropped_ticks_ = 0;
  std::uint64_t words_ = 0;
  std::uint64_t unknown_words_ = 0;
  std::optional<std::int64_t> first_ns_;
  std::int64_t last_ns_ = 0;
  ipc::ClosedAnswer closed_;

  std::mutex mutex_;
  Orders orders_;  ///< guarded by mutex_

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace gputrace::recorder
