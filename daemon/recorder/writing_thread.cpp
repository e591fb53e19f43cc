#include "daemon/recorder/writing_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gputrace::recorder {

namespace {

// How soon the time of an anchor or a commit is noticed while nothing arrives.
constexpr std::int64_t kPopNs = 100 * kNsPerMs;
// How long a read in progress may still take before the file is closed without it. With 2 s for a
// connected reader this stays under the 3 s after which the supervisor leaves.
constexpr std::int64_t kReadGraceNs = 250 * kNsPerMs;
constexpr std::int64_t kAnchorNs = kNsPerSecond;
// A block arrives and is committed each second; events that come without one wait no longer.
constexpr std::int64_t kLatestCommitNs = 3 * kNsPerSecond / 2;
// Of a device that comes and goes; the file has all events.
constexpr int kMostWarnings = 8;
constexpr std::size_t kMostKeptEvents = 256;
constexpr double kMiB = 1024.0 * 1024.0;

bool same_registers(const std::vector<sampler::OfferedRegister>& a,
                    const std::vector<sampler::OfferedRegister>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.source == y.source;
  });
}

/// The file's first segment was begun before the first block came.
bool describes(const store::SegmentDescription& segment, const SharedSegment& shared) {
  return segment.rate_hz == shared.rate_hz && segment.regdb_table == shared.regdb_table &&
         same_registers(segment.registers, shared.registers);
}

}  // namespace

WritingThread::WritingThread(store::SessionWriter writer, store::SegmentDescription segment,
                             const TimeAnchor& started, DiskReserve reserve,
                             SharedSampling& sampling, std::shared_ptr<SessionFeed> feed,
                             std::function<void(ipc::WarningAnswer)> warn)
    : writer_(std::move(writer)),
      segment_(std::move(segment)),
      started_(started),
      reserve_(std::move(reserve)),
      sampling_(sampling),
      feed_(std::move(feed)),
      warn_(std::move(warn)),
      clock_watch_(started),
      anchored_ns_(started.monotonic_ns),
      committed_ns_(started.monotonic_ns) {
  thread_ = std::jthread([this] { run(); });
}

void WritingThread::add_event(store::Event event) {
  {
    const std::scoped_lock lock(mutex_);
    // Orders come over a socket: a flood of them must not grow memory without bound.
    if (orders_.events.size() < ipc::kMaxCommandWords) {
      orders_.events.push_back(std::move(event));
    }
  }
  feed_->wake();
}

ipc::ClosedAnswer WritingThread::finish(std::optional<int> exit_code, std::optional<int> signal) {
  {
    const std::scoped_lock lock(mutex_);
    orders_.end = store::SessionEnd{monotonic_now_ns(), exit_code, signal};
  }
  sampling_.leave(feed_);
  feed_->wake();
  thread_.join();
  return closed_;
}

WritingThread::Orders WritingThread::take_orders() {
  const std::scoped_lock lock(mutex_);
  Orders taken = std::move(orders_);
  orders_ = {};
  return taken;
}

void WritingThread::run() {
  std::optional<store::SessionEnd> end;
  // A slow disk may have kept this thread for longer than the grace: what has come is written.
  while (!end || (!feed_->closed() &&
                  (!feed_->empty() || monotonic_now_ns() < end->end_ns + kReadGraceNs))) {
    if (std::optional<FeedItem> item = feed_->pop(kPopNs)) {
      take(std::move(*item));
    }
    Orders orders = take_orders();
    write_events(orders.events);
    write_anchor_when_due();
    if (orders.end) {
      end = orders.end;
    }
    if (!end) {  // else the end of the file is the next commit
      commit_when_due();
    }
  }
  close_file(*end);
}

void WritingThread::take(FeedItem item) {
  for (const Notice& notice : item.notices) {
    write_events({notice.event});
    if (!notice.warning.empty() && warnings_told_ < kMostWarnings) {
      ++warnings_told_;
      warn_({fmt::format("after {:.1f} s: {}", seconds_since_start(notice.event.time_ns),
                         notice.warning),
             /*recording_ended=*/false});
    }
  }
  if (!item.block) {
    return;
  }
  if (!may_write()) {
    drop(*item.block);
    return;
  }
  if (item.segment != shared_segment_) {
    const bool begun_before = !shared_segment_ && describes(segment_, *item.segment);
    if (!begun_before) {
      begin_segment(*item.segment, item.block->start_ns);
    }
    shared_segment_ = item.segment;
  }
  write_block(*item.block);
}

/// The first failure ends the recording; the workload runs on.
void WritingThread::write(const Status& status) {
  if (!status && !write_failed_) {
    write_failed_ = true;
    recording_ended(monotonic_now_ns(), status.error().message);
  }
}

void WritingThread::recording_ended(std::int64_t now_ns, const std::string& why) {
  if (!ended_ns_) {
    ended_ns_ = now_ns;
    sampling_.leave(feed_);
    warn_({fmt::format("the recording ended after {:.1f} s: {}", seconds_since_start(now_ns), why),
           /*recording_ended=*/true});
  }
}

double WritingThread::seconds_since_start(std::int64_t now_ns) const {
  return static_cast<double>(now_ns - started_.monotonic_ns) / static_cast<double>(kNsPerSecond);
}

void WritingThread::write_block(sampler::SampleBlock& block) {
  if (write_failed_) {
    return;
  }
  missed_ += block.totals.missed;
  dropped_ticks_ += block.totals.dropped_ticks;
  totals_ += block.totals;
  block.totals = totals_;
  write(writer_.write_block(block));
  if (!write_failed_) {
    count(block);
    block_uncommitted_ = true;
  }
}

void WritingThread::begin_segment(const SharedSegment& segment, std::int64_t start_ns) {
  segment_.gpu = segment.gpu;
  segment_.regdb_table = segment.regdb_table;
  segment_.rate_hz = segment.rate_hz;
  segment_.registers = segment.registers;
  segment_.start_ns = start_ns;
  segment_.reason = segment.reason;
  totals_ = {};
  if (!write_failed_) {
    write(writer_.begin_segment(segment_));
  }
}

void WritingThread::count(const sampler::SampleBlock& block) {
  kept_ticks_ += block.size;
  first_ns_ = first_ns_.value_or(block.start_ns);
  last_ns_ = block.end_ns;
  words_ += block.register_count * block.size;
  for (std::size_t reg = 0; reg < block.register_count; ++reg) {
    const auto states = block.states_of(reg);
    unknown_words_ += static_cast<std::uint64_t>(
        std::count_if(states.begin(), states.end(), sampler::is_unknown));
  }
}

void WritingThread::write_events(const std::vector<store::Event>& events) {
  for (const store::Event& event : events) {
    if (pause_) {
      if (pause_->events.size() < kMostKeptEvents) {
        pause_->events.push_back(event);
      }
    } else if (!write_failed_) {
      write(writer_.write_event(event));
    }
  }
}

void WritingThread::write_anchor_when_due() {
  if (write_failed_ || monotonic_now_ns() - anchored_ns_ < kAnchorNs || !may_write()) {
    return;
  }
  TimeAnchor anchor = read_time_anchor();
  if (clock_watch_.sees_jump(anchor)) {
    anchor = read_time_anchor();
  }
  write_events(clock_watch_.compare(anchor));
  write(writer_.write_anchor(anchor));
  anchored_ns_ = anchor.monotonic_ns;
}

void WritingThread::commit_when_due() {
  if (write_failed_ || pause_ ||
      (!block_uncommitted_ && monotonic_now_ns() - committed_ns_ < kLatestCommitNs)) {
    return;
  }
  write(writer_.commit());
  block_uncommitted_ = false;
  committed_ns_ = monotonic_now_ns();
}

bool WritingThread::may_write() {
  const bool room = reserve_.may_write();
  if (!room && !pause_) {
    begin_pause();
  } else if (room && pause_) {
    end_pause();
  }
  return room;
}

void WritingThread::begin_pause() {
  const std::int64_t now_ns = monotonic_now_ns();
  const std::string text = fmt::format(
      "only {:.0f} MiB are left on the disk, {:.0f} are kept in reserve: nothing is "
      "written until there is more",
      static_cast<double>(reserve_.free_bytes().value_or(0)) / kMiB,
      static_cast<double>(reserve_.reserve_bytes()) / kMiB);
  // A few hundred bytes of the reserve, so that the file says why it stops.
  write_events({{now_ns, "disk_reserve", text}});
  if (!write_failed_) {
    write(writer_.commit());
  }
  pause_ = Pause{now_ns, now_ns, {}, 0, {}};
  if (!std::exchange(warned_of_reserve_, true)) {
    warn_({fmt::format("after {:.1f} s: {}", seconds_since_start(now_ns), text), false});
  }
}

void WritingThread::end_pause() {
  const std::int64_t now_ns = monotonic_now_ns();
  write_dropped();
  const Pause pause = std::exchange(pause_, std::nullopt).value_or(Pause{});
  write_events(pause.events);
  write_events({{now_ns, "disk_reserve_over",
                 fmt::format("nothing was written for {:.1f} s ({} samples)",
                             static_cast<double>(now_ns - pause.since_ns) /
                                 static_cast<double>(kNsPerSecond),
                             pause.totals.dropped_ticks)}});
}

void WritingThread::drop(const sampler::SampleBlock& block) {
  if (!pause_) {
    return;
  }
  pause_->end_ns = block.end_ns;
  pause_->totals += block.totals;
  pause_->totals.dropped_ticks += block.size;
  pause_->dropped_ticks += block.dropped_ticks + static_cast<std::uint32_t>(block.size);
}

/// A block without ticks says what was dropped before it.
void WritingThread::write_dropped() {
  if (!pause_ || pause_->dropped_ticks == 0) {
    return;
  }
  sampler::SampleBlock block(segment_.registers.size(), 0);
  block.register_count = segment_.registers.size();
  block.start_ns = std::max(pause_->end_ns, segment_.start_ns);
  block.end_ns = block.start_ns;
  block.dropped_ticks = pause_->dropped_ticks;
  block.missed = static_cast<std::uint32_t>(pause_->totals.missed);
  block.totals = pause_->totals;
  write_block(block);
}

void WritingThread::close_file(store::SessionEnd end) {
  if (pause_) {
    write_dropped();
    const Pause pause = std::exchange(pause_, std::nullopt).value_or(Pause{});
    write_events(pause.events);
  }
  if (!feed_->closed() && !ended_ns_) {
    write_events({{end.end_ns, "warning",
                   "a read had not returned when the recording ended; the samples of up to 1 s "
                   "before it are missing"}});
  }
  end.end_ns = ended_ns_.value_or(end.end_ns);
  // After a failed write too: the disk may have room again.
  const Result<store::SessionWriter::Finished> finished = writer_.finish(end);
  if (finished) {
    closed_.still_wal = finished->still_wal;
  } else {
    closed_.cut = finished.error().message;
  }
  closed_.file = writer_.path().string();
  closed_.samples = kept_ticks_;
  closed_.missed = missed_;
  closed_.dropped = dropped_ticks_;
  closed_.seconds =
      first_ns_ ? static_cast<double>(last_ns_ - *first_ns_) / static_cast<double>(kNsPerSecond)
                : 0;
  if (words_ > 0) {
    closed_.unknown = static_cast<double>(unknown_words_) / static_cast<double>(words_);
  }
}

}  // namespace gputrace::recorder
