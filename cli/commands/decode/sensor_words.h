// The words of JSON and text for the states of sources and the kinds of series.
#pragma once

#include <string_view>

#include "daemon/os/sensors/sensors.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::commands {

[[nodiscard]] constexpr std::string_view state_word(os::SourceState state) {
  switch (state) {
    case os::SourceState::kWorks:
      return "works";
    case os::SourceState::kAbsent:
      return "absent";
    case os::SourceState::kRefused:
      return "refused";
    case os::SourceState::kBroken:
      return "broken";
    case os::SourceState::kAsleep:
      break;
  }
  return "asleep";
}

[[nodiscard]] constexpr std::string_view kind_word(sampler::SensorKind kind) {
  switch (kind) {
    case sampler::SensorKind::kGauge:
      return "gauge";
    case sampler::SensorKind::kCounter:
      return "counter";
    case sampler::SensorKind::kBits:
      break;
  }
  return "bits";
}

}  // namespace gputrace::commands
