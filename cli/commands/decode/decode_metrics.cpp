#include "cli/commands/decode/decode_metrics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

#include "daemon/base/unique_fd.h"

namespace gputrace::commands {
namespace {

Result<std::vector<std::byte>> read_bytes(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return fail_errno(errno, "cannot open " + file);
  }
  // To the end, since a pipe gives parts; /sys gives its table in the first read. Some bytes more
  // than a table can have, to see that they are there.
  std::vector<std::byte> bytes(2 * regdb::kMaxMetricsSize);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + size, bytes.size() - size);
    if (got == 0) {
      break;
    }
    if (got < 0 && errno != EINTR) {
      return fail_errno(errno, "cannot read " + file);
    }
    size += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  bytes.resize(size);
  return bytes;
}

std::uint64_t all_ones(const regdb::MetricsField& field) {
  return field.width >= 8 ? UINT64_MAX : (std::uint64_t{1} << (8 * field.width)) - 1;
}

DecodedMetric decode_element(std::span<const std::byte> bytes, const regdb::MetricsField& field,
                             std::size_t element, const DecodedTable& table) {
  DecodedMetric metric;
  metric.field = &field;
  metric.element = field.count > 1 ? std::optional(element) : std::nullopt;
  metric.raw = regdb::raw_metric(bytes, field, element).value_or(all_ones(field));
  const regdb::MetricValue decoded = regdb::decode_metric(bytes, field, element, table.units);
  metric.value = decoded.value;
  metric.absent = regdb::to_string(decoded.absence);
  if (decoded.value && field.name == "throttle_status") {
    metric.reasons =
        regdb::decode_throttle_status(table.gc, static_cast<std::uint32_t>(metric.raw));
  } else if (decoded.value && field.name == "indep_throttle_status") {
    metric.reasons = regdb::decode_independent_throttle_status(metric.raw);
  }
  return metric;
}

}  // namespace

std::string raw_unit(const regdb::MetricsField& field, const regdb::MetricsUnits& units) {
  const regdb::MetricsScale* scale = regdb::doubtful_unit(field, units);
  return scale != nullptr ? scale->decision.substr(0, scale->decision.find(':')) : field.unit;
}

std::string value_in_text(double value) {
  constexpr double kExact = 1e15;  // beyond it doubles skip whole numbers
  return std::trunc(value) == value && std::abs(value) < kExact ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{:.6g}", value);
}

Result<DecodedTable> decode_metrics_file(const std::string& file,
                                         const std::optional<regdb::GcVersion>& gc) {
  const auto bytes = read_bytes(file);
  if (!bytes) {
    return tl::unexpected(bytes.error());
  }
  // The units sharpen the limits, so the table is looked at again once they are known.
  regdb::CheckedMetrics checked = regdb::check_metrics(*bytes, nullptr);
  DecodedTable table{.file = file,
                     .layout = checked.layout,
                     .trailing_bytes = 0,
                     .gc = gc,
                     .units = {},
                     .metrics = {}};
  if (checked.fault == regdb::MetricsFault::kNone) {
    table.units = regdb::decide_metrics_units(*bytes, *checked.layout, gc);
    checked = regdb::check_metrics(*bytes, &table.units);
  }
  if (checked.fault != regdb::MetricsFault::kNone) {
    return fail(ErrorCode::kCorrupt,
                file + " is no table of metrics: " + regdb::explain_metrics_fault(checked, *bytes));
  }
  table.trailing_bytes = bytes->size() - checked.layout->size;
  for (const regdb::MetricsField& field : checked.layout->fields) {
    for (std::size_t element = 0; element < field.count; ++element) {
      table.metrics.push_back(decode_element(*bytes, field, element, table));
    }
  }
  return table;
}

}  // namespace gputrace::commands
