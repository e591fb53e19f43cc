#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/commands/bench/simulated_runner.h"
#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/calibration/vulkan_driver.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kWholePipe = "GUI_ACTIVE";
/// Long recordings are counted an hour at a time.
constexpr std::int64_t kChunkNs = 36'000 * store::kCellNs;
/// A week, in hours. A damaged file may claim years, whose cells no memory holds.
constexpr std::int64_t kMostNs = 168 * kChunkNs;

constexpr std::array<std::string_view, 2> kClocks{"gfx_clock", "gfx_clock_average"};
constexpr std::array<std::string_view, 2> kPowers{"package_power", "apu_power"};

/// Time under load, so that a stretch's share is a difference.
class LoadTime {
 public:
  explicit LoadTime(std::int64_t first_ns) : first_ns_(first_ns) {}

  void add(bool loaded) { before_.push_back(before_.back() + (loaded ? store::kCellNs : 0)); }
  [[nodiscard]] bool any() const { return before_.back() > 0; }
  /// Of a stretch; of a moment: 1 or 0.
  [[nodiscard]] double share(std::int64_t start_ns, std::int64_t end_ns) const {
    const std::int64_t end = std::max(end_ns, start_ns + 1);
    return (until(end) - until(start_ns)) / static_cast<double>(end - start_ns);
  }

 private:
  [[nodiscard]] double until(std::int64_t time_ns) const {
    const double at = static_cast<double>(time_ns - first_ns_) / store::kCellNs;
    const auto last = static_cast<double>(before_.size() - 1);
    const double inside = std::clamp(at, 0.0, last);
    const auto cell = std::min(static_cast<std::size_t>(inside), before_.size() - 1);
    const std::size_t next = std::min(cell + 1, before_.size() - 1);
    const double part = inside - static_cast<double>(cell);
    return static_cast<double>(before_[cell]) +
           part * static_cast<double>(before_[next] - before_[cell]);
  }

  std::int64_t first_ns_;
  std::vector<std::int64_t> before_{0};
};

std::optional<store::BitRef> whole_pipe(const store::SegmentDescription& segment) {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  const Result<regdb::RegisterMap> map = regdb.map_for_table(segment.regdb_table);
  for (std::size_t i = 0; map && i < segment.registers.size(); ++i) {
    const regdb::Register* reg = map->find(segment.registers[i].name);
    const regdb::RegisterField* field = reg != nullptr ? reg->find_field(kWholePipe) : nullptr;
    if (field != nullptr) {
      return store::BitRef{i, field->shift};
    }
  }
  return std::nullopt;
}

Result<LoadTime> load_time(const store::SessionReader& session,
                           const store::StoredSegment& segment) {
  LoadTime load(segment.description.start_ns);
  const std::optional<store::BitRef> bit = whole_pipe(segment.description);
  if (!bit || segment.end_ns - segment.description.start_ns > kMostNs) {
    return load;
  }
  for (std::int64_t from = segment.description.start_ns; from < segment.end_ns; from += kChunkNs) {
    const store::TimeSpan chunk{from, std::min(from + kChunkNs, segment.end_ns)};
    const Result<store::SegmentCounts> counts = session.counts(segment, {&*bit, 1}, chunk);
    if (!counts) {
      return tl::unexpected<Error>(counts.error());
    }
    const std::vector<std::uint32_t>& valid = counts->registers[bit->register_index].valid;
    for (std::size_t cell = 0; cell < valid.size(); ++cell) {
      load.add(valid[cell] > 0 && counts->bits.front().busy[cell] >= kLoadedShare * valid[cell]);
    }
  }
  return load;
}

struct Mean {
  double sum = 0;
  double readings = 0;
  void add(double value, double weight) {
    sum += value * weight;
    readings += weight;
  }
};

/// Of one series: under load, and of all of its time.
struct Series {
  std::string name;
  Mean loaded;
  Mean all;
};

/// The mean of the first of these quantities that was read; of several series of it, the one with
/// most readings.
std::optional<double> mean_of(const std::map<std::int64_t, Series>& series,
                              std::span<const std::string_view> names, bool any_load) {
  for (const std::string_view name : names) {
    const Mean* best = nullptr;
    for (const auto& [id, each] : series) {
      const Mean& mean = any_load ? each.loaded : each.all;
      if (each.name == name && mean.readings > 0 &&
          (best == nullptr || mean.readings > best->readings)) {
        best = &mean;
      }
    }
    if (best != nullptr) {
      return best->sum / best->readings;
    }
  }
  return std::nullopt;
}

Result<std::map<std::int64_t, Series>> clock_and_power(const store::SessionReader& session,
                                                       const std::string& pci) {
  const Result<std::vector<store::StoredSensorSource>> sources = session.sensor_sources();
  if (!sources) {
    return tl::unexpected<Error>(sources.error());
  }
  std::map<std::int64_t, Series> series;
  for (const store::StoredSensorSource& stored : *sources) {
    if (stored.source.gpu_pci && *stored.source.gpu_pci != pci) {
      continue;
    }
    for (std::size_t i = 0; i < stored.series.size(); ++i) {
      const sampler::SensorDescription& sensor = stored.source.sensors[i];
      const bool wanted = std::ranges::find(kClocks, sensor.name) != kClocks.end() ||
                          std::ranges::find(kPowers, sensor.name) != kPowers.end();
      if (wanted && sensor.kind == sampler::SensorKind::kGauge) {
        series[stored.series[i]].name = sensor.name;
      }
    }
  }
  return series;
}

const store::StoredSegment* longest_segment(const store::SessionReader& recording) {
  const auto& segments = recording.segments();
  const auto longest = std::ranges::max_element(segments, {}, [](const auto& segment) {
    return segment.end_ns - segment.description.start_ns;
  });
  return longest == segments.end() ? nullptr : &*longest;
}

Result<analysis::Conditions> conditions_under(const store::SessionReader& recording,
                                              const store::StoredSegment& longest,
                                              const LoadTime& load) {
  const sampler::GpuIdentity& gpu = longest.description.gpu;
  analysis::Conditions conditions;
  conditions.gpu = gpu.name;
  conditions.vendor_id = gpu.vendor_id;
  conditions.device_id = gpu.device_id;
  conditions.revision_id = gpu.revision_id;
  conditions.simulated = gpu.simulated;
  conditions.driver = driver_of(recording);
  if (!conditions.driver && gpu.simulated) {
    conditions.driver = driver_text(kSimulatedDriver, kSimulatedDriverInfo);
  }
  auto series = clock_and_power(recording, gpu.pci);
  if (!series) {
    return tl::unexpected<Error>(series.error());
  }
  const store::TimeSpan span{longest.description.start_ns, longest.end_ns};
  const Status read = recording.for_each_sensor_run(
      span, [&](std::int64_t id, const store::SensorRun& run) -> Status {
        if (const auto found = series->find(id); found != series->end()) {
          found->second.all.add(run.value, run.readings);
          found->second.loaded.add(run.value, run.readings * load.share(run.start_ns, run.end_ns));
        }
        return {};
      });
  if (!read) {
    return tl::unexpected<Error>(read.error());
  }
  conditions.clock_mhz = mean_of(*series, kClocks, load.any());
  conditions.power_w = mean_of(*series, kPowers, load.any());
  return conditions;
}

Error no_samples() {
  return {ErrorCode::kInvalidArgument, "the file has no samples of a GPU"};
}

}  // namespace

const sampler::GpuIdentity* recorded_gpu(const store::SessionReader& recording) {
  const store::StoredSegment* longest = longest_segment(recording);
  return longest == nullptr ? nullptr : &longest->description.gpu;
}

Result<analysis::Conditions> conditions_of(const store::SessionReader& recording) {
  const store::StoredSegment* longest = longest_segment(recording);
  if (longest == nullptr) {
    return tl::unexpected<Error>(no_samples());
  }
  const Result<LoadTime> load = load_time(recording, *longest);
  if (!load) {
    return tl::unexpected<Error>(load.error());
  }
  return conditions_under(recording, *longest, *load);
}

Result<analysis::Conditions> conditions_of(const store::SessionReader& recording,
                                           const LoadCells& cells) {
  const store::StoredSegment* longest = longest_segment(recording);
  if (longest == nullptr) {
    return tl::unexpected<Error>(no_samples());
  }
  LoadTime load(cells.first_ns);
  for (const bool loaded : cells.loaded) {
    load.add(loaded);
  }
  return conditions_under(recording, *longest, load);
}

}  // namespace gputrace::commands
