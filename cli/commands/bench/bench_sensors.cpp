#include "cli/commands/bench/bench_sensors.h"

#include <algorithm>
#include <cstddef>

namespace gputrace::commands {

std::optional<double> BenchSensors::read(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const auto& reader : readers_) {
      if (const std::optional<double> value = read(*reader, name)) {
        return value;
      }
    }
  }
  return std::nullopt;
}

std::optional<double> BenchSensors::read(sampler::SensorReader& reader, std::string_view name) {
  const auto has_name = [name](const sampler::SensorDescription& sensor) {
    return sensor.name == name && sensor.kind == sampler::SensorKind::kGauge;
  };
  const auto known = reader.sensors();
  if (!known.empty() && std::none_of(known.begin(), known.end(), has_name)) {
    return std::nullopt;
  }
  values_.assign(known.size(), std::nullopt);
  sampler::SensorOutcome outcome = reader.read(values_);
  const auto sensors = reader.sensors();
  if (sensors.size() > values_.size()) {  // that read has found them
    values_.assign(sensors.size(), std::nullopt);
    outcome = reader.read(values_);
  }
  if (outcome != sampler::SensorOutcome::kRead) {
    return std::nullopt;
  }
  const auto found = std::find_if(sensors.begin(), sensors.end(), has_name);
  return found == sensors.end() ? std::nullopt
                                : values_.at(static_cast<std::size_t>(found - sensors.begin()));
}

}  // namespace gputrace::commands
