#include "cli/import/amdgpu_top_sensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

/// Objects come once a second or, with -s, seldom; a gap of minutes is a pause.
constexpr std::int64_t kMaxGapNs = 150 * kNsPerSecond;
constexpr std::size_t kMaxUnknown = 20;

/// amdgpu_top's units, and what a value is multiplied with for the unit here.
struct Unit {
  std::string_view theirs;
  std::string_view ours;
  double scale;
};
constexpr std::array<Unit, 13> kUnits{{
    {"%", "%", 1},
    {"MHz", "MHz", 1},
    {"mV", "V", 1e-3},
    {"V", "V", 1},
    {"W", "W", 1},
    {"mW", "W", 1e-3},
    {"C", "C", 1},
    {"RPM", "RPM", 1},
    {"B", "bytes", 1},
    {"bytes", "bytes", 1},
    {"KiB", "bytes", 1024},
    {"MiB", "bytes", 1024.0 * 1024},
    {"GiB", "bytes", 1024.0 * 1024 * 1024},
}};

/// Names of amdgpu_top 0.1 to 0.11 (crates/amdgpu_top_json, output_json.rs). Values are whole
/// numbers there, rounded down.
struct Key {
  std::string_view section;
  std::string_view name;
  std::string_view sensor;  ///< empty: known, and no series
  std::string_view unit;
  double min = 0;
  double max = 0;
};
constexpr std::array<Key, 38> kKeys{{
    {"Sensors", "GFX_SCLK", "gfx_clock", "MHz", 0, 20'000},
    {"Sensors", "GFX_MCLK", "mem_clock", "MHz", 0, 20'000},
    {"Sensors", "FCLK", "fabric_clock", "MHz", 0, 20'000},
    {"Sensors", "VDDGFX", "gfx_voltage", "V", 0, 5},
    {"Sensors", "VDDNB", "soc_voltage", "V", 0, 5},
    {"Sensors", "Fan", "fan_speed", "RPM", 0, 60'000},
    {"Sensors", "Average Power", "package_power", "W", 0, 10'000},
    {"Sensors", "Input Power", "package_power", "W", 0, 10'000},
    {"Sensors", "GFX Power", "package_power", "W", 0, 10'000},
    {"Sensors", "Edge Temperature", "edge_temperature", "C", -100, 200},
    {"Sensors", "GFX Temp.", "edge_temperature", "C", -100, 200},
    {"Sensors", "Junction Temperature", "junction_temperature", "C", -100, 200},
    {"Sensors", "Memory Temperature", "mem_temperature", "C", -100, 200},
    {"Sensors", "CPU Tctl", "cpu_temperature", "C", -100, 200},
    {"Sensors", "Fan Max", "", "", 0, 0},
    {"Sensors", "Edge Critical Temperature", "", "", 0, 0},
    {"Sensors", "Edge Emergency Temperature", "", "", 0, 0},
    {"Sensors", "Junction Critical Temperature", "", "", 0, 0},
    {"Sensors", "Junction Emergency Temperature", "", "", 0, 0},
    {"Sensors", "Memory Critical Temperature", "", "", 0, 0},
    {"Sensors", "Memory Emergency Temperature", "", "", 0, 0},
    {"Sensors", "CPU Core freq", "", "", 0, 0},
    {"Sensors", "PCIe Link Speed", "", "", 0, 0},
    {"Sensors", "PCI Power State", "", "", 0, 0},
    {"Sensors", "Power Cap", "", "", 0, 0},
    {"Sensors", "Power Profile", "", "", 0, 0},
    {"VRAM", "Total VRAM", "vram_total", "bytes", 0, 1e15},
    {"VRAM", "Total VRAM Usage", "vram_used", "bytes", 0, 1e15},
    {"VRAM", "Total GTT", "gtt_total", "bytes", 0, 1e15},
    {"VRAM", "Total GTT Usage", "gtt_used", "bytes", 0, 1e15},
    {"VRAM", "Total CPU-Visible VRAM", "visible_vram_total", "bytes", 0, 1e15},
    {"VRAM", "CPU-Visible VRAM", "visible_vram_total", "bytes", 0, 1e15},
    {"VRAM", "CPU-Visible VRAM Usage", "visible_vram_used", "bytes", 0, 1e15},
    {"gpu_activity", "GFX", "gfx_activity", "%", 0, 100},
    {"gpu_activity", "Memory", "mem_activity", "%", 0, 100},
    {"gpu_activity", "UMC", "mem_activity", "%", 0, 100},
    {"gpu_activity", "MediaEngine", "media_activity", "%", 0, 100},
    {"gpu_activity", "Media", "media_activity", "%", 0, 100},
}};
constexpr std::array<std::string_view, 3> kSections{"Sensors", "VRAM", "gpu_activity"};

const Key* find_key(std::string_view section, std::string_view name) {
  const auto* found = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) {
    return key.section == section && key.name == name;
  });
  return found == kKeys.end() ? nullptr : found;
}

/// In the unit of the key; absent when the file's unit is another quantity's.
std::optional<double> in_unit(const Key& key, double value, std::string_view unit) {
  if (unit.empty()) {
    return value;
  }
  for (const Unit& known : kUnits) {
    if (known.theirs == unit && known.ours == key.unit) {
      return value * known.scale;
    }
  }
  return std::nullopt;
}

/// GFX Power is one of the other two once more, where a version has those.
bool is_double(std::string_view name, const AmdgpuTopSection& section) {
  return name == "GFX Power" &&
         std::any_of(section.values.begin(), section.values.end(), [](const auto& value) {
           return value.name == "Average Power" || value.name == "Input Power";
         });
}

store::SensorSource source_of(const AmdgpuTopDevice& device, std::string_view section,
                              std::vector<std::string>& keys) {
  store::SensorSource source;
  source.name = "amdgpu_top " + std::string(section);
  if (!device.pci.empty()) {
    source.gpu_pci = device.pci;
  }
  for (const Key& key : kKeys) {
    if (key.section != section || key.sensor.empty()) {
      continue;
    }
    sampler::SensorDescription sensor;
    sensor.name = key.sensor;
    sensor.source = source.name + " " + std::string(key.name);
    sensor.label = key.name;
    sensor.unit = key.unit;
    if (key.sensor == "package_power" && device.type == "APU") {
      sensor.covers = "CPU and GPU together";
    } else if (key.sensor == "cpu_temperature") {
      sensor.covers = "CPU";
    }
    source.sensors.push_back(std::move(sensor));
    keys.emplace_back(key.name);
  }
  return source;
}

}  // namespace

Result<AmdgpuTopSensors> AmdgpuTopSensors::define(SessionSink& sink, const AmdgpuTopDevice& first,
                                                  const std::optional<regdb::GcVersion>& gc) {
  AmdgpuTopSensors sensors;
  for (const std::string_view name : kSections) {
    std::vector<std::string> keys;
    store::SensorSource source = source_of(first, name, keys);
    Result<SensorSeries> series = SensorSeries::define(sink, std::move(source), kMaxGapNs);
    if (!series) {
      return tl::unexpected(series.error());
    }
    sensors.sections_.push_back({std::string(name), std::move(keys), std::move(*series)});
  }
  if (first.metrics) {
    Result<AmdgpuTopMetricsSeries> metrics =
        AmdgpuTopMetricsSeries::define(sink, *first.metrics, first.pci, gc, kMaxGapNs);
    if (!metrics) {
      return tl::unexpected(metrics.error());
    }
    sensors.metrics_.emplace(std::move(*metrics));
  }
  return sensors;
}

void AmdgpuTopSensors::add_unknown(const std::string& name) {
  const std::string shown = printable(name);
  if (unknown_.size() < kMaxUnknown &&
      std::find(unknown_.begin(), unknown_.end(), shown) == unknown_.end()) {
    unknown_.push_back(shown);
  }
}

Status AmdgpuTopSensors::add_section(const AmdgpuTopSection& from, Section& to,
                                     std::int64_t time_ns) {
  bool any = false;
  for (const AmdgpuTopValue& value : from.values) {
    const Key* key = find_key(from.name, value.name);
    if (key == nullptr) {
      add_unknown(from.name + " " + value.name);
      continue;
    }
    if (key->sensor.empty() || !value.value || is_double(value.name, from)) {
      continue;
    }
    const std::optional<double> reading = in_unit(*key, *value.value, value.unit);
    if (!reading) {
      add_unknown(from.name + " " + value.name + " in " + value.unit);
      continue;
    }
    if (*reading < key->min || *reading > key->max) {
      ++impossible_[from.name + " " + std::string(key->name)];
      continue;
    }
    const auto at = std::find(to.keys.begin(), to.keys.end(), value.name) - to.keys.begin();
    any = true;
    ++values_;
    if (Status status = to.series.add(static_cast<std::size_t>(at), time_ns, *reading); !status) {
      return status;
    }
  }
  if (any) {
    to.series.count_read();
  }
  return {};
}

Status AmdgpuTopSensors::add(const AmdgpuTopDevice& device, std::int64_t time_ns) {
  for (Section& section : sections_) {
    const AmdgpuTopSection* from = device.find(section.name);
    if (from == nullptr) {
      continue;
    }
    if (Status status = add_section(*from, section, time_ns); !status) {
      return status;
    }
  }
  if (!metrics_ || !device.metrics) {
    return {};
  }
  const Result<std::uint64_t> added = metrics_->add(*device.metrics, time_ns);
  if (!added) {
    return tl::unexpected(added.error());
  }
  values_ += *added;
  return {};
}

Status AmdgpuTopSensors::finish(std::int64_t start_ns, std::int64_t end_ns) {
  for (Section& section : sections_) {
    if (Status status = section.series.finish(start_ns, end_ns); !status) {
      return status;
    }
  }
  return metrics_ ? metrics_->finish(start_ns, end_ns) : Status{};
}

std::vector<std::string> AmdgpuTopSensors::names() const {
  std::vector<std::string> names;
  const auto take = [&names](const SensorSeries& series) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      const std::string& name = series.sensor(i).name;
      if (series.has_readings(i) && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  };
  for (const Section& section : sections_) {
    take(section.series);
  }
  if (metrics_ && metrics_->series() != nullptr) {
    take(*metrics_->series());
  }
  return names;
}

}  // namespace gputrace::import
