// A slow loop under a clock that the test moves, and what it delivered.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "daemon/sampler/sensor_loop.h"
#include "tests/support/fake_sensor_reader.h"

namespace gputrace::sampler {

class HandMovedTime final : public SensorTime {
 public:
  [[nodiscard]] std::int64_t now_ns() noexcept override { return now_ns_; }

  /// One waiter, always with the same lock: the loop's thread.
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  std::int64_t deadline_ns) override {
    {
      const std::scoped_lock mine(mutex_);
      waiter_lock_ = lock.mutex();
      waiter_ = &changed;
    }
    if (now_ns_ < deadline_ns) {
      changed.wait(lock);
    }
  }

  void advance(std::int64_t ns) {
    now_ns_ += ns;
    std::mutex* waiter_lock = nullptr;
    std::condition_variable* waiter = nullptr;
    {
      const std::scoped_lock mine(mutex_);
      waiter_lock = waiter_lock_;
      waiter = waiter_;
    }
    if (waiter != nullptr) {
      // With its lock, so that it is not between the look at the clock and the wait; without ours,
      // which it takes inside its own.
      {
        const std::scoped_lock its(*waiter_lock);
      }
      waiter->notify_all();
    }
  }
  /// The loop is about to end.
  void forget_waiter() {
    const std::scoped_lock mine(mutex_);
    waiter_ = nullptr;
  }

 private:
  std::atomic<std::int64_t> now_ns_{1000 * kNsPerSecond};
  std::mutex mutex_;
  std::mutex* waiter_lock_ = nullptr;
  std::condition_variable* waiter_ = nullptr;
};

class Deliveries final : public SensorSink {
 public:
  struct Delivery {
    std::vector<SensorReading> readings;
    std::vector<SensorNotice> notices;
    std::vector<SensorSourceState> states;
  };

  void take(std::vector<SensorReading> readings, std::vector<SensorNotice> notices,
            std::span<const SensorSourceState> states) override {
    const std::scoped_lock lock(mutex_);
    all_.push_back({std::move(readings), std::move(notices), {states.begin(), states.end()}});
    came_.notify_all();
  }
  /// Waits for the delivery with this number, from 0.
  [[nodiscard]] Delivery wait_for(std::size_t index) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return all_.size() > index; });
    return all_[index];
  }
  [[nodiscard]] std::size_t count() {
    const std::scoped_lock lock(mutex_);
    return all_.size();
  }
  [[nodiscard]] std::vector<SensorNotice> notices() {
    const std::scoped_lock lock(mutex_);
    std::vector<SensorNotice> notices;
    for (const Delivery& delivery : all_) {
      notices.insert(notices.end(), delivery.notices.begin(), delivery.notices.end());
    }
    return notices;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Delivery> all_;
};

class LoopRig {
 public:
  explicit LoopRig(const std::vector<std::shared_ptr<test::FakeSensor>>& sensors,
                   SensorLoopOptions options = {}) {
    std::vector<std::unique_ptr<SensorReader>> readers;
    readers.reserve(sensors.size());
    for (const auto& sensor : sensors) {
      readers.push_back(std::make_unique<test::FakeSensorReader>(sensor));
    }
    loop = std::make_unique<SensorLoop>(std::move(readers), std::move(options), deliveries, time);
  }
  LoopRig(const LoopRig&) = delete;
  LoopRig& operator=(const LoopRig&) = delete;
  ~LoopRig() { end(); }

  /// The delivery of the next tick, one period later. Of all ticks, as long as a source is due.
  [[nodiscard]] Deliveries::Delivery next(std::int64_t period_ns = 100 * kNsPerMs) {
    const std::size_t index = deliveries.count();
    time->advance(period_ns);
    return deliveries.wait_for(index);
  }
  void end() {
    if (loop) {
      time->forget_waiter();
      loop.reset();
    }
  }

  std::shared_ptr<HandMovedTime> time = std::make_shared<HandMovedTime>();
  Deliveries deliveries;
  std::unique_ptr<SensorLoop> loop;
};

}  // namespace gputrace::sampler
