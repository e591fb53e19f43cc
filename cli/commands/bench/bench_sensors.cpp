#include "cli/commands/bench/bench_sensors.h"

#include <algorithm>
#include <cstddef>

namespace gputrace::commands {

namespace {
/// Room for a reader that tells its sensors with its first answer: the largest metrics table has
/// fewer fields.
constexpr std::size_t kMostOfOneReader = 1024;
}  // namespace

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
  values_.assign(std::max(known.size(), kMostOfOneReader), std::nullopt);
  if (reader.read(values_) != sampler::SensorOutcome::kRead) {
    return std::nullopt;
  }
  const auto sensors = reader.sensors();
  const auto found = std::find_if(sensors.begin(), sensors.end(), has_name);
  return found == sensors.end() ? std::nullopt
                                : values_.at(static_cast<std::size_t>(found - sensors.begin()));
}

}  // namespace gputrace::commands
