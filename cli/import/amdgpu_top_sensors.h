// What amdgpu_top says of power, clocks, temperatures, memory and activity, as series.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/import/amdgpu_top_metrics.h"
#include "cli/import/amdgpu_top_record.h"
#include "cli/import/sensor_series.h"

namespace gputrace::import {

class AmdgpuTopSensors {
 public:
  /// Adds the sources to the sink: those of every version of amdgpu_top that `first` may be.
  static Result<AmdgpuTopSensors> define(SessionSink& sink, const AmdgpuTopDevice& first,
                                         const std::optional<regdb::GcVersion>& gc);

  Status add(const AmdgpuTopDevice& device, std::int64_t time_ns);
  Status finish(std::int64_t start_ns, std::int64_t end_ns);

  [[nodiscard]] std::uint64_t values() const { return values_; }
  /// Series with readings.
  [[nodiscard]] std::vector<std::string> names() const;
  /// "Sensors Foo": names that mean nothing here; the first few.
  [[nodiscard]] const std::vector<std::string>& unknown() const { return unknown_; }
  /// "gpu_activity GFX": with values that cannot be, and how many of them.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& impossible() const {
    return impossible_;
  }
  /// What to say of the firmware's table; empty = nothing.
  [[nodiscard]] std::string metrics_note() const { return metrics_ ? metrics_->note() : ""; }

 private:
  struct Section {
    std::string name;
    std::vector<std::string> keys;  ///< in the order of the series
    SensorSeries series;
  };
  Status add_section(const AmdgpuTopSection& from, Section& to, std::int64_t time_ns);
  void add_unknown(const std::string& name);

  std::vector<Section> sections_;
  std::optional<AmdgpuTopMetricsSeries> metrics_;
  std::uint64_t values_ = 0;
  std::vector<std::string> unknown_;
  std::map<std::string, std::uint64_t> impossible_;
};

}  // namespace gputrace::import
