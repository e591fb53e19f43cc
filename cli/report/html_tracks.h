// Sensors of the time line: names, units and limits as they are shown, and which come first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/report.h"

namespace gputrace::report {

/// More would make the page too large; the table of sensors has all.
inline constexpr std::size_t kMostTracks = 8;

/// A track as it is drawn. `low` and `high` are in `unit`, after `scale`.
struct Lane {
  std::size_t track = 0;  ///< index into Timeline::tracks
  std::string label;      ///< "Power"
  std::string unit;       ///< "W", "GB/s"
  double scale = 1;       ///< from the track's unit to `unit`
  int decimals = 0;
  double low = 0;  ///< of the axis
  double high = 1;
  std::optional<double> limit;
  std::string limit_name;  ///< "limit", "roof"
  bool key = false;        ///< one each of power, clock, temperature and memory traffic
};

/// Key tracks first. Tracks without a reading are left out.
[[nodiscard]] std::vector<Lane> sensor_lanes(const Report& report);

}  // namespace gputrace::report
