#include "daemon/recorder/recording_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gputrace::recorder {

namespace {

constexpr std::int64_t kAnchorNs = kNsPerSecond;
// A block arrives and is committed each second; events that come without one wait no longer.
constexpr std::int64_t kLatestCommitNs = 3 * kNsPerSecond / 2;
// Of a device that comes and goes; the file has all events.
constexpr int kMostWarnings = 8;
constexpr std::size_t kMostKeptEvents = 256;
// A command line may name new ones for ever.
constexpr std::size_t kMostOpenClients = 4096;
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

store::ClientUsage usage_of(const ipc::ClientReading& client, std::int64_t time_ns) {
  return {time_ns,          client.pid,       client.process,    client.pdev,
          client.client_id, client.engine_ns, client.vram_bytes, client.gtt_bytes};
}

}  // namespace

RecordingFile::RecordingFile(store::SessionWriter writer, store::SegmentDescription segment,
                             const TimeAnchor& started, DiskReserve reserve, Warn warn)
    : writer_(std::move(writer)),
      segment_(std::move(segment)),
      started_(started),
      reserve_(std::move(reserve)),
      warn_(std::move(warn)),
      clock_watch_(started),
      anchored_ns_(started.monotonic_ns),
      committed_ns_(started.monotonic_ns) {}

void RecordingFile::take(FeedItem item) {
  for (const Notice& notice : item.notices) {
    take(notice);
  }
  take_sensors(item);
  if (!item.block) {
    return;
  }
  if (!may_write()) {
    drop(*item.block);
    return;
  }
  if (item.segment != shared_segment_ || !next_reason_.empty()) {
    const bool begun_before =
        !shared_segment_ && next_reason_.empty() && describes(segment_, *item.segment);
    if (!begun_before) {
      begin_segment(*item.segment, item.block->start_ns);
    }
    shared_segment_ = item.segment;
  }
  write_block(*item.block);
}

void RecordingFile::take(const Notice& notice) {
  write_events({notice.event});
  if (!notice.warning.empty() && warnings_told_ < kMostWarnings) {
    ++warnings_told_;
    warn_of(notice.event.time_ns, notice.warning);
  }
}

void RecordingFile::take_sensors(const FeedItem& item) {
  if (item.dropped_sensors > 0) {
    write_events({{monotonic_now_ns(), "sensors_dropped",
                   fmt::format("{} readings of all sensors were not kept: the disk was too slow",
                               item.dropped_sensors)}});
  }
  for (const auto& batch : item.sensors) {
    if (!has_ended() && !pause_) {
      write(sensors_.take(*batch, writer_));
    }
  }
}

void RecordingFile::take(const ipc::ProcessesOrder& processes) {
  if (processes.unreadable > 0 && !std::exchange(told_unreadable_, true)) {
    write_events({{processes.time_ns, "processes_unreadable",
                   fmt::format("{} processes of the workload cannot be read: their GPU time and "
                               "memory are not in this recording",
                               processes.unreadable)}});
  }
  if (processes.left_out > 0 && !std::exchange(told_left_out_, true)) {
    write_events({{processes.time_ns, "clients_left_out",
                   fmt::format("the workload has {} more DRM clients than are recorded",
                               processes.left_out)}});
  }
  std::map<ClientKey, store::ClientUsage> seen;
  for (const ipc::ClientReading& client : processes.clients) {
    seen.emplace(ClientKey{client.pdev, client.client_id}, usage_of(client, processes.time_ns));
  }
  if (processes.unreadable == 0 && processes.left_out == 0) {
    write_closed_clients(seen, processes.time_ns);
  }
  for (const auto& [key, usage] : seen) {
    write_usage(usage);
  }
  if (open_clients_.size() < kMostOpenClients) {
    seen.merge(open_clients_);
  }
  open_clients_ = std::move(seen);
}

void RecordingFile::write_closed_clients(const std::map<ClientKey, store::ClientUsage>& seen,
                                         std::int64_t time_ns) {
  for (auto it = open_clients_.begin(); it != open_clients_.end();) {
    if (seen.count(it->first) > 0) {
      ++it;
      continue;
    }
    store::ClientUsage& closed = it->second;
    closed.time_ns = time_ns;
    for (std::optional<std::uint64_t>* bytes : {&closed.vram_bytes, &closed.gtt_bytes}) {
      *bytes = *bytes ? std::optional<std::uint64_t>(0) : std::nullopt;
    }
    write_usage(closed);
    it = open_clients_.erase(it);
  }
}

void RecordingFile::write_usage(const store::ClientUsage& usage) {
  if (!has_ended() && !pause_) {
    write(writer_.write_client_usage(usage));
  }
}

void RecordingFile::warn_of(std::int64_t time_ns, const std::string& text) {
  warn_({fmt::format("after {:.1f} s: {}", seconds_since_start(time_ns), text),
         /*recording_ended=*/false});
}

void RecordingFile::write(const Status& status) {
  if (!status && !ended_ns_) {
    const std::int64_t now_ns = monotonic_now_ns();
    ended_ns_ = now_ns;
    warn_({fmt::format("the recording ended after {:.1f} s: {}", seconds_since_start(now_ns),
                       status.error().message),
           /*recording_ended=*/true});
  }
}

double RecordingFile::seconds_since_start(std::int64_t now_ns) const {
  return static_cast<double>(now_ns - started_.monotonic_ns) / static_cast<double>(kNsPerSecond);
}

void RecordingFile::write_block(sampler::SampleBlock& block) {
  if (has_ended()) {
    return;
  }
  missed_ += block.totals.missed;
  dropped_ticks_ += block.totals.dropped_ticks;
  totals_ += block.totals;
  block.totals = totals_;
  write(writer_.write_block(block));
  if (!has_ended()) {
    count(block);
    block_uncommitted_ = true;
  }
}

void RecordingFile::begin_segment(const SharedSegment& segment, std::int64_t start_ns) {
  segment_.gpu = segment.gpu;
  segment_.regdb_table = segment.regdb_table;
  segment_.rate_hz = segment.rate_hz;
  segment_.registers = segment.registers;
  segment_.start_ns = start_ns;
  segment_.reason = next_reason_.empty() ? segment.reason : std::exchange(next_reason_, {});
  totals_ = {};
  if (!has_ended()) {
    write(writer_.begin_segment(segment_));
  }
}

void RecordingFile::count(const sampler::SampleBlock& block) {
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

void RecordingFile::write_events(const std::vector<store::Event>& events) {
  for (const store::Event& event : events) {
    if (pause_) {
      if (pause_->events.size() < kMostKeptEvents) {
        pause_->events.push_back(event);
      }
    } else if (!has_ended()) {
      write(writer_.write_event(event));
    }
  }
}

void RecordingFile::write_anchor_when_due() {
  if (has_ended() || monotonic_now_ns() - anchored_ns_ < kAnchorNs || !may_write()) {
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

void RecordingFile::commit_when_due() {
  if (has_ended() || pause_ ||
      (!block_uncommitted_ && monotonic_now_ns() - committed_ns_ < kLatestCommitNs)) {
    return;
  }
  write(sensors_.write_open(writer_));
  write(writer_.commit());
  block_uncommitted_ = false;
  committed_ns_ = monotonic_now_ns();
}

bool RecordingFile::may_write() {
  const bool room = reserve_.may_write();
  if (!room && !pause_) {
    begin_pause();
  } else if (room && pause_) {
    end_pause();
  }
  return room;
}

void RecordingFile::begin_pause() {
  const std::int64_t now_ns = monotonic_now_ns();
  const std::string text = fmt::format(
      "only {:.0f} MiB are left on the disk, {:.0f} are kept in reserve: nothing is "
      "written until there is more",
      static_cast<double>(reserve_.free_bytes().value_or(0)) / kMiB,
      static_cast<double>(reserve_.reserve_bytes()) / kMiB);
  // A few hundred bytes of the reserve, so that the file says why it stops.
  write_events({{now_ns, "disk_reserve", text}});
  if (!has_ended()) {
    write(sensors_.write_open(writer_));
    write(writer_.commit());
  }
  pause_ = Pause{now_ns, now_ns, {}, 0, {}};
  if (!std::exchange(warned_of_reserve_, true)) {
    warn_of(now_ns, text);
  }
}

void RecordingFile::end_pause() {
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

void RecordingFile::drop(const sampler::SampleBlock& block) {
  if (!pause_) {
    return;
  }
  pause_->end_ns = block.end_ns;
  pause_->totals += block.totals;
  pause_->totals.dropped_ticks += block.size;
  pause_->dropped_ticks += block.dropped_ticks + static_cast<std::uint32_t>(block.size);
}

/// A block without ticks says what was dropped before it.
void RecordingFile::write_dropped() {
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

ipc::ClosedAnswer RecordingFile::close(store::SessionEnd end, bool complete) {
  if (pause_) {
    write_dropped();
    const Pause pause = std::exchange(pause_, std::nullopt).value_or(Pause{});
    write_events(pause.events);
  }
  if (!complete && !has_ended()) {
    write_events({{end.end_ns, "warning",
                   "a read had not returned when the recording ended; the samples of up to 1 s "
                   "before it are missing"}});
  }
  if (!has_ended()) {
    write(sensors_.write_open(writer_));
  }
  end.end_ns = ended_ns_.value_or(end.end_ns);
  ipc::ClosedAnswer closed;
  // After a failed write too: the disk may have room again.
  const Result<store::SessionWriter::Finished> finished = writer_.finish(end);
  if (finished) {
    closed.still_wal = finished->still_wal;
  } else {
    closed.cut = finished.error().message;
  }
  closed.file = writer_.path().string();
  closed.samples = kept_ticks_;
  closed.missed = missed_;
  closed.dropped = dropped_ticks_;
  closed.seconds =
      first_ns_ ? static_cast<double>(last_ns_ - *first_ns_) / static_cast<double>(kNsPerSecond)
                : 0;
  if (words_ > 0) {
    closed.unknown = static_cast<double>(unknown_words_) / static_cast<double>(words_);
  }
  return closed;
}

}  // namespace gputrace::recorder
