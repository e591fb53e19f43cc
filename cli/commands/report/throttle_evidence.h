// What speaks for or against a throttle bit at a moment: temperatures near their limits, power near
// its cap, the clock under load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/commands/report/sensor_set.h"

namespace gputrace::commands {

/// A metrics table has a dozen; a file may claim any number.
inline constexpr std::size_t kMaxSensorsJudged = 64;

/// The sensors that can speak for a throttle bit, as indices into a set.
struct Witnesses {
  std::vector<std::size_t> temperatures;
  std::optional<std::size_t> power;
  std::optional<std::size_t> cap;
  std::optional<std::size_t> clock;
  std::optional<std::size_t> activity;

  [[nodiscard]] std::set<std::size_t> all() const;
};

/// `use_activity`: false for a busy percentage that is known to be wrong.
[[nodiscard]] Witnesses choose_witnesses(const SensorSet& set, bool use_activity);

/// What was true at one moment.
struct Moment {
  std::optional<std::size_t> hot;  ///< which temperature is nearest to its limit, if near
  double hot_c = 0;
  std::optional<double> power_w;  ///< if near the cap
  std::optional<double> cap_w;
  std::optional<double> busy_clock_mhz;  ///< while the GPU is busy
};

class ThrottleEvidence {
 public:
  /// `runs` holds the readings of all witnesses; set and runs must outlive it.
  ThrottleEvidence(const SensorSet& set, const Witnesses& witnesses,
                   const SensorSet::RunsOfSensors& runs);
  ThrottleEvidence(const ThrottleEvidence&) = delete;  // cursors point into its own ranges
  ThrottleEvidence& operator=(const ThrottleEvidence&) = delete;
  ~ThrottleEvidence() = default;

  /// From here on for a bit of that name: "TEMP_MEM" asks the temperatures of memory only.
  void begin(const std::string& bit);
  /// Moments move forward, until the next begin().
  [[nodiscard]] Moment at(std::int64_t time_ns);
  /// "junction_temperature up to 106 C, usual limit 110 C".
  [[nodiscard]] std::string heat_text(std::size_t temperature, double celsius) const;
  [[nodiscard]] const std::string& clock_name() const { return clock_name_; }

 private:
  /// One sensor's readings, to be asked at moments that only move forward.
  struct Witness {
    std::vector<analysis::TimeRange> ranges;
    analysis::SeriesCursor cursor;
  };
  struct Temperature {
    Witness witness;
    const report::Sensor* sensor = nullptr;  ///< of the set
    double limit_c = 0;                      ///< the usual one of such chips
    bool asked = true;                       ///< about the bit that is judged
  };
  static Witness open(const SensorSet& set, const SensorSet::RunsOfSensors& runs,
                      std::size_t index);

  std::vector<Temperature> temperatures_;
  std::optional<Witness> power_;
  std::optional<Witness> cap_;
  std::optional<Witness> clock_;
  std::optional<Witness> activity_;
  std::string clock_name_;
};

}  // namespace gputrace::commands
