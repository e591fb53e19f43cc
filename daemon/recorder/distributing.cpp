// The distributing thread of SharedSampling.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/recorder/block_slice.h"
#include "daemon/recorder/lost_registers.h"
#include "daemon/recorder/shared_sampling.h"

namespace gputrace::recorder {

namespace {

constexpr std::int64_t kLookAgainNs = kNsPerSecond;
constexpr std::int64_t kPopNs = kNsPerSecond;

}  // namespace

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
    member.waits_for_loop = member.wish.rate_hz > wanted.rate_hz;
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
  GPUTRACE_CHECK(gpu_.has_value());  // as long as a loop has its reader
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
  const bool woke = !lost && reader->is_over(monotonic_now_ns());
  if (lost) {
    reader.reset();  // a device that is gone cannot come back through the old descriptors
  }
  std::unique_ptr<ReadingThread> ended;
  // Closing may wake the GPU: without the lock.
  std::unique_ptr<sampler::RegisterReader> unused;
  std::unique_ptr<sampler::SensorSink> unused_sensors;
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
    if (lost || woke || !next) {
      unused = std::move(reader_);
      unused_sensors = sensors_.close();
      play_ = nullptr;
      if (woke && next && gpu_) {
        woken_ = gpu_->identity.name;
      }
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

/// Sessions are there but no GPU: it vanished, it woke up and is opened anew, or another session
/// closed it in a race.
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
    miss_gpu(opened ? std::nullopt : std::optional(opened.error()));
    return;
  }
  take_gpu(std::move(*opened));
}

/// It could not be opened; without an error it offers no register.
void SharedSampling::miss_gpu(const std::optional<Error>& error) {
  if (!std::exchange(gone_, true)) {
    gone_since_ns_ = monotonic_now_ns();
  }
  if (!std::exchange(woken_, std::nullopt)) {
    return;  // told when it was lost
  }
  const std::string why = error ? error->message : "it offers no register to read";
  const std::string text =
      error && error->code == ErrorCode::kNotFound
          ? fmt::format("the GPU was asleep and is gone: {}; it is looked for each second", why)
          : fmt::format("the GPU woke up and cannot be recorded: {}; tried again each second", why);
  tell({{gone_since_ns_, "device_gone", text}, text});
}

}  // namespace gputrace::recorder
