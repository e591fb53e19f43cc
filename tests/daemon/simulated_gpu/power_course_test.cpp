#include "daemon/simulated_gpu/power_course.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "daemon/base/time.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

constexpr double kIdleW = 3.2;

std::vector<PowerStep> three_steps() {
  return {{0, 2 * kNsPerSecond, 50},
          {2 * kNsPerSecond, 2 * kNsPerSecond + 30'000'000, kIdleW},
          {2 * kNsPerSecond + 30'000'000, 5 * kNsPerSecond, 20}};
}

TEST_CASE("power and temperature solve their differential equations, across steps and rounds") {
  const ThermalDescription thermal;
  const auto steps = three_steps();
  const PowerCourse course(thermal, kIdleW, steps);
  PowerState state{kIdleW, thermal.ambient_c + thermal.c_per_w * kIdleW};
  double energy_j = 0;
  constexpr std::int64_t kStepNs = 100'000;
  constexpr double kStepS = 1e-4;
  for (std::int64_t time_ns = 0; time_ns < 17 * kNsPerSecond; time_ns += kStepNs) {
    if (time_ns % 7'900'000 == 0) {
      CAPTURE(time_ns);
      CHECK(course.at(time_ns).power_w == doctest::Approx(state.power_w).epsilon(2e-3));
      CHECK(course.at(time_ns).temperature_c == doctest::Approx(state.temperature_c).epsilon(1e-4));
      CHECK(course.energy_j(time_ns) == doctest::Approx(energy_j).epsilon(1e-3));
    }
    const std::int64_t round_ns = time_ns % (5 * kNsPerSecond);
    double steady_w = 0;
    for (const PowerStep& step : steps) {
      steady_w = round_ns >= step.begin_ns ? step.steady_w : steady_w;
    }
    energy_j += state.power_w * kStepS;
    const double steady_c = thermal.ambient_c + thermal.c_per_w * state.power_w;
    state.temperature_c += (steady_c - state.temperature_c) / thermal.tau_s * kStepS;
    state.power_w += (steady_w - state.power_w) / thermal.power_lag_s * kStepS;
  }
}

TEST_CASE("a steady load ends at its power and 34.75 C + 0.55 C/W") {
  const std::vector<PowerStep> steps = {{0, 3600 * kNsPerSecond, 40}};
  const PowerCourse course({}, kIdleW, steps);
  CHECK(course.at(0).power_w == doctest::Approx(kIdleW));
  CHECK(course.at(50'000'000).power_w ==
        doctest::Approx(40 + (kIdleW - 40) * std::exp(-1)));  // one lag of 50 ms
  CHECK(course.at(kNsPerSecond).power_w == doctest::Approx(40));
  CHECK(course.at(40 * kNsPerSecond).temperature_c ==
        doctest::Approx(34.75 + 0.55 * (40 + (kIdleW - 40) * std::exp(-1))).epsilon(1e-3));
  CHECK(course.at(500 * kNsPerSecond).temperature_c == doctest::Approx(34.75 + 0.55 * 40));
}

TEST_CASE("before the scenario the machine is idle and in balance") {
  const auto steps = three_steps();
  const PowerCourse course({}, kIdleW, steps);
  CHECK(course.at(-kNsPerSecond).power_w == kIdleW);
  CHECK(course.at(-1).temperature_c == doctest::Approx(34.75 + 0.55 * kIdleW));
  CHECK(course.energy_j(-2 * kNsPerSecond) == doctest::Approx(-2 * kIdleW));
  CHECK(course.energy_j(0) == 0);
}

TEST_CASE("days later every round is like the one before") {
  const auto steps = three_steps();
  const PowerCourse course({}, kIdleW, steps);
  const std::int64_t round_ns = 5 * kNsPerSecond;
  const std::int64_t later_ns = 50'000 * round_ns;
  for (std::int64_t x_ns = 0; x_ns < round_ns; x_ns += 123'456'789) {
    CHECK(course.at(later_ns + x_ns).power_w ==
          doctest::Approx(course.at(later_ns + round_ns + x_ns).power_w));
    CHECK(course.at(later_ns + x_ns).temperature_c ==
          doctest::Approx(course.at(later_ns + round_ns + x_ns).temperature_c));
  }
  const double round_j = course.energy_j(later_ns + round_ns) - course.energy_j(later_ns);
  CHECK(round_j == doctest::Approx(2 * 50 + 0.03 * kIdleW + 2.97 * 20));
}

}  // namespace
}  // namespace gputrace::test
