#include "cli/report/log_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gputrace::report {
namespace {

/// Room above the highest ceiling for its label.
constexpr double kHeadroom = 1.5;
/// Left and right of the main ridge at least: both sides of a roof show.
constexpr double kAroundRidge = 8;

double power_of_two_below(double value) {
  return std::exp2(std::floor(std::log2(value) + 1e-9));
}
double power_of_two_above(double value) {
  return std::exp2(std::ceil(std::log2(value) - 1e-9));
}

constexpr std::array<double, 3> kSteps{1, 2, 5};

double step_below(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value) + 1e-9));
  double result = decade;
  for (const double step : kSteps) {
    if (step * decade <= value * (1 + 1e-9)) {
      result = step * decade;
    }
  }
  return result;
}

double step_above(double value) {
  const double below = step_below(value);
  if (below >= value * (1 - 1e-9)) {
    return below;
  }
  const double decade = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double step : kSteps) {
    if (step * decade >= value) {
      return step * decade;
    }
  }
  return 10 * decade;
}

bool counts_flops(const analysis::Ceiling& ceiling) {
  return ceiling.unit == "GFLOPS";
}

}  // namespace

double LogScale::at(double value) const {
  return span * std::log(value / low) / std::log(high / low);
}

double LogScale::value_at(double place) const {
  return low * std::pow(high / low, place / span);
}

RooflineRange range_of(const analysis::Roofline& roofline) {
  double peak = 0;
  for (const analysis::Ceiling& ceiling : roofline.compute) {
    peak = counts_flops(ceiling) ? std::max(peak, ceiling.value) : peak;
  }
  const double ridge = roofline.ridges.empty() ? 1 : roofline.ridges.front().intensity;
  double left = ridge / kAroundRidge;
  double right = ridge * kAroundRidge;
  for (const analysis::Ridge& other : roofline.ridges) {
    right = other.bandwidth == 0 ? std::max(right, other.intensity * 2) : right;
  }
  double top = peak;
  double bottom = 0;
  for (const analysis::RooflinePoint& point : roofline.points) {
    left = std::min(left, point.intensity);
    right = std::max(right, point.intensity);
    top = std::max(top, point.gflops);
    bottom = bottom > 0 ? std::min(bottom, point.gflops) : point.gflops;
  }
  left = power_of_two_below(left);
  right = power_of_two_above(right);
  if (!roofline.bandwidth.empty()) {
    const double least = roofline.bandwidth.front().value * left;
    bottom = bottom > 0 ? std::min(bottom, least) : least;
    top = std::max(top, peak > 0 ? 0 : roofline.bandwidth.front().value * right);
  }
  if (bottom <= 0) {
    bottom = top / 100;
  }
  return {left, right, step_below(bottom), step_above(top * kHeadroom)};
}

std::vector<double> octave_ticks(const LogScale& scale, std::size_t most) {
  const int octaves = static_cast<int>(std::floor(std::log2(scale.high / scale.low) + 1e-9)) + 1;
  int step = 1;
  while (static_cast<std::size_t>((octaves + step - 1) / step) > most) {
    step *= 2;
  }
  std::vector<double> ticks;
  for (int octave = 0; octave < octaves; octave += step) {
    ticks.push_back(scale.low * std::exp2(octave));
  }
  return ticks;
}

std::vector<double> decade_ticks(const LogScale& scale, std::size_t most) {
  std::vector<double> fine;
  std::vector<double> coarse;
  const int first = static_cast<int>(std::floor(std::log10(scale.low) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(scale.high) + 1e-9));
  for (int decade = first; decade <= last; ++decade) {
    for (const double step : kSteps) {
      const double tick = step * std::pow(10, decade);
      if (tick >= scale.low * (1 - 1e-9) && tick <= scale.high * (1 + 1e-9)) {
        fine.push_back(tick);
        if (step == 1) {
          coarse.push_back(tick);
        }
      }
    }
  }
  return fine.size() > most ? coarse : fine;
}

std::string format_three_digits(double value) {
  if (value >= 99.95) {
    return fmt::format("{:.0f}", value);
  }
  std::string text = fmt::format("{:.{}f}", value, value >= 9.995 ? 1 : 2);
  while (text.back() == '0') {
    text.pop_back();
  }
  if (text.back() == '.') {
    text.pop_back();
  }
  return text;
}

std::string format_spread(double lower, double upper) {
  return fmt::format("{} - {}", format_three_digits(lower), format_three_digits(upper));
}

}  // namespace gputrace::report
