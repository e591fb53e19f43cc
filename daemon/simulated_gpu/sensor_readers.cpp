#include "daemon/simulated_gpu/sensor_readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/metrics_table.h"
#include "daemon/simulated_gpu/sensor_files.h"

namespace gputrace::simulated_gpu {

namespace {

using sampler::SensorDescription;
using sampler::SensorKind;
using sampler::SensorOutcome;

constexpr std::string_view kCpuAndGpu = "CPU and GPU together";

/// What all simulated readers share; a kind of source says how its values come about.
class ReaderBase : public sampler::SensorReader {
 public:
  ReaderBase(std::string name, bool of_gpu, std::vector<SensorDescription> series,
             std::shared_ptr<const SimulatedSensors> sensors,
             std::shared_ptr<const ScenarioClock> clock)
      : name_("simulated " + std::move(name)),
        of_gpu_(of_gpu),
        series_(std::move(series)),
        sensors_(std::move(sensors)),
        clock_(std::move(clock)) {
    for (SensorDescription& one : series_) {
      one.source = "simulated " + one.source;
    }
  }

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::span<const SensorDescription> sensors() const noexcept override {
    return series_;
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return of_gpu_; }
  [[nodiscard]] std::string last_error() const override { return {}; }

 protected:
  [[nodiscard]] const SimulatedSensors& model() const { return *sensors_; }
  [[nodiscard]] SensorValues now() const {
    return sensors_->at(clock_->time_at(monotonic_now_ns()));
  }

 private:
  std::string name_;
  bool of_gpu_;
  std::vector<SensorDescription> series_;
  std::shared_ptr<const SimulatedSensors> sensors_;
  std::shared_ptr<const ScenarioClock> clock_;
};

class FileReader final : public ReaderBase {
 public:
  FileReader(const SensorFile& file, std::string name, SensorDescription series,
             std::shared_ptr<const SimulatedSensors> sensors,
             std::shared_ptr<const ScenarioClock> clock)
      : ReaderBase(std::move(name), true, {std::move(series)}, std::move(sensors),
                   std::move(clock)),
        file_(&file) {}

  [[nodiscard]] SensorOutcome read(std::span<std::optional<double>> values) noexcept override {
    values[0] = file_->rounded_value(model(), now());
    return SensorOutcome::kRead;
  }

 private:
  const SensorFile* file_;
};

SensorKind kind_of(const regdb::MetricsField& field) {
  if (field.value_unit == "bits") {
    return SensorKind::kBits;
  }
  return field.value_unit == "J" ? SensorKind::kCounter : SensorKind::kGauge;
}

/// The table as bytes and back, so that it means what a real one would.
class MetricsReader final : public ReaderBase {
 public:
  /// A series of the table: where it stands.
  struct Place {
    const regdb::MetricsField* field = nullptr;
    std::size_t element = 0;
    unsigned shift = 0;  ///< of the half of a bit field of 64
  };

  MetricsReader(std::vector<SensorDescription> series, std::vector<Place> places,
                regdb::MetricsUnits units, std::shared_ptr<const SimulatedSensors> sensors,
                std::shared_ptr<const ScenarioClock> clock)
      : ReaderBase("gpu_metrics", true, std::move(series), std::move(sensors), std::move(clock)),
        layout_(&metrics_layout_of(model().model())),
        places_(std::move(places)),
        units_(std::move(units)),
        table_(layout_->size) {}

  [[nodiscard]] SensorOutcome read(std::span<std::optional<double>> values) noexcept override {
    write_metrics_table(*layout_, now(), monotonic_now_ns(), table_);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Place& place = places_[i];
      if (kind_of(*place.field) == SensorKind::kBits) {
        const auto raw = regdb::raw_metric(table_, *place.field, place.element);
        values[i] = raw ? std::optional(static_cast<double>(*raw >> place.shift & 0xffffffffU))
                        : std::nullopt;
        continue;
      }
      values[i] = regdb::decode_metric(table_, *place.field, place.element, units_).value;
    }
    return SensorOutcome::kRead;
  }

 private:
  const regdb::MetricsLayout* layout_;
  std::vector<Place> places_;
  regdb::MetricsUnits units_;
  std::vector<std::byte> table_;
};

std::string covers_of(const SimulatedModel& model, const regdb::MetricsField& field) {
  if (model.apu && field.sensor == "package_power") {
    return std::string(kCpuAndGpu);
  }
  return field.sensor.starts_with("core_") || field.sensor.starts_with("l3_") ? "CPU" : "";
}

/// The series that the table has on this GPU: fields that its driver fills.
std::unique_ptr<sampler::SensorReader> make_metrics_reader(
    const std::shared_ptr<const SimulatedSensors>& sensors,
    const std::shared_ptr<const ScenarioClock>& clock) {
  const SimulatedModel& model = sensors->model();
  const regdb::MetricsLayout& layout = metrics_layout_of(model);
  std::vector<std::byte> table(layout.size);
  write_metrics_table(layout, sensors->at(0), 0, table);
  regdb::MetricsUnits units = regdb::decide_metrics_units(table, layout, model.gc);
  std::vector<SensorDescription> series;
  std::vector<MetricsReader::Place> places;
  const auto add = [&](const MetricsReader::Place& place, std::string name) {
    const regdb::MetricsField& field = *place.field;
    const regdb::MetricsScale* scale = regdb::doubtful_unit(field, units);
    const std::string element = field.count > 1 ? fmt::format("[{}]", place.element) : "";
    series.push_back({.name = std::move(name),
                      .source = "gpu_metrics " + field.name + element,
                      .label = "",
                      .unit = regdb::metric_unit(field, units),
                      .kind = kind_of(field),
                      .covers = covers_of(model, field),
                      .decision = scale != nullptr ? scale->decision : ""});
    places.push_back(place);
  };
  for (const regdb::MetricsField& field : layout.fields) {
    for (std::size_t i = 0; i < field.count; ++i) {
      if (field.sensor.empty() || !regdb::raw_metric(table, field, i) ||
          !regdb::why_unrecorded(layout, field, model.gc).empty()) {
        continue;
      }
      const std::string name =
          field.count > 1 ? fmt::format("{}_{}", field.sensor, i) : field.sensor;
      if (kind_of(field) == SensorKind::kBits && field.width > 4) {
        add({&field, i}, name + "_low");
        add({&field, i, 32}, name + "_high");
      } else {
        add({&field, i}, name);
      }
    }
  }
  return std::make_unique<MetricsReader>(std::move(series), std::move(places), std::move(units),
                                         sensors, clock);
}

/// A value of the machine, in steps of what its real source resolves.
struct MachineValue {
  double (*value)(const SensorValues& values);
  double step;
};

class MachineReader final : public ReaderBase {
 public:
  MachineReader(std::string name, std::vector<SensorDescription> series,
                std::vector<MachineValue> machine_values,
                std::shared_ptr<const SimulatedSensors> sensors,
                std::shared_ptr<const ScenarioClock> clock)
      : ReaderBase(std::move(name), false, std::move(series), std::move(sensors), std::move(clock)),
        machine_values_(std::move(machine_values)) {}

  [[nodiscard]] SensorOutcome read(std::span<std::optional<double>> values) noexcept override {
    const SensorValues now_values = now();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double step = machine_values_[i].step;
      // A counter begins at 0; rounding of an interval of no length must not put it below.
      values[i] = std::floor(std::max(0.0, machine_values_[i].value(now_values)) / step) * step;
    }
    return SensorOutcome::kRead;
  }

 private:
  std::vector<MachineValue> machine_values_;
};

}  // namespace

SensorReaders make_gpu_sensor_readers(const std::shared_ptr<const SimulatedSensors>& sensors,
                                      const std::shared_ptr<const ScenarioClock>& clock) {
  const bool apu = sensors->model().apu;
  SensorReaders readers;
  readers.push_back(make_metrics_reader(sensors, clock));
  for (const SensorFile& file : sensor_files()) {
    if (!(apu ? file.on_apu : file.on_card)) {
      continue;
    }
    SensorDescription series;
    series.name = file.sensor;
    series.source = fmt::format("{}{}", file.hwmon ? "hwmon " : "", file.file);
    series.label = file.label;
    series.unit = file.unit;
    if (apu && file.form == SensorFileForm::kPower) {
      series.covers = kCpuAndGpu;
    }
    readers.push_back(std::make_unique<FileReader>(
        file, fmt::format("{}{}", file.hwmon ? "hwmon amdgpu " : "", file.file), std::move(series),
        sensors, clock));
  }
  return readers;
}

SensorReaders make_machine_sensor_readers(const std::shared_ptr<const SimulatedSensors>& sensors,
                                          const std::shared_ptr<const ScenarioClock>& clock) {
  SensorReaders readers;
  if (!sensors->model().apu) {
    return readers;
  }
  const auto add = [&](std::string name, std::vector<SensorDescription> series,
                       std::vector<MachineValue> values) {
    readers.push_back(std::make_unique<MachineReader>(std::move(name), std::move(series),
                                                      std::move(values), sensors, clock));
  };
  constexpr double kCelsiusStep = 0.125;      // k10temp.c: the register has eighths
  constexpr double kJouleStep = 1.0 / 65536;  // [P] energy status unit of AMD's Zen
  constexpr double kCasBytes = 64;
  add("hwmon k10temp temp1_input",
      {{.name = "cpu_temperature",
        .source = "hwmon temp1_input",
        .label = "Tctl",
        .unit = "C",
        .covers = "",
        .decision = ""}},
      {{[](const SensorValues& v) { return v.temperature_c; }, kCelsiusStep}});
  add("pmu power energy-pkg",
      {{.name = "package_energy",
        .source = "pmu power energy-pkg",
        .label = "",
        .unit = "J",
        .kind = SensorKind::kCounter,
        .covers = "CPU package, on an APU the GPU too",
        .decision = ""}},
      {{[](const SensorValues& v) { return v.package_j; }, kJouleStep}});
  const auto traffic = [](std::string sensor, std::string_view event) {
    return SensorDescription{.name = std::move(sensor),
                             .source = fmt::format("pmu amd_umc {}", event),
                             .label = "",
                             .unit = "bytes",
                             .kind = SensorKind::kCounter,
                             .covers = "whole machine: CPU and GPU together",
                             .decision = ""};
  };
  add("pmu amd_umc",
      {traffic("dram_read", "umc_cas_cmd.rd"), traffic("dram_write", "umc_cas_cmd.wr")},
      {{[](const SensorValues& v) { return v.dram_read_bytes + v.cpu_dram_bytes; }, kCasBytes},
       {[](const SensorValues& v) { return v.dram_written_bytes + v.cpu_dram_bytes; }, kCasBytes}});
  return readers;
}

}  // namespace gputrace::simulated_gpu
