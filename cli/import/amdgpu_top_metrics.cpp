#include "cli/import/amdgpu_top_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputrace::import {

namespace {

void put(std::span<std::byte> at, std::uint64_t value) {
  for (std::byte& byte : at) {
    byte = static_cast<std::byte>(value & 0xffU);
    value >>= 8U;
  }
}

/// Fields that amdgpu_top prints as words (throttling), and sums, which it does not print.
bool is_gauge(const regdb::MetricsField& field) {
  return field.value_unit != "bits" && field.value_unit != "J" && field.value_unit != "count";
}

}  // namespace

/// What is absent is all ones, as the driver has it (smu_cmn.c).
std::span<const std::byte> AmdgpuTopMetricsSeries::rebuild(const AmdgpuTopMetrics& metrics) {
  const auto table = std::span(table_).first(layout_->size);
  std::fill(table.begin(), table.end(), std::byte{0xff});
  put(table.subspan(0, 2), layout_->size);
  table[2] = static_cast<std::byte>(metrics.format);
  table[3] = static_cast<std::byte>(metrics.content);
  for (const AmdgpuTopMetrics::Field& given : metrics.fields) {
    const regdb::MetricsField* field = layout_->find(given.name);
    if (field == nullptr) {
      continue;
    }
    const double limit =
        std::ldexp(1.0, static_cast<int>(8 * std::min<std::size_t>(field->width, 7)));
    for (std::size_t i = 0; i < std::min(field->count, given.elements.size()); ++i) {
      const std::optional<double>& value = given.elements[i];
      if (value && *value >= 0 && *value < limit) {
        put(table.subspan(field->offset + i * field->width, field->width),
            static_cast<std::uint64_t>(*value));
      }
    }
  }
  return table;
}

void AmdgpuTopMetricsSeries::add_sensor(const Element& element, std::uint8_t format,
                                        store::SensorSource& source) {
  const regdb::MetricsField& field = *element.field;
  const std::string index = std::to_string(element.index);
  const regdb::MetricsScale* scale = regdb::doubtful_unit(field, units_);
  sampler::SensorDescription sensor;
  sensor.name = field.sensor + (field.count > 1 ? "_" + index : "");
  sensor.source =
      "amdgpu_top gpu_metrics " + field.name + (field.count > 1 ? "[" + index + "]" : "");
  sensor.unit = regdb::metric_unit(field, units_);
  if (format != 1 && field.sensor == "package_power") {
    sensor.covers = "CPU and GPU together";
  }
  if (scale != nullptr) {
    sensor.decision = scale->decision;
  }
  source.sensors.push_back(std::move(sensor));
  elements_.push_back(element);
}

Result<AmdgpuTopMetricsSeries> AmdgpuTopMetricsSeries::define(
    SessionSink& sink, const AmdgpuTopMetrics& first, const std::string& pci,
    const std::optional<regdb::GcVersion>& gc, std::int64_t max_gap_ns) {
  AmdgpuTopMetricsSeries series;
  series.layout_ = regdb::find_metrics_layout(first.format, first.content);
  if (series.layout_ == nullptr || series.layout_->size > regdb::kMaxMetricsSize) {
    series.layout_ = nullptr;
    series.unknown_revision_ = fmt::format("{}.{}", first.format, first.content);
    return series;
  }
  const std::span<const std::byte> table = series.rebuild(first);
  series.units_ = regdb::decide_metrics_units(table, *series.layout_, gc);
  store::SensorSource source;
  source.name = "amdgpu_top gpu_metrics";
  if (!pci.empty()) {
    source.gpu_pci = pci;
  }
  for (const regdb::MetricsField& field : series.layout_->fields) {
    if (field.sensor.empty() || !is_gauge(field) ||
        !regdb::why_unrecorded(*series.layout_, field, gc).empty()) {
      continue;
    }
    for (std::size_t i = 0; i < field.count; ++i) {
      if (regdb::is_provided(table, field, i, series.units_)) {
        series.add_sensor({&field, i}, first.format, source);
      }
    }
  }
  Result<SensorSeries> defined = SensorSeries::define(sink, std::move(source), max_gap_ns);
  if (!defined) {
    return tl::unexpected(defined.error());
  }
  series.series_.emplace(std::move(*defined));
  return series;
}

Result<std::uint64_t> AmdgpuTopMetricsSeries::add(const AmdgpuTopMetrics& metrics,
                                                  std::int64_t time_ns) {
  if (!series_) {
    return 0;
  }
  const bool same = metrics.format == layout_->format && metrics.content == layout_->content;
  const std::span<const std::byte> table = rebuild(metrics);
  const regdb::CheckedMetrics checked = regdb::check_metrics(table, &units_);
  if (!same || checked.fault != regdb::MetricsFault::kNone) {
    if (rejected_++ == 0) {
      first_fault_ = same ? regdb::explain_metrics_fault(checked, table) : "another revision";
    }
    series_->count_rejected();
    return 0;
  }
  std::uint64_t values = 0;
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const regdb::MetricValue value =
        regdb::decode_metric(table, *elements_[i].field, elements_[i].index, units_);
    if (!value.value) {
      continue;
    }
    ++values;
    if (Status status = series_->add(i, time_ns, *value.value); !status) {
      return tl::unexpected(status.error());
    }
  }
  if (values > 0) {
    series_->count_read();
  }
  return values;
}

Status AmdgpuTopMetricsSeries::finish(std::int64_t start_ns, std::int64_t end_ns) {
  return series_ ? series_->finish(start_ns, end_ns) : Status{};
}

std::string AmdgpuTopMetricsSeries::note() const {
  if (!unknown_revision_.empty()) {
    return fmt::format("gpu_metrics {} is no revision known here; left out", unknown_revision_);
  }
  return rejected_ == 0 ? ""
                        : fmt::format(
                              "{} tables of gpu_metrics cannot be true, left out; the "
                              "first: {}",
                              rejected_, first_fault_);
}

}  // namespace gputrace::import
