// Sums of the readings of one sensor over a stretch of time, whatever its kind.
#pragma once

#include "cli/analysis/readings.h"
#include "cli/report/report.h"

namespace gputrace::commands {

class SensorSums {
 public:
  SensorSums(report::SensorKind kind, const analysis::TimeRange& within)
      : kind_(kind), gauge_(within) {}

  /// Of one series, in order of time.
  void add(const analysis::ReadingRun& run);
  /// After the last run.
  void finish() { gauge_.finish(); }
  /// Of another series of the same sensor; both are finished.
  void merge(const SensorSums& other);
  void fill(report::Sensor& sensor) const;

 private:
  report::SensorKind kind_;
  analysis::GaugeSums gauge_;
  analysis::CounterSums counter_;
  analysis::BitSums bits_;
};

}  // namespace gputrace::commands
