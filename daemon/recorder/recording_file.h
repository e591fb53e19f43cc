// The file of a session while it is recorded: what is written when, what a full disk makes of it,
// and what became of it in the end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/ipc/message.h"
#include "daemon/recorder/clock_watch.h"
#include "daemon/recorder/disk_reserve.h"
#include "daemon/recorder/sensor_writing.h"
#include "daemon/recorder/session_feed.h"
#include "daemon/store/session_writer.h"

namespace gputrace::recorder {

/// Used by one thread at a time. The first failed write ends the recording: nothing more is
/// written, and the workload runs on.
class RecordingFile {
 public:
  using Warn = std::function<void(ipc::WarningAnswer)>;

  /// `writer` has begun `segment` and holds the anchor `started`.
  RecordingFile(store::SessionWriter writer, store::SegmentDescription segment,
                const TimeAnchor& started, DiskReserve reserve, Warn warn);

  void take(FeedItem item);
  void take(const ipc::ProcessesOrder& processes);
  void write_events(const std::vector<store::Event>& events);
  /// The next block begins a segment, for this reason.
  void move_to_other_gpu(std::string reason) { next_reason_ = std::move(reason); }
  void write_anchor_when_due();
  void commit_when_due();
  /// Told with the time since the start.
  void warn_of(std::int64_t time_ns, const std::string& text);
  /// Nothing more will be written.
  [[nodiscard]] bool has_ended() const { return ended_ns_.has_value(); }
  [[nodiscard]] const sampler::GpuIdentity& gpu() const { return segment_.gpu; }
  /// `complete`: all samples up to the end have come.
  [[nodiscard]] ipc::ClosedAnswer close(store::SessionEnd end, bool complete);

 private:
  /// While the disk is too full: nothing is written.
  struct Pause {
    std::int64_t since_ns = 0;
    std::int64_t end_ns = 0;         ///< of the last block not written
    sampler::SamplingTotals totals;  ///< of blocks not written
    std::uint32_t dropped_ticks = 0;
    std::vector<store::Event> events;  ///< marks and others, written when it is over
  };

  void take(const Notice& notice);
  void take_sensors(const FeedItem& item);
  using ClientKey = std::pair<std::string, std::uint64_t>;  // (pdev, client id)
  /// Those that are open no more: the kernel says nothing of them, and they hold no memory.
  void write_closed_clients(const std::map<ClientKey, store::ClientUsage>& seen,
                            std::int64_t time_ns);
  void write_usage(const store::ClientUsage& usage);
  void write(const Status& status);
  void write_block(sampler::SampleBlock& block);
  void begin_segment(const SharedSegment& segment, std::int64_t start_ns);
  void count(const sampler::SampleBlock& block);
  void drop(const sampler::SampleBlock& block);
  /// False while the disk has too little room. Says so when that begins and when it ends.
  [[nodiscard]] bool may_write();
  void begin_pause();
  void end_pause();
  void write_dropped();
  [[nodiscard]] double seconds_since_start(std::int64_t now_ns) const;

  store::SessionWriter writer_;
  store::SegmentDescription segment_;
  std::shared_ptr<const SharedSegment> shared_segment_;  ///< what segment_ was made of
  std::string next_reason_;                              ///< empty = that of the shared segment
  const TimeAnchor started_;
  DiskReserve reserve_;
  Warn warn_;
  ClockWatch clock_watch_;
  SensorWriting sensors_;
  std::int64_t anchored_ns_;
  std::int64_t committed_ns_;
  bool block_uncommitted_ = false;
  std::optional<Pause> pause_;
  bool warned_of_reserve_ = false;
  std::map<ClientKey, store::ClientUsage> open_clients_;  ///< as they were last seen
  bool told_unreadable_ = false;
  bool told_left_out_ = false;
  int warnings_told_ = 0;
  std::optional<std::int64_t> ended_ns_;  ///< the recording ended before the workload
  sampler::SamplingTotals totals_;        ///< of the segment
  std::uint64_t kept_ticks_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t dropped_ticks_ = 0;
  std::uint64_t words_ = 0;
  std::uint64_t unknown_words_ = 0;
  std::optional<std::int64_t> first_ns_;
  std::int64_t last_ns_ = 0;
};

}  // namespace gputrace::recorder
