// A table of amdgpu's metrics: checked, its units decided, every field decoded. The first byte
// chooses a GC version.
#include "regdb/gpu_metrics.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/throttle.h"

using namespace gputrace::regdb;

namespace {

std::optional<GcVersion> choose_gc(std::uint8_t byte) {
  constexpr std::array<GcVersion, 6> kVersions{
      {{9, 3, 0}, {10, 3, 1}, {11, 0, 1}, {11, 0, 0}, {11, 5, 0}, {12, 0, 1}}};
  const std::size_t index = byte % (kVersions.size() + 1);
  return index < kVersions.size() ? std::optional(kVersions.at(index)) : std::nullopt;
}

void check_value(const MetricsField& field, const MetricsUnits& units, double value) {
  GPUTRACE_CHECK(std::isfinite(value) && value >= 0);
  const std::string& unit = metric_unit(field, units);
  GPUTRACE_CHECK(!unit.empty());
  GPUTRACE_CHECK(unit != "%" || value <= 100);
  GPUTRACE_CHECK(unit != "C" || value <= 150);
  GPUTRACE_CHECK(unit != "W" || value <= 3000);
  GPUTRACE_CHECK(unit != "MHz" || value <= 20000);
  GPUTRACE_CHECK(!field.zero_is_absent || value > 0);
}

void decode(std::span<const std::byte> table, const std::optional<GcVersion>& gc) {
  const CheckedMetrics first = check_metrics(table, nullptr);
  if (first.fault != MetricsFault::kNone) {
    GPUTRACE_CHECK(first.layout == nullptr || first.fault == MetricsFault::kImplausible);
    GPUTRACE_CHECK(!explain_metrics_fault(first, table).empty());
    return;
  }
  const MetricsUnits units = decide_metrics_units(table, *first.layout, gc);
  const CheckedMetrics checked = check_metrics(table, &units);
  if (checked.fault != MetricsFault::kNone) {
    GPUTRACE_CHECK(checked.fault == MetricsFault::kImplausible && checked.field != nullptr);
    GPUTRACE_CHECK(!explain_metrics_fault(checked, table).empty());
    return;
  }
  for (const MetricsField& field : checked.layout->fields) {
    for (std::size_t element = 0; element < field.count; ++element) {
      const MetricValue decoded = decode_metric(table, field, element, units);
      GPUTRACE_CHECK(decoded.value.has_value() == (decoded.absence == MetricAbsence::kNone));
      if (decoded.value) {
        check_value(field, units, *decoded.value);
      }
    }
  }
  if (const MetricsField* throttle = checked.layout->find("throttle_status")) {
    const auto raw = raw_metric(table, *throttle, 0).value_or(0);
    const auto reasons = decode_throttle_status(gc, static_cast<std::uint32_t>(raw));
    GPUTRACE_CHECK(reasons.empty() == (raw == 0));
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    decode({}, std::nullopt);
    return 0;
  }
  // A copy of the exact size: what is read behind its end is then found.
  std::vector<std::byte> table(size - 1);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::byte>(data[i + 1]);
  }
  decode(table, choose_gc(data[0]));
  return 0;
}
