#include "cli/commands/report/report_throttling.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/report/throttle_evidence.h"
#include "regdb/throttle.h"

namespace gputrace::commands {
namespace {

using analysis::ReadingRun;
using analysis::TimeRange;
using regdb::ThrottleGroup;
using report::Sensor;
using report::SensorKind;

constexpr std::string_view kStatus = "throttle_status";
constexpr std::string_view kIndependentLow = "throttle_independent_low";
constexpr std::string_view kIndependentHigh = "throttle_independent_high";
constexpr std::string_view kResidency = "throttle_residency_";

/// A claim of the firmware over a stretch of time.
struct Claim {
  TimeRange range;
  bool set = false;
};

/// One bit, or one residency counter, with all that was said of it.
struct Bit {
  std::string name;
  ThrottleGroup group = ThrottleGroup::kOther;
  std::vector<Claim> claims;
};

struct Mean {
  double sum = 0;
  std::uint64_t count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  [[nodiscard]] double value() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

/// Fewer moments than these say nothing of a clock.
constexpr std::uint64_t kMinMoments = 10;
/// A file may claim any length; a day has 864,000 steps of 100 ms.
constexpr std::int64_t kMaxMoments = 1'000'000;

struct Judged {
  double set_s = 0;
  double known_s = 0;
  double hot_s = 0;
  double power_s = 0;
  std::size_t hottest = 0;
  double hottest_c = 0;
  Mean power_w;
  Mean cap_w;
  Mean clock_set;
  Mean clock_clear;
};

std::vector<Bit> bits_of_status(const Sensor& sensor, const std::vector<ReadingRun>& runs,
                                const std::vector<TimeRange>& ranges,
                                const std::optional<regdb::GcVersion>& gc) {
  const std::uint32_t ever = sensor.bits_ever.value_or(0);
  const unsigned shift = sensor.name == kIndependentHigh ? 32 : 0;
  const std::vector<regdb::ThrottleReason> reasons =
      sensor.name == kStatus
          ? regdb::decode_throttle_status(gc, ever)
          : regdb::decode_independent_throttle_status(std::uint64_t{ever} << shift);
  std::vector<Bit> bits;
  for (const regdb::ThrottleReason& reason : reasons) {
    Bit bit{reason.name, reason.group, {}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::uint32_t word = analysis::bits_of(runs[i].value).value_or(0);
      bit.claims.push_back({ranges[i], (word >> (reason.bit - shift) & 1U) != 0});
    }
    bits.push_back(std::move(bit));
  }
  return bits;
}

/// A residency counter claims the time between two readings in which it moved.
Bit bit_of_residency(const Sensor& sensor, const std::vector<ReadingRun>& runs) {
  Bit bit{sensor.name.substr(kResidency.size()), regdb::throttle_residency_group(sensor.name), {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0 && runs[i].value >= runs[i - 1].value) {
      bit.claims.push_back(
          {{runs[i - 1].end_ns, runs[i].start_ns}, runs[i].value > runs[i - 1].value});
    }
    bit.claims.push_back({{runs[i].start_ns, runs[i].end_ns}, false});
  }
  return bit;
}

/// Walks over the claims in steps of 100 ms (longer ones in a session of over a day) and asks the
/// witnesses in the middle of each.
Judged judge(const Bit& bit, const TimeRange& shown, ThrottleEvidence& evidence) {
  evidence.begin(bit.name);
  const std::int64_t step = std::max(store::kCellNs, (shown.end_ns - shown.start_ns) / kMaxMoments);
  Judged judged;
  for (const Claim& claim : bit.claims) {
    const std::int64_t end = std::min(claim.range.end_ns, shown.end_ns);
    for (std::int64_t from = std::max(claim.range.start_ns, shown.start_ns); from < end;) {
      const std::int64_t to = std::min(from + step, end);
      const double seconds = static_cast<double>(to - from) / 1e9;
      const Moment moment = evidence.at(from + (to - from) / 2);
      from = to;
      judged.known_s += seconds;
      if (moment.busy_clock_mhz) {
        (claim.set ? judged.clock_set : judged.clock_clear).add(*moment.busy_clock_mhz);
      }
      if (!claim.set) {
        continue;
      }
      judged.set_s += seconds;
      if (moment.hot) {
        judged.hot_s += seconds;
        if (moment.hot_c > judged.hottest_c) {
          judged.hottest = *moment.hot;
          judged.hottest_c = moment.hot_c;
        }
      }
      if (moment.power_w && moment.cap_w) {
        judged.power_s += seconds;
        judged.power_w.add(*moment.power_w);
        judged.cap_w.add(*moment.cap_w);
      }
    }
  }
  return judged;
}

bool is_held_down(const Judged& judged) {
  return judged.clock_set.count >= kMinMoments && judged.clock_clear.count >= kMinMoments &&
         judged.clock_set.value() < kHeldDown * judged.clock_clear.value();
}

void support(const Bit& bit, const Judged& judged, const ThrottleEvidence& evidence,
             report::ThrottleBit& out) {
  const bool thermal = bit.group == ThrottleGroup::kTemperature;
  const bool power = bit.group == ThrottleGroup::kPower;
  if (thermal && judged.hot_s >= kMinSupportedS) {
    out.supported_s = judged.hot_s;
    out.evidence = evidence.heat_text(judged.hottest, judged.hottest_c);
  } else if (power && judged.power_s >= kMinSupportedS) {
    out.supported_s = judged.power_s;
    out.evidence = fmt::format("package_power {:.1f} W of a cap of {:.1f} W",
                               judged.power_w.value(), judged.cap_w.value());
  } else if (bit.group != ThrottleGroup::kOther && judged.set_s >= kMinSupportedS &&
             is_held_down(judged)) {
    out.supported_s = judged.set_s;
    out.evidence =
        fmt::format("{} {:.0f} MHz under load, {:.0f} MHz without the bit", evidence.clock_name(),
                    judged.clock_set.value(), judged.clock_clear.value());
  }
}

bool is_independent(const Sensor& sensor) {
  return sensor.name == kIndependentLow || sensor.name == kIndependentHigh;
}

/// Sensors with claims. The kernel makes the independent bits from throttle_status, so that one
/// says nothing more beside them.
std::vector<std::size_t> claiming_sensors(const std::vector<Sensor>& sensors) {
  const bool independent = std::any_of(sensors.begin(), sensors.end(), [](const Sensor& sensor) {
    return is_independent(sensor) && sensor.samples > 0;
  });
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const Sensor& sensor = sensors[i];
    const bool bits = sensor.kind == SensorKind::kBits &&
                      (is_independent(sensor) || (sensor.name == kStatus && !independent));
    const bool residency =
        sensor.kind == SensorKind::kCounter && sensor.name.rfind(kResidency, 0) == 0;
    if (sensor.samples > 0 && (bits || residency) && found.size() < kMaxSensorsJudged) {
      found.push_back(i);
    }
  }
  return found;
}

bool ever_claimed(const Sensor& sensor) {
  return sensor.bits_ever.value_or(0) != 0 || sensor.total.value_or(0) > 0;
}

report::ThrottleBit judged_bit(const Bit& bit, const TimeRange& shown, ThrottleEvidence& evidence) {
  const Judged judged = judge(bit, shown, evidence);
  report::ThrottleBit out;
  out.name = bit.name;
  out.group = regdb::to_string(bit.group);
  if (judged.known_s > 0) {
    out.share = judged.set_s / judged.known_s;
  }
  support(bit, judged, evidence, out);
  return out;
}

}  // namespace

Result<std::optional<report::Throttling>> throttling_of(const SensorSet& set,
                                                        const std::optional<regdb::GcVersion>& gc,
                                                        bool use_activity) {
  const std::vector<Sensor>& sensors = set.sensors();
  const std::vector<std::size_t> claiming = claiming_sensors(sensors);
  if (claiming.empty()) {
    return std::nullopt;
  }
  report::Throttling throttling;
  const Witnesses witnesses = choose_witnesses(set, use_activity);
  std::set<std::size_t> wanted;
  for (const std::size_t index : claiming) {
    throttling.samples = std::max(throttling.samples, sensors[index].samples);
    if (ever_claimed(sensors[index])) {
      wanted.insert(index);
    }
  }
  if (wanted.empty()) {
    return throttling;
  }
  std::set<std::size_t> read = witnesses.all();
  read.insert(wanted.begin(), wanted.end());
  const Result<SensorSet::RunsOfSensors> runs = set.runs(read);
  if (!runs) {
    return tl::unexpected<Error>(runs.error());
  }
  ThrottleEvidence evidence(set, witnesses, *runs);
  for (const std::size_t index : wanted) {
    const std::vector<ReadingRun>& readings = runs->at(index);
    const std::vector<Bit> bits =
        sensors[index].kind == SensorKind::kCounter
            ? std::vector<Bit>{bit_of_residency(sensors[index], readings)}
            : bits_of_status(sensors[index], readings, analysis::spoken_for(readings, set.shown()),
                             gc);
    for (const Bit& bit : bits) {
      throttling.bits.push_back(judged_bit(bit, set.shown(), evidence));
    }
  }
  return throttling;
}

}  // namespace gputrace::commands
