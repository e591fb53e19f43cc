// The slow loop: reads every sensor source at its rate, each with a deadline, apart from the loop
// that reads registers. A source that blocks or fails costs the others nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/sampler/burst.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::sampler {

inline constexpr double kDefaultSensorRateHz = 10;
inline constexpr double kMinSensorRateHz = 0.1;
inline constexpr double kMaxSensorRateHz = 100;

/// One read of one source that gave values.
struct SensorReading {
  std::uint32_t source = 0;  ///< index of the reader
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<std::optional<double>> values;  ///< in the order of the reader's sensors()
};

/// Since the loop began.
struct SensorSourceState {
  std::uint64_t reads = 0;     ///< that gave values
  std::uint64_t rejected = 0;  ///< answers that cannot be true
  std::uint64_t failed = 0;    ///< errors
  std::uint64_t late = 0;      ///< did not return within the deadline
  std::uint64_t cost_ns = 0;   ///< of all reads together
  std::uint64_t worst_ns = 0;
  double rate_hz = 0;   ///< now; 0 while the source is left alone
  std::string problem;  ///< why it is left alone or read less often; empty = nothing
};

/// Worth an event, and a warning to who records. Once for each cause, not once a read.
struct SensorNotice {
  std::int64_t time_ns = 0;
  std::string kind;  ///< "sensor_lost", "sensor_back", "sensor_slow", "sensor_stuck"
  std::string text;
};

struct SensorLoopOptions {
  double rate_hz = kDefaultSensorRateHz;
  std::optional<Burst> burst;  ///< read inside the bursts only
  std::int64_t deadline_ns = 500 * kNsPerMs;
  std::int64_t slow_ns = 5 * kNsPerMs;             ///< a dearer source is read less often
  std::int64_t first_retry_ns = 1 * kNsPerSecond;  ///< doubles with each failure
  std::int64_t last_retry_ns = 60 * kNsPerSecond;
  /// False: the GPU sleeps. Reading power/runtime_status wakes nothing. Empty = always awake.
  std::function<bool()> gpu_is_awake;
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

}  // namespace gputrace::sampler
