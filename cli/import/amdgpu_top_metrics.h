// The firmware's table (gpu_metrics) as amdgpu_top prints it: raw values under the kernel's names.
// They are put back into the bytes of a table, so that the rules for real tables decide what they
// mean.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/import/amdgpu_top_record.h"
#include "cli/import/sensor_series.h"
#include "regdb/gpu_metrics.h"

namespace gputrace::import {

class AmdgpuTopMetricsSeries {
 public:
  /// `first` decides the revision and the units, as when a recording begins.
  static Result<AmdgpuTopMetricsSeries> define(SessionSink& sink, const AmdgpuTopMetrics& first,
                                               const std::string& pci,
                                               const std::optional<regdb::GcVersion>& gc,
                                               std::int64_t max_gap_ns);

  /// How many values it gave.
  Result<std::uint64_t> add(const AmdgpuTopMetrics& metrics, std::int64_t time_ns);
  Status finish(std::int64_t start_ns, std::int64_t end_ns);

  /// Null: the revision is not known here.
  [[nodiscard]] const SensorSeries* series() const { return series_ ? &*series_ : nullptr; }
  /// Empty = nothing to say.
  [[nodiscard]] std::string note() const;

 private:
  struct Element {
    const regdb::MetricsField* field = nullptr;
    std::size_t index = 0;
  };
  using Table = std::array<std::byte, regdb::kMaxMetricsSize>;
  void add_sensor(const Element& element, std::uint8_t format, store::SensorSource& source);
  [[nodiscard]] std::span<const std::byte> rebuild(const AmdgpuTopMetrics& metrics);

  const regdb::MetricsLayout* layout_ = nullptr;
  std::string unknown_revision_;
  regdb::MetricsUnits units_;
  std::vector<Element> elements_;  ///< in the order of the series
  std::optional<SensorSeries> series_;
  std::uint64_t rejected_ = 0;
  std::string first_fault_;
  Table table_{};
};

}  // namespace gputrace::import
