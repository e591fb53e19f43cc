#include "daemon/recorder/writing_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gputrace::recorder {

namespace {

// How soon an order is seen while no block arrives.
constexpr std::int64_t kPopNs = 100 * kNsPerMs;
// How long a read in progress may still take before the file is closed without it. With 2 s for a
// connected reader this stays under the 3 s after which the supervisor leaves.
constexpr std::int64_t kReadGraceNs = 250 * kNsPerMs;
constexpr std::int64_t kAnchorNs = kNsPerSecond;
// A block arrives and is committed each second; events that come without one wait no longer.
constexpr std::int64_t kLatestCommitNs = 3 * kNsPerSecond / 2;

bool same_registers(const std::vector<sampler::OfferedRegister>& a,
                    const std::vector<sampler::OfferedRegister>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name; });
}

/// "A, B: why; C: another reason". An unplugged GPU has one reason for all its registers.
std::string describe_lost(const std::vector<sampler::LostRegister>& lost) {
  std::vector<std::pair<std::string, std::string>> by_reason;  // few: each is looked at in turn
  for (const sampler::LostRegister& reg : lost) {
    const auto same = std::find_if(by_reason.begin(), by_reason.end(),
                                   [&](const auto& row) { return row.first == reg.reason; });
    if (same == by_reason.end()) {
      by_reason.emplace_back(reg.reason, reg.name);
    } else {
      same->second += ", " + reg.name;
    }
  }
  std::string text;
  for (const auto& [reason, names] : by_reason) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", names, reason);
  }
  return text;
}

}  // namespace

WritingThread::WritingThread(store::SessionWriter writer, store::SegmentDescription segment,
                             const TimeAnchor& started, ReadingThread& reading,
                             std::function<void(ipc::WarningAnswer)> warn)
    : writer_(std::move(writer)),
      segment_(std::move(segment)),
      started_(started),
      reading_(reading),
      warn_(std::move(warn)),
      clock_watch_(started),
      anchored_ns_(started.monotonic_ns),
      committed_ns_(started.monotonic_ns) {}

void WritingThread::start() {
  thread_ = std::jthread([this] { run(); });
}

void WritingThread::add_event(store::Event event) {
  const std::scoped_lock lock(mutex_);
  // Orders come over a socket: a flood of them must not grow memory without bound.
  if (orders_.events.size() < ipc::kMaxCommandWords) {
    orders_.events.push_back(std::move(event));
  }
  ordered_.notify_one();
}

ipc::ClosedAnswer WritingThread::finish(std::optional<int> exit_code, std::optional<int> signal) {
  {
    const std::scoped_lock lock(mutex_);
    orders_.end = store::SessionEnd{monotonic_now_ns(), exit_code, signal};
    ordered_.notify_one();
  }
  reading_.request_stop();
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
  while (!end || (!reading_.queue().closed() && monotonic_now_ns() < end->end_ns + kReadGraceNs)) {
    wait_and_write(!end);
    Orders orders = take_orders();
    write_events(orders.events);
    write_anchor_when_due();
    commit_when_due();
    if (orders.end) {
      end = orders.end;
    }
  }
  close_file(*end);
}

void WritingThread::wait_and_write(bool order_may_come) {
  if (sampler::SampleBlock* block = reading_.queue().pop(kPopNs)) {
    write_block(*block);
    reading_.queue().release(block);
  } else if (order_may_come && reading_.queue().closed()) {
    // Perhaps for hours: a power cut must not lose what ended the recording.
    if (!write_failed_) {
      write(writer_.commit());
    }
    std::unique_lock lock(mutex_);
    ordered_.wait(lock, [this] { return orders_.end || !orders_.events.empty(); });
  }
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
    reading_.request_stop();
    warn_({fmt::format("the recording ended after {:.1f} s: {}", seconds_since_start(now_ns), why),
           /*recording_ended=*/true});
  }
}

double WritingThread::seconds_since_start(std::int64_t now_ns) const {
  return static_cast<double>(now_ns - started_.monotonic_ns) / static_cast<double>(kNsPerSecond);
}

void WritingThread::write_block(const sampler::SampleBlock& block) {
  if (block.segment_start) {
    begin_segment(block);
  }
  if (write_failed_ || block.register_count == 0) {
    return;
  }
  write(writer_.write_block(block));
  if (!write_failed_) {
    count(block);
    block_uncommitted_ = true;
  }
}

void WritingThread::begin_segment(const sampler::SampleBlock& block) {
  const sampler::SegmentStart& start = *block.segment_start;
  if (start.lost.empty() && same_registers(start.registers, segment_.registers)) {
    return;  // the first one, begun when the file was created
  }
  const std::string lost = describe_lost(start.lost);
  write_events({{block.start_ns, "lost", lost}});
  if (start.registers.empty()) {
    recording_ended(block.start_ns, "no register can be read any more (" + lost + ")");
    return;
  }
  warn_({fmt::format("lost after {:.1f} s: {}; the other registers are recorded further",
                     seconds_since_start(block.start_ns), lost),
         /*recording_ended=*/false});
  segment_.registers = start.registers;
  segment_.start_ns = block.start_ns;
  segment_.reason = "register lost: " + lost;
  totals_before_.missed += totals_.missed;
  totals_before_.dropped_ticks += totals_.dropped_ticks;
  totals_ = {};
  write(writer_.begin_segment(segment_));
}

void WritingThread::count(const sampler::SampleBlock& block) {
  totals_ = block.totals;
  closed_.samples += block.size;
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
    if (!write_failed_) {
      write(writer_.write_event(event));
    }
  }
}

void WritingThread::write_anchor_when_due() {
  if (write_failed_ || monotonic_now_ns() - anchored_ns_ < kAnchorNs) {
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
  if (write_failed_ ||
      (!block_uncommitted_ && monotonic_now_ns() - committed_ns_ < kLatestCommitNs)) {
    return;
  }
  write(writer_.commit());
  block_uncommitted_ = false;
  committed_ns_ = monotonic_now_ns();
}

void WritingThread::close_file(store::SessionEnd end) {
  if (!reading_.queue().closed()) {
    write_events({{end.end_ns, "warning",
                   "a read had not returned when the recording ended; the samples of up to 1 s "
                   "before it are missing"}});
  } else if (reading_.ended() && !reading_.last_error().empty()) {
    write_events({{end.end_ns, "read_error", reading_.last_error()}});
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
  closed_.missed = totals_before_.missed + totals_.missed;
  closed_.dropped = totals_before_.dropped_ticks + totals_.dropped_ticks;
  if (first_ns_) {
    closed_.seconds =
        static_cast<double>(last_ns_ - *first_ns_) / static_cast<double>(kNsPerSecond);
  }
  if (words_ > 0) {
    closed_.unknown = static_cast<double>(unknown_words_) / static_cast<double>(words_);
  }
}

}  // namespace gputrace::recorder
