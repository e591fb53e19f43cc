// Clock, power, temperature and fan of the GPU while kernels run, read in this process.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/sampler/sensor_reader.h"

namespace gputrace::commands {

/// Used by one thread. Reading wakes a GPU: for one that works anyway.
class BenchSensors {
 public:
  explicit BenchSensors(std::vector<std::unique_ptr<sampler::SensorReader>> readers)
      : readers_(std::move(readers)) {}

  /// Of the first of these quantities that a sensor gives now.
  [[nodiscard]] std::optional<double> read(std::initializer_list<std::string_view> names);

 private:
  [[nodiscard]] std::optional<double> read(sampler::SensorReader& reader, std::string_view name);

  std::vector<std::unique_ptr<sampler::SensorReader>> readers_;
  std::vector<std::optional<double>> values_;
};

}  // namespace gputrace::commands
