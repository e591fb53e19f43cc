#include "daemon/recorder/shared_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gputrace::recorder {

namespace {

// A read takes microseconds, and 100 ms when GFX has to be woken.
constexpr std::int64_t kStuckNs = kNsPerSecond;
// Opening may wake a suspended device, and a simulated one is computed first.
constexpr std::int64_t kSlowOpeningNs = 10 * kNsPerSecond;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace

SharedSampling::SharedSampling(ReaderFactory open_gpu, std::function<void()> changed)
    : open_gpu_(std::move(open_gpu)), changed_(std::move(changed)) {
  thread_ = std::jthread([this] { run(); });
}

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
      GpuOnOffer offer = *gpu_;
      if (request.source != request_.source) {
        offer.notes.push_back(
            fmt::format("--source {} has no effect: another session samples this GPU with --source "
                        "{}, and both get the same samples",
                        request.source, request_.source));
      }
      return offer;
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
  return take_gpu(std::move(*opened));
}

const GpuOnOffer& SharedSampling::take_gpu(OpenedGpu&& opened) {
  std::optional<std::string> woken = std::exchange(woken_, std::nullopt);
  if (members_.empty()) {
    woken.reset();  // the sessions that it concerned have ended
  } else if (woken) {
    opened.identity.name = *woken;  // libdrm may know another, and one session has one GPU
  }
  const auto registers = opened.reader->registers();
  const GpuOnOffer& offer = gpu_.emplace(GpuOnOffer{std::move(opened.identity),
                                                    std::move(opened.regdb_table),
                                                    {registers.begin(), registers.end()},
                                                    std::move(opened.notes),
                                                    opened.load_seconds,
                                                    opened.is_asleep});
  if (!offer.identity.pci.empty()) {
    request_.gpu =
        offer.identity.pci;  // this one again if it vanishes, whatever its number is then
  }
  reader_ = std::move(opened.reader);
  play_ = std::move(opened.play);
  sensors_.open({offer.identity.pci, std::move(opened.sensors), std::move(opened.machine_sensors),
                 std::move(opened.is_awake)});
  const std::int64_t now_ns = monotonic_now_ns();
  if (woken) {
    go_on_after_sleep(offer, now_ns);
  } else {
    states_ = {};
  }
  if (std::exchange(gone_, false)) {
    tell({{now_ns, "device_back",
           fmt::format("the GPU is back after {:.1f} s", seconds(now_ns - gone_since_ns_))},
          {}});
    next_reason_ = "the GPU is back";
  }
  work_.notify_one();
  return offer;
}

/// The states of the samples go on: they tell how long it slept.
void SharedSampling::go_on_after_sleep(const GpuOnOffer& offer, std::int64_t now_ns) {
  next_reason_ = offer.is_asleep ? "the GPU fell asleep again" : "the GPU woke up";
  if (offer.is_asleep) {
    return;
  }
  for (const std::string& note : offer.notes) {  // nobody could know them when the sessions began
    tell({{now_ns, "note", note}, offer.identity.name + ": " + note});
  }
}

double SharedSampling::rate_with(double rate_hz) const {
  const std::scoped_lock lock(mutex_);
  const std::optional<Wish> others = wish();
  return others ? std::max(rate_hz, others->rate_hz) : rate_hz;
}

std::shared_ptr<SessionFeed> SharedSampling::join(const SessionWish& asked) {
  auto feed = std::make_shared<SessionFeed>();
  {
    const std::scoped_lock lock(mutex_);
    Member member;
    member.feed = feed;
    member.wish = {asked.rate_hz, asked.burst};
    member.joined_ns = monotonic_now_ns();
    members_.push_back(member);
    sensors_.join(feed, asked.sensor_rate_hz, asked.burst, member.joined_ns);
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
    if (member == members_.end() || member->left_ns) {
      return;
    }
    sensors_.leave(feed);
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
  // Closing may wake the GPU: without the lock.
  std::unique_ptr<sampler::RegisterReader> unused;
  std::unique_ptr<sampler::SensorSink> unused_sensors;
  const std::scoped_lock lock(mutex_);
  if (members_.empty() && reader_) {
    unused = std::move(reader_);
    unused_sensors = sensors_.close();
    play_ = nullptr;
    gpu_.reset();
  }
}

Result<bool> SharedSampling::play(std::string_view stimulus) {
  std::function<Status(std::string_view)> play;
  {
    const std::scoped_lock lock(mutex_);
    play = play_;
  }
  if (!play) {
    return false;
  }
  if (const Status status = play(stimulus); !status) {  // may take long: without the lock
    return tl::unexpected(status.error());
  }
  return true;
}

std::string SharedSampling::gpu() const {
  const std::scoped_lock lock(mutex_);
  return request_.gpu;
}

bool SharedSampling::is_idle() const {
  const std::scoped_lock lock(mutex_);
  return members_.empty() && !gpu_ && !opening_since_ns_;
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
    Notice told = notice;  // what began before the session did is so from its start
    told.event.time_ns = std::max(told.event.time_ns, member.joined_ns);
    member.feed->push(std::move(told));
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

}  // namespace gputrace::recorder
