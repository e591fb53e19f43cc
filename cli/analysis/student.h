// Student's t distribution for any degrees of freedom.
#pragma once

namespace gputrace::analysis {

/// P(T <= t); `degrees` > 0, may be infinite (the normal distribution). Error below 1e-10.
[[nodiscard]] double t_cdf(double t, double degrees);
/// The t below which `share` (0 < share < 1) lies. Error below 1e-7 of it.
[[nodiscard]] double t_quantile(double share, double degrees);

}  // namespace gputrace::analysis
