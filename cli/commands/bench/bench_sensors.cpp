#include "cli/commands/bench/bench_sensors.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "daemon/os/sensors/deadline.h"

namespace gputrace::commands {
namespace {

std::optional<double> value_of(sampler::SensorReader& reader, std::string_view name) {
  const auto has_name = [name](const sampler::SensorDescription& sensor) {
    return sensor.name == name && sensor.kind == sampler::SensorKind::kGauge;
  };
  const auto known = reader.sensors();
  if (!known.empty() && std::none_of(known.begin(), known.end(), has_name)) {
    return std::nullopt;
  }
  std::vector<std::optional<double>> values(known.size());
  sampler::SensorOutcome outcome = reader.read(values);
  const auto sensors = reader.sensors();
  if (sensors.size() > values.size()) {  // that read has found them
    values.assign(sensors.size(), std::nullopt);
    outcome = reader.read(values);
  }
  if (outcome != sampler::SensorOutcome::kRead) {
    return std::nullopt;
  }
  const auto found = std::find_if(sensors.begin(), sensors.end(), has_name);
  return found == sensors.end() ? std::nullopt
                                : values.at(static_cast<std::size_t>(found - sensors.begin()));
}

}  // namespace

BenchSensors::BenchSensors(std::vector<std::unique_ptr<sampler::SensorReader>> readers,
                           std::chrono::milliseconds deadline)
    : readers_(std::make_move_iterator(readers.begin()), std::make_move_iterator(readers.end())),
      deadline_(deadline) {}

std::optional<double> BenchSensors::read(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < readers_.size();) {
      // A copy of the name too: a reader that hangs outlives this call.
      const auto answer = os::within<std::optional<double>>(
          deadline_,
          [reader = readers_[i], wanted = std::string(name)] { return value_of(*reader, wanted); });
      if (!answer) {
        readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (*answer) {
        return *answer;
      }
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace gputrace::commands
