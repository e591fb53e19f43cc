#include "cli/commands/roofline/power_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace gputrace::commands {

namespace {

/// Firmware averages over a second or so before it holds a limit.
constexpr std::int64_t kFollowLeastNs = 2 * kNsPerSecond;
constexpr std::int64_t kFollowMostNs = 15 * kNsPerSecond;
constexpr std::size_t kSteadyReadings = 8;
constexpr double kSteadyWithin = 0.03;
/// Above limit x this + kAboveW the limit does not hold.
constexpr double kAbove = 1.1;
constexpr double kAboveW = 1;
constexpr double kBelow = 0.85;
constexpr std::int64_t kTemperatureEveryNs = kNsPerSecond / 2;

class Level {
 public:
  Level(std::uint32_t watts, double max_temperature_c, const PowerSweepSteps& steps, Clock& clock)
      : max_temperature_c_(max_temperature_c), steps_(steps), clock_(clock) {
    level_.watts = watts;
  }

  /// An error ends the sweep. kBusy: cancelled.
  Status run() {
    if (const Status set = steps_.set(level_.watts); !set) {
      return set;
    }
    if (const Status followed = follow(); !followed) {
      return followed;
    }
    LevelResult measured = steps_.measure([this] { return must_stop(); });
    level_.copy = std::move(measured.copy);
    level_.peak = std::move(measured.peak);
    if (!measured.note.empty()) {
      level_.note += (level_.note.empty() ? "" : "; ") + measured.note;
    }
    if (measured.error) {
      return tl::unexpected(*measured.error);
    }
    return check();
  }

  [[nodiscard]] const PowerLevel& result() const { return level_; }

 private:
  void look_at_sensors() {
    const auto highest = [](std::optional<double>& most, std::optional<double> now) {
      if (now && (!most || *now > *most)) {
        most = now;
      }
    };
    highest(level_.temperature_c, steps_.temperature_c());
    highest(level_.fan_rpm, steps_.fan_rpm());
    looked_ns_ = clock_.now_ns();
  }

  bool must_stop() {
    if (clock_.now_ns() - looked_ns_ >= kTemperatureEveryNs) {
      look_at_sensors();
    }
    return steps_.cancelled() || too_hot();
  }

  [[nodiscard]] bool too_hot() const {
    return level_.temperature_c && *level_.temperature_c > max_temperature_c_;
  }

  Status check() {
    look_at_sensors();
    if (too_hot()) {
      return fail(ErrorCode::kIo,
                  fmt::format("{:.0f} C at a limit of {} W, above --max-temp {:.0f} C",
                              level_.temperature_c.value_or(0), level_.watts, max_temperature_c_));
    }
    if (steps_.cancelled()) {
      return fail(ErrorCode::kBusy, "interrupted");
    }
    return {};
  }

  /// Under load until package power is steady.
  Status follow() {
    const std::int64_t start_ns = clock_.now_ns();
    std::deque<double> readings;
    for (;;) {
      if (const Status busy = steps_.load(); !busy) {
        return busy;
      }
      if (const Status good = check(); !good) {
        return good;
      }
      const std::int64_t passed_ns = clock_.now_ns() - start_ns;
      const auto power_w = steps_.power_w();
      if (!power_w) {
        if (passed_ns < kFollowLeastNs) {
          continue;
        }
        level_.note = "not verified: no sensor of package power";
        return {};
      }
      readings.push_back(*power_w);
      if (readings.size() > kSteadyReadings) {
        readings.pop_front();
      }
      const auto [least, most] = std::ranges::minmax(readings);
      const bool steady =
          readings.size() == kSteadyReadings && most - least <= kSteadyWithin * most;
      const double limit_w = level_.watts;
      const bool above = *power_w > limit_w * kAbove + kAboveW;
      if ((steady && !above && passed_ns >= kFollowLeastNs) || passed_ns >= kFollowMostNs) {
        level_.package_w = power_w;
        return judge(*power_w, above);
      }
    }
  }

  Status judge(double power_w, bool above) {
    if (above) {
      return fail(ErrorCode::kIo,
                  fmt::format("package power stays at {:.1f} W, above the limit of {} W: the "
                              "command did not set it, or it does not count what the sensor counts",
                              power_w, level_.watts));
    }
    if (power_w < kBelow * level_.watts) {
      level_.note = fmt::format("draws {:.1f} W: this load does not reach the limit", power_w);
    }
    return {};
  }

  double max_temperature_c_;
  const PowerSweepSteps& steps_;
  Clock& clock_;
  PowerLevel level_;
  std::int64_t looked_ns_ = 0;
};

}  // namespace

PowerSweep run_power_sweep(const std::vector<std::uint32_t>& levels, double max_temperature_c,
                           const PowerSweepSteps& steps, Clock& clock, const LogSink& log) {
  PowerSweep sweep;
  if (!steps.temperature_c()) {
    log(LogLevel::kWarning, "no sensor of the GPU's temperature: --max-temp cannot be watched");
  }
  for (const std::uint32_t watts : levels) {
    if (steps.cancelled()) {
      break;
    }
    log(LogLevel::kInfo, fmt::format("power limit {} W", watts));
    Level level(watts, max_temperature_c, steps, clock);
    const Status status = level.run();
    if (status || level.result().copy || level.result().peak) {
      sweep.levels.push_back(level.result());
    }
    if (!status) {
      if (!steps.cancelled()) {
        sweep.stopped = fail(status.error(), fmt::format("at {} W", watts)).value();
      }
      break;
    }
  }
  if (const Status restored = steps.restore(); !restored) {
    sweep.restore_failed = restored.error();
  }
  return sweep;
}

}  // namespace gputrace::commands
