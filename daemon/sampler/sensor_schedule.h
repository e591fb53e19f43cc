// When each source of the slow loop is read again, and what is said of one that fails, hangs or is
// dear. Neither threads nor a clock: the loop tells what happened and when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/sensor_rate.h"
#include "daemon/base/time.h"
#include "daemon/sampler/burst.h"

namespace gputrace::sampler {

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

class SensorSchedule {
 public:
  struct Source {
    std::string name;
    double max_rate_hz = 1000;
    bool needs_gpu_awake = false;
  };
  enum class Outcome {
    kRead,
    kRejected,  ///< an answer that cannot be true; a failure when many come in a row
    kFailed,
    kAsleep,  ///< not read, since that would wake the GPU; its files are closed
  };
  struct Result {
    std::uint32_t source = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    Outcome outcome = Outcome::kRead;
    std::string error;  ///< of kRejected and kFailed
  };

  SensorSchedule(std::vector<Source> sources, const SensorLoopOptions& options);

  /// Between two ticks.
  void set_period(double period_ns);
  /// Adds what is to be read at this tick.
  void due(std::int64_t tick_ns, std::vector<std::uint32_t>& sources);
  void finish(const Result& result);
  /// The read that began then has not returned by now: no other is due until it has.
  void hang(std::uint32_t source, std::int64_t began_ns, std::int64_t now_ns);
  void return_late(std::uint32_t source, std::int64_t now_ns);
  /// True when the source may hold files of the device open.
  [[nodiscard]] bool may_be_open(std::uint32_t source) const;
  [[nodiscard]] bool hangs(std::uint32_t source) const;

  [[nodiscard]] std::span<const SensorSourceState> states() const { return states_; }
  /// Since the last call.
  [[nodiscard]] std::vector<SensorNotice> take_notices();

 private:
  static constexpr std::size_t kCosts = 5;
  struct Progress {
    Source source;
    std::int64_t next_ns = 0;
    std::array<std::int64_t, kCosts> costs_ns{};  ///< of the last reads
    std::size_t cost_count = 0;                   ///< of all reads
    std::int64_t slow_ns = 0;                     ///< usual cost of a slow source; 0 = not slow
    bool told_slow = false;
    std::uint32_t rejected_in_a_row = 0;
    bool left_alone = false;  ///< failed or hung: read again when the wait is over
    bool hangs = false;
    bool may_be_open = true;  ///< whoever made the reader may have looked
    std::int64_t failed_since_ns = 0;
    std::int64_t retry_wait_ns = 0;
    std::optional<std::int64_t> back_since_ns;
  };

  void count_cost(std::uint32_t source, std::int64_t cost_ns, std::int64_t now_ns);
  void succeed(std::uint32_t source, std::int64_t now_ns);
  void fail(std::uint32_t source, std::int64_t now_ns, const char* kind, const std::string& text,
            std::string problem);
  [[nodiscard]] std::int64_t distance_ns(const Progress& progress) const;
  void tell_rate(std::uint32_t source);

  std::int64_t deadline_ns_;
  std::int64_t slow_ns_;
  std::int64_t first_retry_ns_;
  std::int64_t last_retry_ns_;
  double period_ns_ = 0;
  std::vector<Progress> progress_;
  std::vector<SensorSourceState> states_;
  std::vector<SensorNotice> notices_;
};

}  // namespace gputrace::sampler
