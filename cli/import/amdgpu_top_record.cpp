#include "cli/import/amdgpu_top_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/import/rfc3339.h"
#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kSections{"GRBM", "GRBM2", "VRAM", "Sensors",
                                                    "gpu_activity"};
constexpr std::size_t kMaxName = 64;
constexpr double kMaxPeriodNs = 1e18;

/// The member, or null for everything without one.
const json& member(const json& object, std::string_view key) {
  static const json kNull;
  if (!object.is_object()) {
    return kNull;
  }
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().substr(0, kMaxName)
                           : std::string();
}

std::optional<double> number_of(const json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

template <class T>
std::optional<T> count_of(const json& value) {
  const std::optional<double> number = number_of(value);
  if (!number || *number < 0 || *number > std::numeric_limits<T>::max() ||
      *number != std::floor(*number)) {
    return std::nullopt;
  }
  return static_cast<T>(*number);
}

/// {"unit": "MHz", "value": 600}, a number alone, or null.
AmdgpuTopValue value_of(const std::string& name, const json& value) {
  if (value.is_object()) {
    return {name.substr(0, kMaxName), number_of(member(value, "value")),
            text_of(member(value, "unit"))};
  }
  return {name.substr(0, kMaxName), number_of(value), {}};
}

std::vector<AmdgpuTopValue> values_of(const json& section) {
  std::vector<AmdgpuTopValue> values;
  if (section.is_object()) {
    for (const auto& [name, value] : section.items()) {
      values.push_back(value_of(name, value));
    }
  }
  return values;
}

std::optional<AmdgpuTopMetrics> metrics_of(const json& metrics) {
  const json& header = member(metrics, "header");
  const auto format = count_of<std::uint8_t>(member(header, "format_revision"));
  const auto content = count_of<std::uint8_t>(member(header, "content_revision"));
  if (!format || !content) {
    return std::nullopt;
  }
  AmdgpuTopMetrics out{.format = *format, .content = *content, .fields = {}};
  for (const auto& [name, value] : metrics.items()) {
    AmdgpuTopMetrics::Field field{name.substr(0, kMaxName), {}};
    if (value.is_array()) {
      for (const json& element : value) {
        field.elements.push_back(number_of(element));
      }
    } else {
      field.elements.push_back(number_of(value));
    }
    out.fields.push_back(std::move(field));
  }
  return out;
}

/// "13180": {"name": ...}; older versions: "vkcube (13180)": {...}.
std::optional<AmdgpuTopProcess> process_of(const std::string& key, const json& value) {
  std::string_view digits = key;
  std::string_view name = key;
  if (key.ends_with(')')) {
    const std::size_t open = key.rfind('(');
    if (open == std::string::npos) {
      return std::nullopt;
    }
    digits = std::string_view(key).substr(open + 1, key.size() - open - 2);
    name = trimmed(name.substr(0, open));
  }
  const auto pid = parse_number<std::int64_t>(digits);
  if (!pid || *pid < 0) {
    return std::nullopt;
  }
  AmdgpuTopProcess process;
  process.pid = *pid;
  const std::string stated = text_of(member(value, "name"));
  process.name = stated.empty() ? std::string(name.substr(0, kMaxName)) : stated;
  // Newer versions have the process's usage twice as deep.
  const json& usage = member(value, "usage");
  const json& inner = member(usage, "usage");
  process.usage = values_of(inner.is_object() ? inner : usage);
  return process;
}

AmdgpuTopDevice device_of(const json& device) {
  AmdgpuTopDevice out;
  const json& info = member(device, "Info");
  const json& path = member(info, "DevicePath");
  out.name = text_of(member(info, "DeviceName"));
  if (out.name.empty()) {
    out.name = text_of(member(device, "DeviceName"));
  }
  out.pci = text_of(member(path, "pci"));
  if (out.pci.empty()) {
    out.pci = text_of(member(info, "PCI"));
  }
  out.device_id = count_of<std::uint16_t>(member(info, "DeviceID"));
  out.revision_id = count_of<std::uint8_t>(member(path, "RevisionID"));
  out.type = text_of(member(info, "GPU Type"));
  out.family = text_of(member(info, "GPU Family"));
  out.chip_class = text_of(member(info, "Chip Class"));
  for (const std::string_view name : kSections) {
    const json& section = member(device, name);
    if (section.is_object()) {
      out.sections.push_back({std::string(name), values_of(section)});
    }
  }
  out.metrics = metrics_of(member(device, "gpu_metrics"));
  const json& processes = member(device, "fdinfo");
  if (processes.is_object()) {
    for (const auto& [key, value] : processes.items()) {
      if (auto process = process_of(key, value)) {
        out.processes.push_back(std::move(*process));
      }
    }
  }
  return out;
}

bool is_device(const json& value) {
  return std::any_of(kSections.begin(), kSections.end(), [&value](std::string_view section) {
    return member(value, section).is_object();
  });
}

std::optional<BadCell> take(const json& record, AmdgpuTopRecord& out) {
  out = {};
  const json& timestamp = member(record, "timestamp");
  if (timestamp.is_string()) {
    out.realtime_ns = parse_rfc3339(timestamp.get_ref<const std::string&>());
    if (!out.realtime_ns) {
      return BadCell{1, "timestamp: " + excerpt(timestamp.get_ref<const std::string&>()) +
                            " is not a time such as 2026-11-29T22:27:15+00:00"};
    }
  }
  const json& period = member(record, "period");
  if (const auto duration = number_of(member(period, "duration"))) {
    const double period_ns = *duration * static_cast<double>(kNsPerMs);
    if (text_of(member(period, "unit")) != "ms" || !(period_ns > 0 && period_ns < kMaxPeriodNs)) {
      return BadCell{1, "period: this is not a time in ms"};
    }
    out.period_ns = static_cast<std::int64_t>(period_ns);
  }
  if (!out.realtime_ns && !out.period_ns) {
    return BadCell{1, "the object has neither a timestamp nor a period"};
  }
  const json& version = member(record, "amdgpu_top_version");
  const auto major = count_of<std::uint32_t>(member(version, "major"));
  const auto minor = count_of<std::uint32_t>(member(version, "minor"));
  if (major && minor) {
    out.version = AmdgpuTopVersion{*major, *minor,
                                   count_of<std::uint32_t>(member(version, "patch")).value_or(0)};
  }
  const json& devices = member(record, "devices");
  if (devices.is_array()) {
    for (const json& device : devices) {
      out.devices.push_back(device_of(device));
    }
  } else if (is_device(record)) {
    out.devices.push_back(device_of(record));
  } else {
    return BadCell{1, "the object has no devices; is it the output of amdgpu_top --json?"};
  }
  return std::nullopt;
}

}  // namespace

const AmdgpuTopSection* AmdgpuTopDevice::find(std::string_view section) const {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [section](const auto& one) { return one.name == section; });
  return found == sections.end() ? nullptr : &*found;
}

std::optional<BadCell> parse_amdgpu_top_record(std::string_view text, AmdgpuTopRecord& out) {
  try {
    return take(json::parse(text), out);
  } catch (const json::parse_error& error) {
    return BadCell{std::max<std::size_t>(error.byte, 1), "this is not JSON"};
  } catch (const json::exception&) {
    return BadCell{1, "this is not JSON that can be read"};
  }
}

}  // namespace gputrace::import
