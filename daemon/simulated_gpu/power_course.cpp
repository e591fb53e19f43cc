#include "daemon/simulated_gpu/power_course.h"

#include <cmath>

#include "daemon/base/result.h"

namespace gputrace::simulated_gpu {

namespace {

double seconds_of(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

// dP/dt = (steady - P) / lag and dT/dt = (ambient + r P - T) / tau are linear. So the state is the
// one of a round that follows infinitely many, plus the first round's deviation from it, which
// fades as if nothing drove it.
PowerCourse::PowerCourse(const ThermalDescription& thermal, double idle_w,
                         std::span<const PowerStep> steps)
    : thermal_(thermal), idle_{idle_w, thermal.ambient_c + thermal.c_per_w * idle_w} {
  GPUTRACE_CHECK(!steps.empty());
  PowerState from_zero;
  for (const PowerStep& step : steps) {
    const double seconds = seconds_of(step.end_ns - step.begin_ns);
    from_zero = drive(from_zero, step.steady_w, seconds);
    steps_.push_back({step, {}, steady_round_j_});
    steady_round_j_ += step.steady_w * seconds;
  }
  round_ns_ = steps.back().end_ns;

  // The periodic state X solves X = fade(X) + from_zero over one round.
  const double round_s = seconds_of(round_ns_);
  PowerState state;
  state.power_w = from_zero.power_w / -std::expm1(-round_s / thermal_.power_lag_s);
  const double heated_c = fade({state.power_w, 0}, round_s).temperature_c;
  state.temperature_c =
      (from_zero.temperature_c + heated_c) / -std::expm1(-round_s / thermal_.tau_s);
  from_periodic_ = {idle_.power_w - state.power_w, idle_.temperature_c - state.temperature_c};
  for (Step& step : steps_) {
    step.begin = state;
    state = drive(state, step.step.steady_w, seconds_of(step.step.end_ns - step.step.begin_ns));
  }
}

PowerState PowerCourse::fade(const PowerState& deviation, double seconds) const {
  const double power_left = std::exp(-seconds / thermal_.power_lag_s);
  const double temperature_left = std::exp(-seconds / thermal_.tau_s);
  const double heated_c = thermal_.c_per_w * deviation.power_w * (power_left - temperature_left) /
                          (1 - thermal_.tau_s / thermal_.power_lag_s);
  return {deviation.power_w * power_left, deviation.temperature_c * temperature_left + heated_c};
}

PowerState PowerCourse::drive(const PowerState& begin, double steady_w, double seconds) const {
  const double steady_c = thermal_.ambient_c + thermal_.c_per_w * steady_w;
  const PowerState left = fade({begin.power_w - steady_w, begin.temperature_c - steady_c}, seconds);
  return {steady_w + left.power_w, steady_c + left.temperature_c};
}

const PowerCourse::Step& PowerCourse::step_at(std::int64_t round_ns) const {
  std::size_t index = 0;
  while (steps_[index].step.end_ns <= round_ns) {
    ++index;
  }
  return steps_[index];
}

PowerState PowerCourse::at(std::int64_t time_ns) const {
  if (time_ns <= 0) {
    return idle_;
  }
  const std::int64_t x_ns = time_ns % round_ns_;
  const Step& step = step_at(x_ns);
  const PowerState periodic =
      drive(step.begin, step.step.steady_w, seconds_of(x_ns - step.step.begin_ns));
  const PowerState deviation = fade(from_periodic_, seconds_of(time_ns));
  return {periodic.power_w + deviation.power_w, periodic.temperature_c + deviation.temperature_c};
}

double PowerCourse::energy_j(std::int64_t time_ns) const {
  if (time_ns <= 0) {
    return idle_.power_w * seconds_of(time_ns);
  }
  const std::int64_t x_ns = time_ns % round_ns_;
  const Step& step = step_at(x_ns);
  const std::int64_t rounds = time_ns / round_ns_;
  const double steady_j = static_cast<double>(rounds) * steady_round_j_ + step.steady_before_j +
                          step.step.steady_w * seconds_of(x_ns - step.step.begin_ns);
  // The integral of lag dP/dt = steady - P.
  return steady_j - thermal_.power_lag_s * (at(time_ns).power_w - idle_.power_w);
}

}  // namespace gputrace::simulated_gpu
