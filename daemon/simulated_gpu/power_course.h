// Package power and die temperature in the course of a scenario: the load drives the power, which
// drives the temperature, each with its lag. The load is constant within a phase, so both have
// closed forms in time, however often the scenario has repeated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/simulated_gpu/gpu_description.h"

namespace gputrace::simulated_gpu {

/// A phase as power knows it. Times are nanoseconds within a round.
struct PowerStep {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double steady_w = 0;
};

struct PowerState {
  double power_w = 0;
  double temperature_c = 0;
};

/// Times are nanoseconds since the scenario's begin. Before it the machine has long been idle.
class PowerCourse {
 public:
  /// `steps` follow each other without holes from 0.
  PowerCourse(const ThermalDescription& thermal, double idle_w, std::span<const PowerStep> steps);

  [[nodiscard]] PowerState at(std::int64_t time_ns) const;
  /// The integral of at().power_w over [0, time_ns); negative before the begin.
  [[nodiscard]] double energy_j(std::int64_t time_ns) const;

  /// After `seconds` of a load that ends at `steady_w`.
  [[nodiscard]] PowerState drive(const PowerState& begin, double steady_w, double seconds) const;
  /// What is left of a deviation from any course.
  [[nodiscard]] PowerState fade(const PowerState& deviation, double seconds) const;
  [[nodiscard]] const ThermalDescription& thermal() const { return thermal_; }

 private:
  struct Step {
    PowerStep step;
    PowerState begin;            ///< of a round that follows infinitely many
    double steady_before_j = 0;  ///< integral of steady_w from the round's begin
  };
  [[nodiscard]] const Step& step_at(std::int64_t round_ns) const;

  ThermalDescription thermal_;
  PowerState idle_;
  std::vector<Step> steps_;
  PowerState from_periodic_;  ///< how the first round's begin differs from the later ones'
  std::int64_t round_ns_ = 0;
  double steady_round_j_ = 0;
};

}  // namespace gputrace::simulated_gpu
