#include "cli/commands/doctor/sensor_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/commands/doctor/doctor_text.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;
using os::SourceState;

sampler::SensorReader* reader_of(const os::OpenedSensors& opened, std::string_view source) {
  const auto found = std::find_if(opened.readers.begin(), opened.readers.end(),
                                  [&](const auto& reader) { return reader->name() == source; });
  return found == opened.readers.end() ? nullptr : found->get();
}

SourceReading read_source(const os::SourceFinding& finding, sampler::SensorReader* reader,
                          const std::function<std::int64_t()>& now_ns) {
  SourceReading source;
  source.finding = finding;
  if (reader == nullptr) {
    return source;
  }
  const auto sensors = reader->sensors();
  source.sensors.assign(sensors.begin(), sensors.end());
  if (finding.state != SourceState::kWorks) {
    return source;
  }
  std::vector<std::optional<double>> values(sensors.size());
  const std::int64_t begin_ns = now_ns();
  const sampler::SensorOutcome outcome = reader->read(values);
  source.cost_ns = now_ns() - begin_ns;
  if (outcome == sampler::SensorOutcome::kRead) {
    source.values = std::move(values);
  } else {
    source.finding.state = SourceState::kBroken;
    source.finding.reason = reader->last_error();
    source.finding.error_number = errno_of(source.finding.reason);
  }
  return source;
}

std::string number_text(double value, std::string_view unit) {
  constexpr double kMiB = 1024.0 * 1024.0;  // as in reports
  if (unit == "bytes" && std::abs(value) >= kMiB) {
    return fmt::format("{:.0f} MiB", value / kMiB);
  }
  if (unit == "bits") {
    return fmt::format("{:#x}", static_cast<std::uint64_t>(value));
  }
  return fmt::format("{:.6g} {}", value, unit);
}

constexpr std::size_t kMostNamed = 3;  // series of a source that fit into a row

/// "package_power 12.3 W", "cpu_temperature 45 C, ccd_temperature_0 41 C", "27 of 41 values".
std::string values_text(const SourceReading& source) {
  if (source.values.size() > kMostNamed) {
    const auto present = std::count_if(source.values.begin(), source.values.end(),
                                       [](const auto& value) { return value.has_value(); });
    return fmt::format("{} of {} values", present, source.values.size());
  }
  std::string text;
  for (std::size_t i = 0; i < source.values.size(); ++i) {
    const sampler::SensorDescription& sensor = source.sensors[i];
    text += (text.empty() ? "" : ", ") + sensor.name;
    if (sensor.kind == sampler::SensorKind::kCounter) {
      text += fmt::format(" counts {}", sensor.unit);
    } else if (const std::optional<double>& value = source.values[i]; value.has_value()) {
      text += " " + number_text(*value, sensor.unit);
    } else {
      text += " not provided now";
    }
  }
  return text;
}

/// What the series count besides this GPU, each once.
std::string remarks_text(const SourceReading& source) {
  if (source.sensors.size() > kMostNamed) {
    return "";
  }
  std::vector<std::string> remarks;
  for (const sampler::SensorDescription& sensor : source.sensors) {
    if (!sensor.covers.empty() &&
        std::find(remarks.begin(), remarks.end(), sensor.covers) == remarks.end()) {
      remarks.push_back(sensor.covers);
    }
  }
  return fmt::format("{}", fmt::join(remarks, "; "));
}

/// Doubts about what the hardware counts; how a unit was decided is for the JSON.
std::string doubt_of(const SourceReading& source) {
  for (const sampler::SensorDescription& sensor : source.sensors) {
    if (sensor.decision.find("unverified") != std::string::npos ||
        sensor.decision.find("scaled") != std::string::npos) {
      return sensor.decision;
    }
  }
  return "";
}

void append_working(std::string& text, const SourceReading& source) {
  const std::string remarks = remarks_text(source);
  append_row(text, Mark::kOk, source.finding.source,
             fmt::format("{}{} ({})", values_text(source), remarks.empty() ? "" : "; " + remarks,
                         duration_text(source.cost_ns.value_or(0))));
  append_detail(text, "note", doubt_of(source));
}

void append_names(std::string& text, std::span<const SourceReading> sources, SourceState state,
                  std::string_view name) {
  std::vector<std::string> names;
  for (const SourceReading& source : sources) {
    if (source.finding.state == state) {
      names.push_back(source.finding.source);
    }
  }
  if (!names.empty()) {
    append_row(text, mark_of(state), name, fmt::format("{}", fmt::join(names, ", ")));
  }
}

std::string_view state_name(SourceState state) {
  switch (state) {
    case SourceState::kWorks:
      return "works";
    case SourceState::kAbsent:
      return "absent";
    case SourceState::kRefused:
      return "refused";
    case SourceState::kBroken:
      return "broken";
    case SourceState::kAsleep:
      break;
  }
  return "asleep";
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json sensors_to_json(const SourceReading& source) {
  Json sensors = Json::array();
  for (std::size_t i = 0; i < source.sensors.size(); ++i) {
    const sampler::SensorDescription& sensor = source.sensors[i];
    const bool is_counter = sensor.kind == sampler::SensorKind::kCounter;
    Json json{{"name", sensor.name},
              {"source", sensor.source},
              {"label", text_or_null(sensor.label)},
              {"unit", sensor.unit},
              {"kind", is_counter                                  ? "counter"
                       : sensor.kind == sampler::SensorKind::kBits ? "bits"
                                                                   : "gauge"},
              {"covers", text_or_null(sensor.covers)},
              {"decision", text_or_null(sensor.decision)}};
    // A counter's first value is its distance from itself.
    const std::optional<double> value =
        is_counter || i >= source.values.size() ? std::nullopt : source.values[i];
    json["value"] = value ? Json(*value) : Json(nullptr);
    sensors.push_back(std::move(json));
  }
  return sensors;
}

}  // namespace

std::vector<SourceReading> read_sources(const os::OpenedSensors& opened,
                                        const std::function<std::int64_t()>& now_ns) {
  std::vector<SourceReading> sources;
  sources.reserve(opened.findings.size());
  for (const os::SourceFinding& finding : opened.findings) {
    sources.push_back(read_source(finding, reader_of(opened, finding.source), now_ns));
  }
  return sources;
}

void append_sources(std::string& text, std::span<const SourceReading> sources) {
  for (const SourceReading& source : sources) {
    if (source.finding.state == SourceState::kWorks) {
      append_working(text, source);
    }
  }
  for (const SourceReading& source : sources) {
    const os::SourceFinding& finding = source.finding;
    if (finding.state == SourceState::kRefused || finding.state == SourceState::kBroken) {
      append_row(text, mark_of(finding.state), finding.source, finding.reason);
      append_detail(text, "fix", finding.fix);
      append_detail(text, "costs", finding.loses);
    }
  }
  append_names(text, sources, SourceState::kAsleep, "left alone");
  append_names(text, sources, SourceState::kAbsent, "not here, as usual");
}

std::string sources_to_json(std::span<const SourceReading> sources) {
  Json list = Json::array();
  for (const SourceReading& source : sources) {
    const os::SourceFinding& finding = source.finding;
    list.push_back(
        {{"source", finding.source},
         {"state", state_name(finding.state)},
         {"errno", finding.error_number != 0 ? Json(finding.error_number) : Json(nullptr)},
         {"reason", text_or_null(finding.reason)},
         {"fix", text_or_null(finding.fix)},
         {"loses", text_or_null(finding.loses)},
         {"cost_ns", source.cost_ns ? Json(*source.cost_ns) : Json(nullptr)},
         {"sensors", sensors_to_json(source)}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gputrace::commands
