#include "daemon/recorder/shared_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/recorder/block_slice.h"
#include "daemon/recorder/lost_registers.h"

namespace gputrace::recorder {

namespace {

// A read takes microseconds, and 100 ms when GFX has to be woken.
constexpr std::int64_t kStuckNs = kNsPerSecond;
// Opening may wake a suspended device, and a simulated one is computed first.
constexpr std::int64_t kSlowOpeningNs = 10 * kNsPerSecond;
constexpr std::int64_t kLookAgainNs = kNsPerSecond;
constexpr std::int64_t kPopNs = kNsPerSecond;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace

SharedSampling::SharedSampling(ReaderFactory open_gpu, std::function<void()> changed)
    : open_gpu_(std::move(open_gpu)), changed_(std::move(changed)) {
  thread_ = std::jthread([this] { run(); });
}

// ---- sessions

Result<GpuOnOffer> SharedSampling::open(const GpuRequest& request) {
  {
    const std::scoped_lock lock(mutex_);
    if (const std::int64_t stuck = stuck_ns(); stuck > 0) {
      return fail(ErrorCode::kBusy,
                  fmt::format("the driver has not answered for {:.0f} s: the GPU hangs or is being "
                              "reset; try again when it answers, or restart the machine",
                              seconds(stuck)));
    }
  }
  const std::scoped_lock opening(opening_mutex_);
  {
    const std::scoped_lock lock(mutex_);
    if (gpu_) {
      return *gpu_;
    }
    opening_since_ns_ = monotonic_now_ns();
  }
  Result<OpenedGpu> opened = open_gpu_(request);
  const std::scoped_lock lock(mutex_);
  opening_since_ns_.reset();
  if (!opened) {
    return tl::unexpected(opened.error());
  }
  if (opened->reader->registers().empty()) {
    return fail(ErrorCode::kUnsupported, opened->identity.name + " offers no register to read");
  }
  request_ = request;
  take_gpu(std::move(*opened));
  return *gpu_;
}

void SharedSampling::take_gpu(OpenedGpu&& opened) {
  const auto registers = opened.reader->registers();
  gpu_ = GpuOnOffer{std::move(opened.identity),
                    std::move(opened.regdb_table),
                    {registers.begin(), registers.end()},
                    std::move(opened.notes),
                    opened.load_seconds};
  if (!gpu_->identity.pci.empty()) {
    request_.gpu =
        gpu_->identity.pci;  // this one again if it vanishes, whatever its number is then
  }
  reader_ = std::move(opened.reader);
  states_ = {};
  work_.notify_one();
}

double SharedSampling::rate_with(double rate_hz) const {
  const std::scoped_lock lock(mutex_);
  const std::optional<Wish> others = wish();
  return others ? std::max(rate_hz, others->rate_hz) : rate_hz;
}

std::shared_ptr<SessionFeed> SharedSampling::join(double rate_hz,
                                                  const std::optional<sampler::Burst>& burst) {
  auto feed = std::make_shared<SessionFeed>();
  {
    const std::scoped_lock lock(mutex_);
    Member member;
    member.feed = feed;
    member.wish = {rate_hz, burst};
    member.joined_ns = monotonic_now_ns();
    members_.push_back(member);
    members_.back().waits_for_loop = !reading_ || stopping_ || wish() != running_;
    adjust_loop();
    if (reading_ && !members_.back().waits_for_loop) {
      tell_refusals();
    }
  }
  changed_();
  return feed;
}

void SharedSampling::leave(const std::shared_ptr<SessionFeed>& feed) {
  {
    const std::scoped_lock lock(mutex_);
    const auto member = std::find_if(members_.begin(), members_.end(),
                                     [&](const Member& one) { return one.feed == feed; });
    if (member == members_.end()) {
      return;
    }
    if (!reading_ && !starting_) {
      feed->close();
      members_.erase(member);
    } else {
      member->left_ns = monotonic_now_ns();
    }
    adjust_loop();
  }
  changed_();
}

void SharedSampling::close_if_unused() {
  const std::scoped_lock lock(mutex_);
  if (members_.empty() && reader_) {
    reader_.reset();
    gpu_.reset();
  }
}

ipc::HealthReport SharedSampling::health() const {
  const std::scoped_lock lock(mutex_);
  ipc::HealthReport report;
  report.sessions = static_cast<std::uint32_t>(active());
  report.rate_hz = reading_ ? running_.rate_hz : 0;
  report.stuck_s = seconds(stuck_ns());
  report.present = !gone_;
  return report;
}

// ---- with mutex_ held

std::size_t SharedSampling::active() const {
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [](const Member& member) { return !member.left_ns; }));
}

/// 0 when nothing hangs.
std::int64_t SharedSampling::stuck_ns() const {
  const std::int64_t now_ns = monotonic_now_ns();
  if (opening_since_ns_ && now_ns - *opening_since_ns_ > kSlowOpeningNs) {
    return now_ns - *opening_since_ns_;
  }
  const std::int64_t began_ns = reading_ ? reading_->read_began_ns() : 0;
  return began_ns != 0 && now_ns - began_ns > kStuckNs ? now_ns - began_ns : 0;
}

/// The highest rate that an active session asks; in bursts when all ask for the same ones.
std::optional<SharedSampling::Wish> SharedSampling::wish() const {
  std::optional<Wish> common;
  for (const Member& member : members_) {
    if (member.left_ns) {
      continue;
    }
    if (!common) {
      common = member.wish;
      continue;
    }
    common->rate_hz = std::max(common->rate_hz, member.wish.rate_hz);
    if (common->burst != member.wish.burst) {
      common->burst.reset();
    }
  }
  return common;
}

void SharedSampling::adjust_loop() {
  if (!reading_) {
    work_.notify_one();
    return;
  }
  if (wish() != running_) {
    stopping_ = true;
    reading_->request_stop();
    return;
  }
  for (Member& member : members_) {
    if (member.left_ns && !member.flush) {
      member.flush = reading_->request_flush();
    }
  }
}

void SharedSampling::tell(const Notice& notice) {
  for (const Member& member : members_) {
    member.feed->push(notice);
  }
}

void SharedSampling::tell_refusals() {
  for (Member& member : members_) {
    if (std::exchange(member.told_refusals, true)) {
      continue;
    }
    for (const Refusal& refusal : refused_) {
      member.feed->push(Notice{{member.joined_ns, refusal.kind, refusal.text}, {}});
    }
  }
}

// ---- the distributing thread

void SharedSampling::run() {
  for (;;) {
    if (ReadingThread* reading = next_loop()) {
      distribute(*reading);
      end_loop(*reading);
    }
  }
}

/// Waits until there is a loop to serve.
ReadingThread* SharedSampling::next_loop() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [this] { return wish().has_value(); });
  if (!reader_) {
    look_for_gpu(lock);
    return nullptr;
  }
  if (const std::optional<Wish> wanted = wish()) {
    start_loop(lock, *wanted);
  }
  return reading_.get();
}

void SharedSampling::start_loop(std::unique_lock<std::mutex>& lock, const Wish& wanted) {
  sampler::SamplingOptions options;
  options.rate_hz = wanted.rate_hz;
  options.burst = wanted.burst;
  options.seed = static_cast<std::uint64_t>(read_time_anchor().realtime_ns);
  auto reader = std::move(reader_);
  starting_ = true;
  lock.unlock();
  auto reading = std::make_unique<ReadingThread>(std::move(reader), options);
  std::vector<Refusal> refused = reading->start();
  lock.lock();
  starting_ = false;
  stopping_ = false;
  running_ = wanted;
  reading_ = std::move(reading);
  refused_ = std::move(refused);
  for (Member& member : members_) {
    member.waits_for_loop = false;
  }
  tell_refusals();
  adjust_loop();  // sessions may have come and gone meanwhile
  lock.unlock();
  changed_();
  lock.lock();
}

void SharedSampling::distribute(ReadingThread& reading) {
  sampler::BlockQueue& queue = reading.queue();
  while (!queue.closed()) {
    if (sampler::SampleBlock* block = queue.pop(kPopNs)) {
      distribute_block(*block);
      queue.release(block);
    }
  }
}

void SharedSampling::distribute_block(const sampler::SampleBlock& block) {
  const std::scoped_lock lock(mutex_);
  if (block.segment_start) {
    begin_segment(block);
  }
  if (block.register_count == 0) {
    return;
  }
  sampler::SamplingTotals added = block.totals;
  added -= std::exchange(totals_, block.totals);
  // Sampling, packing and writing of all sessions: nobody can say whose it was.
  added.cpu_ns /= static_cast<std::int64_t>(std::max<std::size_t>(members_.size(), 1));
  for (const store::Event& event : states_.look(block)) {
    tell({event, {}});
  }
  for (Member& member : members_) {
    give(member, block, added);
  }
  std::erase_if(members_, [&block](const Member& member) {
    const bool complete = member.flush && block.flush >= *member.flush;
    if (complete) {
      member.feed->close();
    }
    return complete;
  });
}

void SharedSampling::begin_segment(const sampler::SampleBlock& block) {
  const sampler::SegmentStart& start = *block.segment_start;
  std::string reason = std::exchange(next_reason_, {});
  if (!start.lost.empty()) {
    const std::string lost = describe_lost(start.lost);
    reason = "register lost: " + lost;
    tell({{block.start_ns, "lost", lost},
          start.registers.empty()
              ? fmt::format("no register can be read any more ({}); the GPU is looked for each "
                            "second, and recorded again when it is back",
                            lost)
              : fmt::format("lost: {}; the other registers are recorded further", lost)});
  }
  totals_ = {};
  if (start.registers.empty()) {
    tell({{block.start_ns, "device_gone", "the GPU is gone; it is looked for each second"}, {}});
    gone_ = true;
    gone_since_ns_ = block.start_ns;
    return;
  }
  gpu_->registers = start.registers;
  segment_ = std::make_shared<SharedSegment>(
      SharedSegment{gpu_->identity, gpu_->regdb_table, running_.rate_hz, start.registers,
                    reason.empty() ? "start" : std::move(reason)});
}

/// The part of a block that came after a session joined, before it left and inside its bursts.
void SharedSampling::give(Member& member, const sampler::SampleBlock& block,
                          const sampler::SamplingTotals& added) {
  const std::int64_t from_ns = std::max(block.start_ns, member.joined_ns);
  const std::int64_t to_ns = std::min(block.end_ns, member.left_ns.value_or(block.end_ns));
  if (member.waits_for_loop || to_ns < from_ns) {
    return;
  }
  const auto give_span = [&](std::int64_t start_ns, std::int64_t end_ns) {
    auto part = slice_block(block, added, running_.rate_hz, start_ns, end_ns);
    if (part->size > 0 || part->missed > 0 || part->dropped_ticks > 0) {
      member.feed->push(segment_, std::move(part));
    }
  };
  const std::optional<sampler::Burst>& burst = member.wish.burst;
  if (!burst || running_.burst) {
    give_span(from_ns, to_ns);
    return;
  }
  for (std::int64_t window_ns = burst->window_from(from_ns); window_ns < to_ns;
       window_ns += burst->every_ns) {
    give_span(std::max(window_ns, from_ns), std::min(window_ns + burst->length_ns, to_ns));
  }
}

void SharedSampling::end_loop(ReadingThread& reading) {
  std::unique_ptr<sampler::RegisterReader> reader = reading.join();
  const std::string error = reader->last_error();
  const bool lost = reader->registers().empty();
  if (lost) {
    reader.reset();  // a device that is gone cannot come back through the old descriptors
  }
  std::unique_ptr<ReadingThread> ended;
  {
    const std::scoped_lock lock(mutex_);
    ended = std::move(reading_);
    reader_ = std::move(reader);
    if (!error.empty()) {
      tell({{monotonic_now_ns(), "read_error", error}, {}});
    }
    std::erase_if(members_, [](const Member& member) {
      if (member.left_ns) {
        member.feed->close();
      }
      return member.left_ns.has_value();
    });
    const std::optional<Wish> next = wish();
    if (lost || !next) {
      reader_.reset();
      gpu_.reset();
      gone_ = lost && next;
      look_again_ns_ = monotonic_now_ns() + kLookAgainNs;
    } else {
      next_reason_ = next->rate_hz != running_.rate_hz
                         ? fmt::format("rate changed to {} Hz", next->rate_hz)
                         : "another session came or went";
    }
  }
  changed_();
}

/// Sessions are there but no GPU: it vanished, or another session closed it in a race.
void SharedSampling::look_for_gpu(std::unique_lock<std::mutex>& lock) {
  const std::int64_t wait_ns = gone_ ? look_again_ns_ - monotonic_now_ns() : 0;
  if (wait_ns > 0) {
    work_.wait_for(lock, std::chrono::nanoseconds(wait_ns));
    return;
  }
  const GpuRequest request = request_;
  lock.unlock();
  const std::scoped_lock opening(opening_mutex_);
  lock.lock();
  if (reader_ || !wish()) {
    return;
  }
  opening_since_ns_ = monotonic_now_ns();
  lock.unlock();
  Result<OpenedGpu> opened = open_gpu_(request);
  lock.lock();
  opening_since_ns_.reset();
  look_again_ns_ = monotonic_now_ns() + kLookAgainNs;
  if (!opened || opened->reader->registers().empty()) {
    if (!std::exchange(gone_, true)) {
      gone_since_ns_ = monotonic_now_ns();
    }
    return;
  }
  take_gpu(std::move(*opened));
  if (std::exchange(gone_, false)) {
    const std::int64_t now_ns = monotonic_now_ns();
    tell({{now_ns, "device_back",
           fmt::format("the GPU is back after {:.1f} s", seconds(now_ns - gone_since_ns_))},
          {}});
    next_reason_ = "the GPU is back";
  }
}

}  // namespace gputrace::recorder
