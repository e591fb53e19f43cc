// Clock, power, temperature and fan of the GPU while kernels run, read in this process.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/os/sensors/deadline.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::commands {

/// Used by one thread. Reading wakes a GPU: for one that works anyway.
class BenchSensors {
 public:
  explicit BenchSensors(std::vector<std::unique_ptr<sampler::SensorReader>> readers,
                        std::chrono::milliseconds deadline = os::kProbeDeadline);

  /// Of the first of these quantities that a sensor gives now. A reader that does not answer by the
  /// deadline is asked no more: kernels go on without it.
  [[nodiscard]] std::optional<double> read(std::initializer_list<std::string_view> names);

 private:
  /// Shared with the threads that read them.
  std::vector<std::shared_ptr<sampler::SensorReader>> readers_;
  std::chrono::milliseconds deadline_;
};

}  // namespace gputrace::commands
