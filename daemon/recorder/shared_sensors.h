// The slow loop of one GPU for all sessions that want sensors. It runs at the highest rate asked,
// rests while nobody asks, and never waits for a session. The register loop knows nothing of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/recorder/session_feed.h"
#include "daemon/sampler/burst.h"
#include "daemon/sampler/sensor_loop.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::recorder {

class SharedSensors {
 public:
  struct Readers {
    std::string gpu_pci;  ///< may be empty
    std::vector<std::unique_ptr<sampler::SensorReader>> gpu;
    std::vector<std::unique_ptr<sampler::SensorReader>> machine;
    std::function<bool()> gpu_is_awake;
  };

  SharedSensors();
  SharedSensors(const SharedSensors&) = delete;
  SharedSensors& operator=(const SharedSensors&) = delete;
  ~SharedSensors();

  /// Any thread, all of them. The GPU was opened.
  void open(Readers readers);
  /// The GPU is closed or gone. What is returned is destroyed without a lock that others wait for.
  [[nodiscard]] std::unique_ptr<sampler::SensorSink> close();
  /// With 0 Hz the session gets no sensors.
  void join(const std::shared_ptr<SessionFeed>& feed, double rate_hz,
            const std::optional<sampler::Burst>& burst, std::int64_t joined_ns);
  void leave(const std::shared_ptr<SessionFeed>& feed);

 private:
  /// The sensors of a GPU that is open, and their loop.
  class Opened;
  struct Member {
    std::shared_ptr<SessionFeed> feed;
    double rate_hz = 0;
    std::optional<sampler::Burst> burst;
    std::int64_t joined_ns = 0;
  };

  void take(const Opened& from, std::vector<sampler::SensorReading> readings,
            std::vector<sampler::SensorNotice> notices,
            std::span<const sampler::SensorSourceState> states);
  // With mutex_ held.
  void adjust_loop();
  void tell(std::vector<sampler::SensorNotice> notices);

  std::mutex mutex_;
  std::vector<Member> members_;     ///< guarded by mutex_, like the next
  std::unique_ptr<Opened> opened_;  ///< last: its loop calls take()
};

}  // namespace gputrace::recorder
