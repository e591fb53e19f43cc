#include "cli/analysis/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gputrace::analysis {
namespace {

/// Clocks that differ by less (3 %) move the ridge by less than workloads scatter.
constexpr double kSameClockOctaves = 0.05;
/// Package power wanders by this much (as a ratio) at one limit.
constexpr double kSamePowerRatio = 1.1;
/// The shape of the curve changes with the clock as well, since latencies of DRAM do not: beyond
/// half or twice the clock nothing is left to scale.
constexpr double kMostOctaves = 1.0;
/// How much of a clock's ratio the scaled ridge may be off by, besides a tenth of an octave.
constexpr double kScaledShare = 0.35;
constexpr double kScaledOctaves = 0.1;
/// Not measured. Another compiler changes what stands beside the work (addresses, waits, registers
/// and with them the waves in flight), as another group size does; it does not change the work.
constexpr double kOtherDriverOctaves = 0.25;
constexpr double kUnknownClockOctaves = 0.5;

bool is_positive(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0;
}

double octaves_between(double value, double of) {
  return std::log2(value / of);
}

CalibrationFit refuse(std::string why) {
  return {.use = CalibrationUse::kRefused, .why = std::move(why)};
}

std::string named(const Conditions& conditions) {
  std::string text = conditions.gpu.empty() ? "a GPU without a name" : conditions.gpu;
  if (conditions.vendor_id && conditions.device_id) {
    text += fmt::format(" ({:04x}:{:04x}", *conditions.vendor_id, *conditions.device_id);
    text += conditions.revision_id ? fmt::format(" rev {:02x})", *conditions.revision_id) : ")";
  }
  return conditions.simulated ? text + ", simulated" : text;
}

bool is_same_gpu(const Conditions& a, const Conditions& b) {
  if (a.simulated != b.simulated) {
    return false;
  }
  if (a.vendor_id && a.device_id && b.vendor_id && b.device_id) {
    const bool same_revision = !a.revision_id || !b.revision_id || *a.revision_id == *b.revision_id;
    return *a.vendor_id == *b.vendor_id && *a.device_id == *b.device_id && same_revision;
  }
  return !a.gpu.empty() && a.gpu == b.gpu;
}

/// The ridge goes with the clock of computing, which a power limit holds below that of copying.
std::optional<double> clock_of_computing(const Calibration& calibration) {
  std::vector<double> clocks;
  for (const CalibrationPoint& point : calibration.points) {
    if (!point.suspect && point.truth == Bottleneck::kCompute && is_positive(point.clock_mhz)) {
      clocks.push_back(point.clock_mhz.value_or(0));
    }
  }
  if (clocks.empty()) {
    return is_positive(calibration.conditions.clock_mhz) ? calibration.conditions.clock_mhz
                                                         : std::nullopt;
  }
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return *middle;
}

/// What clock and power say, before the driver is looked at.
CalibrationFit fit_of_level(const Calibration& calibration, const Conditions& recording) {
  const auto clock_then = clock_of_computing(calibration);
  const auto power_then = calibration.conditions.power_w;
  const bool powers_known = is_positive(power_then) && is_positive(recording.power_w);
  const double power_ratio =
      powers_known ? recording.power_w.value_or(1) / power_then.value_or(1) : 1;
  const bool same_power =
      powers_known && power_ratio < kSamePowerRatio && power_ratio > 1 / kSamePowerRatio;
  CalibrationFit fit;
  fit.use = CalibrationUse::kAsItIs;
  if (is_positive(recording.clock_mhz) && clock_then) {
    const double clock = recording.clock_mhz.value_or(0);
    const double octaves = octaves_between(clock, *clock_then);
    const std::string clocks =
        fmt::format("calibrated at {:.0f} MHz, recorded at {:.0f} MHz", *clock_then, clock);
    if (std::abs(octaves) <= kSameClockOctaves) {
      fit.why = clocks;
    } else if (same_power) {
      // At a power limit the clock is what the workload leaves of it.
      fit.widen_octaves = kScaledOctaves;
      fit.why = fmt::format("{}, at the same power of {:.0f} W", clocks, power_then.value_or(0));
    } else if (std::abs(octaves) <= kMostOctaves) {
      fit.use = CalibrationUse::kScaled;
      fit.ridge_ratio = clock / *clock_then;
      fit.widen_octaves = kScaledOctaves + kScaledShare * std::abs(octaves);
      fit.why = fmt::format(
          "{}: scaled by {:.2f} and widened; the bandwidth of memory was taken as the same", clocks,
          fit.ridge_ratio);
    } else {
      return refuse(
          fmt::format("{}: too far apart to scale; calibrate at this power limit", clocks));
    }
    return fit;
  }
  if (powers_known) {
    const std::string powers = fmt::format("calibrated at {:.1f} W, recorded at {:.1f} W",
                                           power_then.value_or(0), recording.power_w.value_or(0));
    // Over the knee of its voltage a clock goes with the power's cube root, below it with the
    // power itself: the power's own ratio is the most that the ridge can have moved.
    const double octaves = std::abs(std::log2(power_ratio));
    if (octaves > kMostOctaves) {
      return refuse(powers + ", and a clock is missing: cannot be scaled");
    }
    fit.widen_octaves = same_power ? kScaledOctaves : octaves;
    fit.why = powers + "; a clock is missing: widened";
    return fit;
  }
  fit.widen_octaves = kUnknownClockOctaves;
  fit.why =
      "clock and power of the recording or of the calibration are not known: widened; another "
      "power level than the calibration's would not show";
  return fit;
}

}  // namespace

std::optional<double> ridge_of(const Calibration& calibration) {
  if (!calibration.compute || !calibration.bandwidth) {
    return std::nullopt;
  }
  const double ridge = calibration.compute->value / calibration.bandwidth->value;
  const bool both_positive = calibration.compute->value > 0 && calibration.bandwidth->value > 0;
  return both_positive && std::isfinite(ridge) ? std::optional(ridge) : std::nullopt;
}

CalibrationFit fit_of(const Calibration& calibration, const Conditions& recording) {
  const Conditions& then = calibration.conditions;
  if (!is_same_gpu(then, recording)) {
    return refuse(fmt::format("it is of {}, the recording of {}", named(then), named(recording)));
  }
  CalibrationFit fit = fit_of_level(calibration, recording);
  if (fit.use == CalibrationUse::kRefused || !then.driver) {
    return fit;
  }
  if (!recording.driver) {
    fit.why +=
        fmt::format("; calibrated with {}, the recording's driver is not known", *then.driver);
  } else if (*then.driver != *recording.driver) {
    fit.other_driver = recording.driver;
    fit.widen_octaves += kOtherDriverOctaves;
    fit.why += fmt::format("; calibrated with {}, recorded with {}: widened", *then.driver,
                           *recording.driver);
  }
  return fit;
}

}  // namespace gputrace::analysis
