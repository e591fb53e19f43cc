// Sensor sources in `gputrace doctor`: each is read once and timed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/os/sensors/sensors.h"

namespace gputrace::commands {

struct SourceReading {
  os::SourceFinding finding;
  std::vector<sampler::SensorDescription> sensors;  ///< empty when the source was not opened
  std::vector<std::optional<double>> values;        ///< of each; empty when it was not read
  std::optional<std::int64_t> cost_ns;
};

/// A source that opened and cannot be read becomes kBroken.
[[nodiscard]] std::vector<SourceReading> read_sources(const os::OpenedSensors& opened,
                                                      const std::function<std::int64_t()>& now_ns);

/// Sources that this machine does not have, or that sleep, share a row each kind.
void append_sources(std::string& text, std::span<const SourceReading> sources);
/// An array.
[[nodiscard]] std::string sources_to_json(std::span<const SourceReading> sources);

}  // namespace gputrace::commands
