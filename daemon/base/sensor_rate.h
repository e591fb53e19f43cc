// How often the slow loop may read sensors. The command line, the messages between processes and
// the loop itself agree on it.
#pragma once

namespace gputrace {

inline constexpr double kDefaultSensorRateHz = 10;
inline constexpr double kMinSensorRateHz = 0.1;
inline constexpr double kMaxSensorRateHz = 100;

}  // namespace gputrace
