#include "cli/commands/report/report_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "cli/analysis/window.h"
#include "cli/commands/report/stretch_sensors.h"

namespace gputrace::commands {
namespace {

using analysis::ReadingRun;
using analysis::TimeRange;
using report::HeatRow;
using report::SensorTrack;

constexpr std::uint8_t kNoValue = 63;
/// Cells read at once.
constexpr std::size_t kChunkCells = 36'000;

/// The least of 1, 2, 5, 10, ... that is not less.
std::size_t round_up(std::size_t needed) {
  std::size_t scale = 1;
  while (scale * 10 <= needed) {
    scale *= 10;
  }
  for (const std::size_t factor : {1, 2, 5}) {
    if (scale * factor >= needed) {
      return scale * factor;
    }
  }
  return scale * 10;
}

/// Front end, geometry, raster, shader, memory path: as work goes through the GPU.
int place_in_pipeline(const report::Unit& unit) {
  static constexpr std::array<std::string_view, 8> kGeometry{"GE_", "PA_", "PH_", "VGT_",
                                                             "IA_", "WD_", "vgt", "pa"};
  switch (unit.group) {
    case regdb::UnitGroup::kFrontEnd:
      return 0;
    case regdb::UnitGroup::kFixedFunction:
      return std::ranges::any_of(kGeometry,
                                 [&](std::string_view part) { return unit.name.starts_with(part); })
                 ? 1
                 : 2;
    case regdb::UnitGroup::kShader:
      return 3;
    case regdb::UnitGroup::kMemoryPath:
      break;
  }
  return 4;
}

struct WindowSums {
  std::uint64_t samples = 0;
  std::uint64_t busy = 0;
};

/// Adds up cells to windows, unit by unit.
class RowWriter {
 public:
  RowWriter(std::size_t units, std::size_t windows, std::size_t cells_in_window)
      : cells_in_window_(cells_in_window),
        codes_(units, std::vector<std::uint8_t>(windows, kNoValue)),
        ever_busy_(units) {}

  /// A whole number of windows, but for the last one.
  void add(const analysis::BusyGrid& grid, std::size_t first_cell) {
    const std::size_t cells = grid.asleep.size();
    for (std::size_t from = 0; from < cells; from += cells_in_window_) {
      const std::size_t end = std::min(cells, from + cells_in_window_);
      std::uint64_t asleep = 0;
      std::uint64_t unknown = 0;
      for (std::size_t i = from; i < end; ++i) {
        asleep += grid.asleep[i];
        unknown += grid.unknown[i];
      }
      const std::size_t window = (first_cell + from) / cells_in_window_;
      for (std::size_t u = 0; u < codes_.size(); ++u) {
        const analysis::Counts sums =
            analysis::sum(std::span(grid.units[u].cells).subspan(from, end - from));
        ever_busy_[u] = ever_busy_[u] || sums.busy > 0;
        if (sums.samples > 0 && sums.samples >= std::max(asleep, unknown)) {
          const double busy = static_cast<double>(sums.busy) / static_cast<double>(sums.samples);
          codes_[u][window] = static_cast<std::uint8_t>(std::lround(62 * busy));
        }
      }
    }
  }
  [[nodiscard]] bool ever_busy(std::size_t unit) const { return ever_busy_[unit]; }
  std::vector<std::uint8_t> take(std::size_t unit) { return std::move(codes_[unit]); }

 private:
  std::size_t cells_in_window_;
  std::vector<std::vector<std::uint8_t>> codes_;
  std::vector<bool> ever_busy_;
};

Status add_rows(const analysis::GridSource& grid, std::size_t cells_in_window,
                const report::Report& report, report::Timeline& timeline) {
  RowWriter writer(grid.units().size(), timeline.windows, cells_in_window);
  const std::size_t chunk =
      std::max<std::size_t>(1, kChunkCells / cells_in_window) * cells_in_window;
  for (std::size_t first = 0; first < grid.cells(); first += chunk) {
    const auto cells = grid.read(first, std::min(chunk, grid.cells() - first));
    if (!cells) {
      return tl::unexpected<Error>(cells.error());
    }
    writer.add(*cells, first);
  }
  for (std::size_t u = 0; u < grid.units().size(); ++u) {
    const analysis::UnitKey& key = grid.units()[u];
    const auto unit = std::ranges::find_if(report.units, [&key](const report::Unit& other) {
      return other.register_name == key.register_name && other.name == key.name;
    });
    if (unit != report.units.end() && writer.ever_busy(u)) {
      timeline.rows.push_back(
          {static_cast<std::size_t>(unit - report.units.begin()), writer.take(u)});
    }
  }
  std::ranges::stable_sort(timeline.rows, {}, [&report](const HeatRow& row) {
    return place_in_pipeline(report.units[row.unit]);
  });
  return {};
}

/// Readings of one sensor by windows.
class TrackWriter {
 public:
  TrackWriter(std::size_t windows, const TimeRange& within, std::int64_t window_ns)
      : within_(within), window_ns_(window_ns), windows_(windows) {}

  void add(const ReadingRun& run) {
    const std::int64_t since = std::max(run.start_ns, within_.start_ns) - within_.start_ns;
    for (auto i = static_cast<std::size_t>(since / window_ns_); i < windows_.size(); ++i) {
      const std::int64_t start = within_.start_ns + static_cast<std::int64_t>(i) * window_ns_;
      if (start > run.end_ns) {
        break;
      }
      Window& window = windows_[i];
      const std::uint32_t readings = part_of(run, {start, start + window_ns_}).readings;
      window.sum += run.value * readings;
      window.smallest = window.readings == 0 ? run.value : std::min(window.smallest, run.value);
      window.largest = window.readings == 0 ? run.value : std::max(window.largest, run.value);
      window.readings += readings;
    }
  }
  void fill(SensorTrack& track) const {
    for (const Window& window : windows_) {
      const bool read = window.readings > 0;
      const auto value = [read](double number) {
        return read ? std::optional(static_cast<float>(number)) : std::nullopt;
      };
      track.min.push_back(value(window.smallest));
      track.mean.push_back(value(read ? window.sum / window.readings : 0));
      track.max.push_back(value(window.largest));
    }
  }

 private:
  struct Window {
    double sum = 0;
    double smallest = 0;
    double largest = 0;
    std::uint32_t readings = 0;
  };
  TimeRange within_;
  std::int64_t window_ns_;
  std::vector<Window> windows_;
};

/// Those that people look for beside busy bits.
bool has_track(const std::vector<report::Sensor>& sensors, const report::Sensor& sensor) {
  static constexpr std::array<std::string_view, 6> kUnits{"W", "MHz", "C", "%", "RPM", "V"};
  return sensor.kind == report::SensorKind::kGauge && sensor.name != "power_cap" &&
         !is_numbered(sensor) && std::ranges::find(kUnits, sensor.unit) != kUnits.end() &&
         find_sensor(sensors, sensor.name, sensor.kind, sensor.of_machine) == &sensor;
}

std::optional<double> limit_of(const std::vector<report::Sensor>& sensors,
                               const report::Sensor& sensor) {
  if (sensor.name != "package_power") {
    return std::nullopt;
  }
  const report::Sensor* cap =
      find_sensor(sensors, "power_cap", report::SensorKind::kGauge, sensor.of_machine);
  return cap == nullptr ? std::nullopt : cap->max;
}

SensorTrack traffic_track(const MemoryTrack& memory, std::size_t windows, const TimeRange& within,
                          std::int64_t window_ns) {
  SensorTrack track;
  track.name = "dram_traffic";
  track.unit = "GB/s";
  for (std::size_t i = 0; i < windows; ++i) {
    const std::int64_t start = within.start_ns + static_cast<std::int64_t>(i) * window_ns;
    const std::optional<double> gbps =
        memory.gbps({start, std::min(start + window_ns, within.end_ns)});
    const auto value = gbps ? std::optional(static_cast<float>(*gbps)) : std::nullopt;
    track.min.push_back(value);
    track.mean.push_back(value);
    track.max.push_back(value);
  }
  return track;
}

Status add_tracks(const SensorSet& set, const MemoryTrack& memory, const TimeRange& within,
                  report::Timeline& timeline) {
  const std::vector<report::Sensor>& sensors = set.sensors();
  const auto window_ns = static_cast<std::int64_t>(timeline.sensor_window_s * 1e9);
  const std::int64_t length = std::max<std::int64_t>(0, within.end_ns - within.start_ns);
  const auto windows = static_cast<std::size_t>((length + window_ns - 1) / window_ns);
  std::map<std::size_t, TrackWriter> writers;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (has_track(sensors, sensors[i])) {
      writers.emplace(i, TrackWriter(windows, within, window_ns));
    }
  }
  if (!writers.empty()) {
    const Status read =
        set.for_each_run([&](std::int64_t /*series*/, std::size_t sensor, const ReadingRun& run) {
          if (const auto it = writers.find(sensor); it != writers.end()) {
            it->second.add(run);
          }
        });
    if (!read) {
      return read;
    }
  }
  for (const auto& [index, writer] : writers) {
    SensorTrack track;
    track.name = sensors[index].name;
    track.unit = sensors[index].unit;
    track.limit = limit_of(sensors, sensors[index]);
    writer.fill(track);
    timeline.tracks.push_back(std::move(track));
  }
  if (memory.has_traffic()) {
    timeline.tracks.push_back(traffic_track(memory, windows, within, window_ns));
  }
  return {};
}

}  // namespace

Result<report::Timeline> timeline_of(const analysis::GridSource& grid, const SensorSet& sensors,
                                     const MemoryTrack& memory, const report::Report& report) {
  report::Timeline timeline;
  timeline.start_s = grid.start_s();
  const std::size_t needed = (grid.cells() + kMaxWindows - 1) / kMaxWindows;
  const std::size_t cells_in_window = round_up(std::max<std::size_t>(1, needed));
  timeline.window_s = static_cast<double>(cells_in_window) * grid.cell_s();
  timeline.windows = (grid.cells() + cells_in_window - 1) / cells_in_window;
  if (Status added = add_rows(grid, cells_in_window, report, timeline); !added) {
    return tl::unexpected<Error>(added.error());
  }
  const double length_s = static_cast<double>(grid.cells()) * grid.cell_s();
  const double seconds = std::ceil(length_s / static_cast<double>(kMaxSensorWindows));
  timeline.sensor_window_s =
      static_cast<double>(round_up(std::max<std::size_t>(1, static_cast<std::size_t>(seconds))));
  const std::int64_t start_ns =
      memory.session_start_ns() + static_cast<std::int64_t>(grid.start_s() * 1e9);
  const TimeRange within{start_ns, start_ns + static_cast<std::int64_t>(length_s * 1e9)};
  if (Status added = add_tracks(sensors, memory, within, timeline); !added) {
    return tl::unexpected<Error>(added.error());
  }
  return timeline;
}

}  // namespace gputrace::commands
