// What tests of the importers ask of a session that was imported.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/import/memory_sink.h"

namespace gputrace::test {

/// Of the first series with this name or this source.
inline std::vector<store::SensorRun> runs_of(const MemorySink& sink, std::string_view series) {
  const auto found =
      std::find_if(sink.series.begin(), sink.series.end(), [series](const auto& one) {
        return one.sensor.name == series || one.sensor.source == series;
      });
  return found == sink.series.end() ? std::vector<store::SensorRun>() : found->runs;
}

inline bool mentions(const std::vector<std::string>& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(), [part](const std::string& text) {
    return text.find(part) != std::string::npos;
  });
}

}  // namespace gputrace::test
