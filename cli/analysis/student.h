// Student's t distribution for any degrees of freedom.
#pragma once

namespace gputrace::analysis {

/// P(T <= t); `degrees` > 0, may be infinite (the normal distribution). Error below 1e-10.
[[nodiscard]] double t_cdf(double t, double degrees);
/// The t below which `share` (0 < share < 1) lies. Error below 1e-7 of it.
[[nodiscard]] double t_quantile(double share, double degrees);
/// t_quantile(0.975, degrees) for `degrees` >= 10 in a few operations, error below 1e-5: intervals
/// of single units and seconds need it a million times. Abramowitz and Stegun, Handbook of
/// Mathematical Functions, 26.7.5.
[[nodiscard]] double t_quantile_975(double degrees);

}  // namespace gputrace::analysis
