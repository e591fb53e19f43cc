// The slow loop: reads every sensor source at its rate, each with a deadline, apart from the loop
// that reads registers. A source that blocks or fails costs the others nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/sampler/burst.h"
#include "daemon/sampler/sensor_reader.h"
#include "daemon/sampler/sensor_schedule.h"

namespace gputrace::sampler {

/// One read of one source that gave values.
struct SensorReading {
  std::uint32_t source = 0;  ///< index of the reader
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<std::optional<double>> values;  ///< in the order of the reader's sensors()
};

/// What a tick brought. Called on the loop's thread.
class SensorSink {
 public:
  SensorSink() = default;
  SensorSink(const SensorSink&) = delete;
  SensorSink& operator=(const SensorSink&) = delete;
  virtual ~SensorSink() = default;
  virtual void take(std::vector<SensorReading> readings, std::vector<SensorNotice> notices,
                    std::span<const SensorSourceState> states) = 0;
};

/// What the loop knows of time. Tests pass one that they move by hand.
class SensorTime {
 public:
  SensorTime() = default;
  SensorTime(const SensorTime&) = delete;
  SensorTime& operator=(const SensorTime&) = delete;
  virtual ~SensorTime() = default;

  /// CLOCK_MONOTONIC. Any thread.
  [[nodiscard]] virtual std::int64_t now_ns() noexcept = 0;
  /// Returns at `deadline_ns`, when `changed` is notified, or sooner for no reason.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                          std::int64_t deadline_ns) = 0;
};
[[nodiscard]] std::shared_ptr<SensorTime> monotonic_sensor_time();

/// One thread keeps the time, another reads. A read that does not return within the deadline is
/// left behind with its thread and its reader, and a fresh thread goes on with the other sources.
/// Ticks are absolute; those that passed during a long read are skipped, never made up for.
class SensorLoop {
 public:
  /// Begins at once. `sink` must outlive the loop.
  SensorLoop(std::vector<std::unique_ptr<SensorReader>> readers, SensorLoopOptions options,
             SensorSink& sink, std::shared_ptr<SensorTime> time = monotonic_sensor_time());
  SensorLoop(const SensorLoop&) = delete;
  SensorLoop& operator=(const SensorLoop&) = delete;
  /// Never waits for a read in progress: its thread closes the source when it returns. Waits for
  /// a take() in progress; none follows.
  ~SensorLoop();

  /// Any thread. With 0 Hz the loop rests and the device's files are closed.
  void set_rate(double rate_hz, const std::optional<Burst>& burst);

 private:
  struct Job;
  struct Done;
  struct Worker;
  struct Shared;

  static void work(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Worker>& worker);
  static void perform(const Job& job, Shared& shared, Done& done);

  void run();
  void rest(std::unique_lock<std::mutex>& lock);
  void tick(std::unique_lock<std::mutex>& lock, std::int64_t tick_ns);
  /// Hands them to the worker and waits for all but those that hang.
  void perform_all(std::unique_lock<std::mutex>& lock, std::vector<Job> jobs);
  [[nodiscard]] std::vector<Job> leave_behind(std::int64_t now_ns);
  void take_done(Worker& worker);
  void look_after_stuck(std::int64_t now_ns);
  void deliver(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::int64_t next_tick_ns() const noexcept;
  void advance(std::int64_t now_ns) noexcept;

  // Of the loop's thread alone.
  std::vector<std::shared_ptr<SensorReader>> readers_;
  std::int64_t deadline_ns_;
  SensorSink& sink_;
  SensorSchedule schedule_;
  std::vector<std::uint32_t> due_;
  std::vector<SensorReading> readings_;
  std::shared_ptr<Worker> worker_;
  std::vector<std::shared_ptr<Worker>> stuck_;
  double period_ns_ = 0;  ///< 0 = at rest
  std::optional<Burst> burst_;
  std::int64_t grid_ns_ = 0;
  std::uint64_t tick_ = 0;  ///< the next one is at grid_ns_ + tick_ * period_ns_

  const std::shared_ptr<Shared> shared_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace gputrace::sampler
