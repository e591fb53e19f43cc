#include "regdb/gpu_metrics.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "regdb/metrics_tables.h"

namespace gputrace::regdb {
namespace {

constexpr std::size_t kHeaderSize = 4;  // u16 size, u8 format, u8 content

struct Header {
  std::size_t size = 0;
  std::uint8_t format = 0;
  std::uint8_t content = 0;
};

Header header_of(std::span<const std::byte> table) noexcept {
  return {.size = std::to_integer<std::size_t>(table[0]) |
                  (std::to_integer<std::size_t>(table[1]) << 8U),
          .format = std::to_integer<std::uint8_t>(table[2]),
          .content = std::to_integer<std::uint8_t>(table[3])};
}

/// What no machine has. Wide, since a limit that is too tight loses a whole table.
double limit_of(std::string_view unit) noexcept {
  struct Limit {
    std::string_view unit;
    double highest;
  };
  static constexpr std::array<Limit, 8> kLimits{{
      {"C", 150},
      {"W", 3000},     // an MI355X: 1400
      {"MHz", 20000},  // some firmware states the data rate of the memory
      {"%", 105},      // filters of the firmware overshoot
      {"V", 10},
      {"A", 2000},
      {"RPM", 50000},
      {"GT/s", 1000},
  }};
  for (const Limit& limit : kLimits) {
    if (limit.unit == unit) {
      return limit.highest;
    }
  }
  return 0;
}

/// Of a doubtful unit without MetricsUnits: beyond it in every unit that there is.
std::uint64_t raw_limit_of(std::string_view quantity) noexcept {
  return quantity == "temperature" ? 15000 : UINT64_MAX;
}

bool is_plausible(const MetricsField& field, std::uint64_t raw,
                  const MetricsUnits* units) noexcept {
  if (field.unit == "activity" || field.unit == "centi-percent") {
    return true;  // an activity out of range is absent, no more: units of firmware differ
  }
  if (!field.value_unit.empty()) {
    const double limit = limit_of(field.value_unit);
    return limit == 0 || scaled(static_cast<double>(raw), field.scale) <= limit;
  }
  if (units == nullptr) {
    return raw <= raw_limit_of(field.unit);
  }
  const MetricsScale* scale = doubtful_unit(field, *units);
  return scaled(static_cast<double>(raw), scale->scale) <= limit_of(scale->unit);
}

bool all_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{}; });
}

}  // namespace

const MetricsField* MetricsLayout::find(std::string_view name) const {
  for (const MetricsField& field : fields) {
    if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

const MetricsLayout* find_metrics_layout(std::uint8_t format, std::uint8_t content) {
  for (const MetricsLayout& layout : metrics_tables().layouts) {
    if (layout.format == format && layout.content == content) {
      return &layout;
    }
  }
  return nullptr;
}

CheckedMetrics check_metrics(std::span<const std::byte> table, const MetricsUnits* units) noexcept {
  if (table.empty()) {
    return {.fault = MetricsFault::kEmpty};
  }
  if (table.size() < kHeaderSize) {
    return {.fault = MetricsFault::kTruncated};
  }
  if (all_zero(table)) {
    return {.fault = MetricsFault::kAllZero};
  }
  const Header header = header_of(table);
  const MetricsLayout* layout = find_metrics_layout(header.format, header.content);
  if (layout == nullptr || layout->size != header.size) {
    return {.fault = MetricsFault::kUnknownRevision};
  }
  if (table.size() < header.size) {
    return {.fault = MetricsFault::kTruncated};
  }
  const auto body = table.first(header.size).subspan(kHeaderSize);
  if (all_zero(body)) {
    return {.fault = MetricsFault::kAllZero};
  }
  for (const MetricsField& field : layout->fields) {
    for (std::size_t element = 0; element < field.count; ++element) {
      const auto raw = raw_metric(table, field, element);
      if (raw && !is_plausible(field, *raw, units)) {
        return {.fault = MetricsFault::kImplausible,
                .layout = layout,
                .field = &field,
                .element = element};
      }
    }
  }
  return {.fault = MetricsFault::kNone, .layout = layout};
}

std::string explain_metrics_fault(const CheckedMetrics& checked, std::span<const std::byte> table) {
  switch (checked.fault) {
    case MetricsFault::kNone:
      break;
    case MetricsFault::kEmpty:
      return "the file has no bytes; some drivers (Raven, Picasso) offer it without a table";
    case MetricsFault::kTruncated:
      if (table.size() < kHeaderSize) {
        return std::to_string(table.size()) + " bytes; the header alone has 4";
      }
      return std::to_string(table.size()) + " of the " + std::to_string(header_of(table).size) +
             " bytes that its header states";
    case MetricsFault::kUnknownRevision: {
      const Header header = header_of(table);
      const std::string revision =
          std::to_string(header.format) + "." + std::to_string(header.content);
      const MetricsLayout* layout = find_metrics_layout(header.format, header.content);
      return layout != nullptr ? "its header states " + std::to_string(header.size) +
                                     " bytes; a table of revision " + revision + " has " +
                                     std::to_string(layout->size)
                               : "revision " + revision +
                                     " is not known here; 1.0 to 1.8, 2.0 to 2.4 and 3.0 are";
    }
    case MetricsFault::kAllZero:
      return "all bytes are zero: the firmware gave no table";
    case MetricsFault::kImplausible: {
      const auto raw = checked.field != nullptr ? raw_metric(table, *checked.field, checked.element)
                                                : std::nullopt;
      return "torn or garbage: " + (checked.field != nullptr ? checked.field->name : "a field") +
             " = " + std::to_string(raw.value_or(0)) +
             (checked.field != nullptr && !checked.field->value_unit.empty()
                  ? " " + checked.field->unit
                  : "") +
             ", which no machine has";
    }
  }
  return {};
}

std::optional<std::uint64_t> raw_metric(std::span<const std::byte> table, const MetricsField& field,
                                        std::size_t element) noexcept {
  const std::size_t begin = field.offset + element * field.width;
  if (element >= field.count || begin + field.width > table.size()) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (std::size_t i = field.width; i > 0; --i) {
    value = (value << 8U) | std::to_integer<std::uint64_t>(table[begin + i - 1]);
  }
  const std::uint64_t all_ones =
      field.width >= 8 ? UINT64_MAX : (std::uint64_t{1} << (8 * field.width)) - 1;
  return value == all_ones ? std::nullopt : std::optional(value);
}

std::string_view to_string(MetricAbsence absence) {
  switch (absence) {
    case MetricAbsence::kNone:
      break;
    case MetricAbsence::kNotProvided:
      return "not provided by the driver (all ones)";
    case MetricAbsence::kZero:
      return "zero: not measured";
    case MetricAbsence::kOutOfRange:
      return "out of range in this unit";
  }
  return "";
}

MetricValue decode_metric(std::span<const std::byte> table, const MetricsField& field,
                          std::size_t element, const MetricsUnits& units) noexcept {
  const auto raw = raw_metric(table, field, element);
  if (!raw) {
    return {.value = std::nullopt, .absence = MetricAbsence::kNotProvided};
  }
  if (*raw == 0 && field.zero_is_absent) {
    return {.value = std::nullopt, .absence = MetricAbsence::kZero};
  }
  const MetricsScale* scale = doubtful_unit(field, units);
  const double value =
      scaled(static_cast<double>(*raw), scale != nullptr ? scale->scale : field.scale);
  const std::string& unit = metric_unit(field, units);
  if (const double limit = limit_of(unit); limit != 0 && value > limit) {
    return {.value = std::nullopt, .absence = MetricAbsence::kOutOfRange};
  }
  return {.value = unit == "%" ? std::min(value, 100.0) : value};
}

bool is_provided(std::span<const std::byte> table, const MetricsField& field, std::size_t element,
                 const MetricsUnits& units) noexcept {
  const auto raw = raw_metric(table, field, element);
  if (!raw || *raw != 0 || !field.zero_is_absent) {
    return raw.has_value();
  }
  const std::string& unit = metric_unit(field, units);
  return unit == "W" || unit == "V";
}

const MetricsScale* doubtful_unit(const MetricsField& field, const MetricsUnits& units) noexcept {
  if (!field.value_unit.empty()) {
    return nullptr;
  }
  return field.unit == "activity" ? &units.activity
         : field.unit == "power"  ? &units.power
                                  : &units.temperature;
}

const std::string& metric_unit(const MetricsField& field, const MetricsUnits& units) noexcept {
  const MetricsScale* scale = doubtful_unit(field, units);
  return scale != nullptr ? scale->unit : field.value_unit;
}

std::string_view why_unrecorded(const MetricsLayout& layout, const MetricsField& field,
                                const std::optional<GcVersion>& gc) {
  for (const UnrecordedRule& rule : metrics_tables().unrecorded) {
    if (rule.format == layout.format && rule.field == field.name && rule.range.contains(gc)) {
      return rule.why;
    }
  }
  return {};
}

}  // namespace gputrace::regdb
