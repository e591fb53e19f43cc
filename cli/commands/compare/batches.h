// How well the means of a recording are known: it is cut into batches of equal length, and their
// scatter about the mean that the report tells (method of batch means; readings follow each other
// and are no independent draws).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/statistics.h"
#include "cli/report/report.h"
#include "daemon/base/result.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

struct SensorInterval {
  std::string name;
  std::string source;
  analysis::Interval interval;
};

struct Batches {
  std::vector<SensorInterval> sensors;
  std::optional<analysis::Interval> dram_gbps;
  std::optional<analysis::Interval> frame_time_ms;  ///< of the mean

  [[nodiscard]] std::optional<analysis::Interval> of_sensor(std::string_view name,
                                                            std::string_view source) const;
};

/// Of what `report` shows of the session. Empty for what is shorter than kMinBatches seconds.
[[nodiscard]] Result<Batches> batches_of(const store::SessionReader& session,
                                         const report::Report& report);

/// Batches are at least a second long (sensors are read ten times a second, power lags by some 50
/// ms), and of fewer than these the scatter says too little.
inline constexpr std::size_t kMinBatches = 5;
inline constexpr std::size_t kMostBatches = 20;

}  // namespace gputrace::commands
