#include "daemon/recorder/shared_sensors.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/base/result.h"

namespace gputrace::recorder {

namespace {

/// The highest rate; in bursts when all ask for the same ones.
struct Wish {
  double rate_hz = 0;
  std::optional<sampler::Burst> burst;
  bool operator==(const Wish&) const = default;
};

store::SensorSource describe(const sampler::SensorReader& reader,
                             std::optional<std::string> gpu_pci) {
  const auto sensors = reader.sensors();
  return {std::string(reader.name()), std::move(gpu_pci), {sensors.begin(), sensors.end()}};
}

bool is_for(const sampler::SensorReading& reading, std::int64_t joined_ns,
            const std::optional<sampler::Burst>& burst) {
  return reading.begin_ns >= joined_ns &&
         (!burst || burst->window_from(reading.begin_ns) <= reading.begin_ns);
}

}  // namespace

class SharedSensors::Opened final : public sampler::SensorSink {
 public:
  Opened(SharedSensors& owner, Readers readers)
      : gpu_is_awake(std::move(readers.gpu_is_awake)), owner_(owner) {
    const std::optional<std::string> pci =
        readers.gpu_pci.empty() ? std::nullopt : std::optional(readers.gpu_pci);
    auto described = std::make_shared<SharedSensorSources>();
    const auto add = [&](const sampler::SensorReader& reader,
                         const std::optional<std::string>& its_pci) {
      described->sources.push_back(describe(reader, its_pci));
      loops_readers.push_back(&reader);
    };
    for (const auto& reader : readers.gpu) {
      add(*reader, pci);
    }
    for (const auto& reader : readers.machine) {
      add(*reader, std::nullopt);
    }
    sources = std::move(described);
    waiting = std::move(readers.gpu);
    waiting.insert(waiting.end(), std::make_move_iterator(readers.machine.begin()),
                   std::make_move_iterator(readers.machine.end()));
    states.resize(waiting.size());
  }

  void take(std::vector<sampler::SensorReading> readings,
            std::vector<sampler::SensorNotice> notices,
            std::span<const sampler::SensorSourceState> now) override {
    owner_.take(*this, std::move(readings), std::move(notices), now);
  }

  [[nodiscard]] std::shared_ptr<const SensorBatch> batch(
      std::vector<sampler::SensorReading> readings) const {
    return std::make_shared<SensorBatch>(SensorBatch{sources, std::move(readings), states});
  }

  /// True when a reading is of a source that had no sensors so far: what it has now is described.
  /// On the loop's thread: who gave a reading is not being read.
  [[nodiscard]] bool find_sensors(const std::vector<sampler::SensorReading>& readings) {
    std::shared_ptr<SharedSensorSources> more;
    for (const sampler::SensorReading& reading : readings) {
      const store::SensorSource& known = sources->sources[reading.source];
      if (known.sensors.size() != reading.values.size()) {
        more = more ? more : std::make_shared<SharedSensorSources>(*sources);
        more->sources[reading.source] = describe(*loops_readers[reading.source], known.gpu_pci);
      }
    }
    if (more) {
      sources = std::move(more);
      return true;
    }
    return false;
  }

  // All guarded by the owner's mutex.
  std::shared_ptr<const SharedSensorSources> sources;
  std::function<bool()> gpu_is_awake;
  std::vector<std::unique_ptr<sampler::SensorReader>> waiting;  ///< until there is a loop
  std::vector<sampler::SensorSourceState> states;
  Wish running;
  std::vector<const sampler::SensorReader*> loops_readers;
  std::unique_ptr<sampler::SensorLoop> loop;

 private:
  SharedSensors& owner_;
};

SharedSensors::SharedSensors() = default;
SharedSensors::~SharedSensors() {
  const std::unique_ptr<sampler::SensorSink> last = close();
}

void SharedSensors::open(Readers readers) {
  if (readers.gpu.empty() && readers.machine.empty()) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  GPUTRACE_CHECK(!opened_);
  opened_ = std::make_unique<Opened>(*this, std::move(readers));
  adjust_loop();
}

std::unique_ptr<sampler::SensorSink> SharedSensors::close() {
  const std::scoped_lock lock(mutex_);
  return std::move(opened_);
}

void SharedSensors::join(const std::shared_ptr<SessionFeed>& feed, double rate_hz,
                         const std::optional<sampler::Burst>& burst, std::int64_t joined_ns) {
  if (rate_hz <= 0) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  members_.push_back({feed, rate_hz, burst, joined_ns});
  if (opened_ && opened_->loop) {
    feed->push(opened_->batch({}));
  }
  adjust_loop();
}

void SharedSensors::leave(const std::shared_ptr<SessionFeed>& feed) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(members_, [&](const Member& member) { return member.feed == feed; });
  adjust_loop();
}

void SharedSensors::adjust_loop() {
  if (!opened_) {
    return;
  }
  Wish wish;
  for (const Member& member : members_) {
    wish.burst = wish.rate_hz == 0 || wish.burst == member.burst ? member.burst : std::nullopt;
    wish.rate_hz = std::max(wish.rate_hz, member.rate_hz);
  }
  if (wish == std::exchange(opened_->running, wish)) {
    return;
  }
  if (opened_->loop) {
    opened_->loop->set_rate(wish.rate_hz, wish.burst);
    return;
  }
  for (const Member& member : members_) {
    member.feed->push(opened_->batch({}));
  }
  sampler::SensorLoopOptions options;
  options.rate_hz = wish.rate_hz;
  options.burst = wish.burst;
  options.gpu_is_awake = std::move(opened_->gpu_is_awake);
  opened_->loop = std::make_unique<sampler::SensorLoop>(std::move(opened_->waiting),
                                                        std::move(options), *opened_);
}

void SharedSensors::take(const Opened& from, std::vector<sampler::SensorReading> readings,
                         std::vector<sampler::SensorNotice> notices,
                         std::span<const sampler::SensorSourceState> states) {
  const std::scoped_lock lock(mutex_);
  if (opened_.get() != &from) {
    return;  // closed meanwhile
  }
  if (opened_->find_sensors(readings)) {
    // With the counts so far, so that the files go on from there.
    for (const Member& member : members_) {
      member.feed->push(opened_->batch({}));
    }
  }
  opened_->states.assign(states.begin(), states.end());
  const std::shared_ptr<const SensorBatch> whole = opened_->batch(std::move(readings));
  for (const Member& member : members_) {
    const auto is_its = [&member](const sampler::SensorReading& reading) {
      return is_for(reading, member.joined_ns, member.burst);
    };
    if (std::all_of(whole->readings.begin(), whole->readings.end(), is_its)) {
      member.feed->push(whole);
      continue;
    }
    std::vector<sampler::SensorReading> part;
    std::copy_if(whole->readings.begin(), whole->readings.end(), std::back_inserter(part), is_its);
    member.feed->push(opened_->batch(std::move(part)));
  }
  tell(std::move(notices));
}

/// Those of one tick and kind are one: a reset makes many sources fail at once.
void SharedSensors::tell(std::vector<sampler::SensorNotice> notices) {
  while (!notices.empty()) {
    sampler::SensorNotice merged = std::move(notices.front());
    notices.erase(notices.begin());
    std::erase_if(notices, [&](const sampler::SensorNotice& other) {
      const bool same = other.kind == merged.kind;
      if (same) {
        merged.text += "; " + other.text;
      }
      return same;
    });
    const std::string warning = merged.kind == "sensor_back" ? "" : merged.text;
    for (const Member& member : members_) {
      member.feed->push(
          Notice{{std::max(merged.time_ns, member.joined_ns), merged.kind, merged.text}, warning});
    }
  }
}

}  // namespace gputrace::recorder
