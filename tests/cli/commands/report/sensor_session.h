// Session files with sensors for the tests of reports: readings from functions of time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/commands/report/session_reports.h"

namespace gputrace::test {

struct SeriesRecipe {
  sampler::SensorDescription description;
  /// Seconds from the start; absent = the read failed.
  std::function<std::optional<double>(double)> value;
};

struct SourceRecipe {
  std::string name;
  std::vector<SeriesRecipe> series;
  std::optional<std::string> gpu_pci = "";  ///< of the recipe's GPU; absent = of the machine
  double rate_hz = 10;
  store::SensorSourceTotals totals = {};
};

inline SeriesRecipe gauge(std::string name, std::string unit,
                          std::function<std::optional<double>(double)> value,
                          std::string source = "a file") {
  SeriesRecipe series;
  series.description.name = std::move(name);
  series.description.source = std::move(source);
  series.description.unit = std::move(unit);
  series.value = std::move(value);
  return series;
}

inline SeriesRecipe counter(std::string name, std::string unit,
                            std::function<std::optional<double>(double)> value,
                            std::string source = "a counter") {
  SeriesRecipe series =
      gauge(std::move(name), std::move(unit), std::move(value), std::move(source));
  series.description.kind = sampler::SensorKind::kCounter;
  return series;
}

inline SeriesRecipe bits(std::string name, std::function<std::optional<double>(double)> value) {
  SeriesRecipe series = gauge(std::move(name), "bits", std::move(value), "gpu_metrics bits");
  series.description.kind = sampler::SensorKind::kBits;
  return series;
}

inline std::function<std::optional<double>(double)> always(double value) {
  return [value](double) { return value; };
}

/// Runs of equal values, as a recorder writes them.
inline std::vector<store::SensorRun> runs_of(const SessionRecipe& recipe, double rate_hz,
                                             const SeriesRecipe& series) {
  std::vector<store::SensorRun> runs;
  bool open = false;
  const auto readings = static_cast<int>(recipe.seconds * rate_hz);
  for (int i = 0; i < readings; ++i) {
    const double at_s = (i + 0.5) / rate_hz;
    const std::int64_t at_ns = recipe.start_ns + static_cast<std::int64_t>(at_s * 1e9);
    const std::optional<double> value = series.value(at_s);
    if (value && open && runs.back().value == *value) {
      runs.back().end_ns = at_ns;
      ++runs.back().readings;
    } else if (value) {
      runs.push_back({at_ns, at_ns, 1, *value});
    }
    open = value.has_value();
  }
  return runs;
}

/// All of a session but its end: a segment with samples, and sensors.
inline store::SessionWriter begin_session(const std::filesystem::path& path,
                                          const SessionRecipe& recipe,
                                          const std::vector<SourceRecipe>& sources,
                                          const std::string& pci = "") {
  store::SessionDescription description;
  description.started = TimeAnchor{recipe.start_ns, recipe.start_ns, recipe.start_realtime_ns};
  auto writer = store::SessionWriter::create(path, store::OnExisting::kReplace, description);
  REQUIRE(writer);
  store::SegmentDescription segment = segment_of(recipe);
  segment.gpu.pci = pci;
  REQUIRE(writer->begin_segment(segment));
  const auto ticks = static_cast<std::size_t>(recipe.seconds * recipe.rate_hz);
  for (std::size_t first = 0; first < ticks; first += 1000) {
    REQUIRE(writer->write_block(block_of(recipe, first, std::min(ticks, first + 1000))));
  }
  for (const SourceRecipe& source : sources) {
    store::SensorSource described{source.name, source.gpu_pci, {}};
    for (const SeriesRecipe& series : source.series) {
      described.sensors.push_back(series.description);
    }
    const auto defined = writer->define_sensor_source(described);
    REQUIRE(defined);
    for (std::size_t i = 0; i < source.series.size(); ++i) {
      for (const store::SensorRun& run : runs_of(recipe, source.rate_hz, source.series[i])) {
        REQUIRE(writer->write_sensor_run(defined->series[i], run));
      }
    }
    REQUIRE(writer->write_sensor_totals(defined->id, source.totals));
  }
  return std::move(*writer);
}

inline void finish_session(store::SessionWriter& writer, const SessionRecipe& recipe) {
  const std::int64_t end_ns = recipe.start_ns + static_cast<std::int64_t>(recipe.seconds * 1e9);
  REQUIRE(writer.finish({end_ns, 0, std::nullopt}));
}

inline report::Report report_with(const SessionRecipe& recipe,
                                  const std::vector<SourceRecipe>& sources,
                                  const commands::ReportOptions& options = {},
                                  const std::string& pci = "") {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  {
    store::SessionWriter writer = begin_session(path, recipe, sources, pci);
    finish_session(writer, recipe);
  }
  return must_report(path, options);
}

inline const report::Sensor* find_sensor(const report::Report& report, std::string_view name) {
  for (const report::Sensor& sensor : report.sensors) {
    if (sensor.name == name) {
      return &sensor;
    }
  }
  return nullptr;
}

/// The warning with that code, as one text; empty when there is none.
inline std::string warning_text(const report::Report& report, std::string_view code) {
  for (const report::Warning& warning : report.warnings) {
    if (warning.code == code) {
      return warning.text + " " + warning.hint;
    }
  }
  return "";
}

/// GUI_ACTIVE set in 30 % of the ticks of the first half and in 95 % of the second.
inline SessionRecipe changing_load() {
  SessionRecipe recipe;
  recipe.seconds = 10;
  recipe.simulated = false;
  recipe.word = [](std::size_t, std::size_t tick) {
    const std::size_t busy = tick < 5000 ? 6 : 19;
    return tick % 20 < busy ? 0x80003028U : 0x3028U;
  };
  return recipe;
}

}  // namespace gputrace::test
