#include "cli/commands/report/report_energy.h"

#include <algorithm>
#include <array>
#include <string>

#include "cli/commands/report/sensor_set.h"

namespace gputrace::commands {
namespace {

using report::DramTraffic;
using report::Energy;
using report::Sensor;
using report::SensorKind;

/// A counter stands for the package of a power sensor if it was read for about as long.
constexpr double kEnoughCover = 0.9;
constexpr double kBytesPerGb = 1e9;

Energy counted_energy(const Sensor& sensor, const std::string& covers) {
  return {.name = sensor.name,
          .joules = sensor.total.value_or(0),
          .covered_s = sensor.covered_s,
          .source = sensor.source,
          .counted = true,
          .covers = covers,
          .samples = sensor.samples};
}

Energy integrated_energy(const Sensor& sensor) {
  return {.name = "package_energy",
          .joules = sensor.mean.value_or(0) * sensor.covered_s,
          .covered_s = sensor.covered_s,
          .source = sensor.source,
          .counted = false,
          .covers = sensor.covers,
          .samples = sensor.samples};
}

/// Of either scope: PMUs belong to the machine, a metrics table to the GPU.
const Sensor* find_traffic(const std::vector<Sensor>& sensors, std::string_view name,
                           SensorKind kind) {
  const Sensor* machine = find_sensor(sensors, name, kind, true);
  return machine != nullptr ? machine : find_sensor(sensors, name, kind, false);
}

std::optional<double> gbps_of(const Sensor* sensor) {
  if (sensor == nullptr) {
    return std::nullopt;
  }
  if (sensor->kind == SensorKind::kGauge) {
    return sensor->mean ? std::optional(*sensor->mean / kBytesPerGb) : std::nullopt;
  }
  return sensor->total && sensor->covered_s > 0
             ? std::optional(*sensor->total / sensor->covered_s / kBytesPerGb)
             : std::nullopt;
}

/// "pmu amd_umc" for two of its events.
std::string source_of_both(const std::string& read, const std::string& write) {
  const std::size_t space = read.rfind(' ');
  if (space != std::string::npos && write.compare(0, space + 1, read, 0, space + 1) == 0) {
    return read.substr(0, space);
  }
  return read == write ? read : read + ", " + write;
}

std::optional<DramTraffic> both_directions(const Sensor* read, const Sensor* write) {
  const Sensor* any = read != nullptr ? read : write;
  if (any == nullptr) {
    return std::nullopt;
  }
  DramTraffic traffic;
  traffic.read_gbps = gbps_of(read);
  traffic.write_gbps = gbps_of(write);
  if (traffic.read_gbps && traffic.write_gbps) {
    traffic.total_gbps = *traffic.read_gbps + *traffic.write_gbps;
  }
  traffic.source = any->source;
  if (read != nullptr && write != nullptr) {
    traffic.source = source_of_both(read->source, write->source);
  }
  traffic.covers = any->covers;
  traffic.covered_s = any->covered_s;
  traffic.samples = any->samples;
  if (read != nullptr && write != nullptr) {
    traffic.covered_s = std::min(read->covered_s, write->covered_s);
    traffic.samples = std::min(read->samples, write->samples);
  }
  return traffic;
}

}  // namespace

bool covers_cpu(const Sensor& sensor) {
  return sensor.covers.find("CPU") != std::string::npos;
}

std::vector<Energy> energy_of(const std::vector<Sensor>& sensors) {
  const Sensor* gpu_counter = find_sensor(sensors, "package_energy", SensorKind::kCounter, false);
  const Sensor* gpu_power = find_sensor(sensors, "package_power", SensorKind::kGauge, false);
  const Sensor* cpu_counter = find_sensor(sensors, "package_energy", SensorKind::kCounter, true);
  const bool one_package = gpu_power != nullptr && covers_cpu(*gpu_power);
  std::vector<Energy> energy;
  if (gpu_counter != nullptr) {
    energy.push_back(counted_energy(*gpu_counter, gpu_counter->covers));
  } else if (one_package && cpu_counter != nullptr &&
             cpu_counter->covered_s >= kEnoughCover * gpu_power->covered_s) {
    energy.push_back(counted_energy(*cpu_counter, gpu_power->covers));
    return energy;
  } else if (gpu_power != nullptr && gpu_power->covered_s > 0) {
    energy.push_back(integrated_energy(*gpu_power));
  }
  if (cpu_counter != nullptr && !one_package) {
    const bool alone = gpu_counter == nullptr && gpu_power == nullptr;
    energy.push_back(counted_energy(
        *cpu_counter, cpu_counter->covers.empty() && !alone ? "CPU" : cpu_counter->covers));
  }
  return energy;
}

DramSensors dram_sensors(const std::vector<Sensor>& sensors) {
  const DramSensors counted{find_traffic(sensors, "dram_read", SensorKind::kCounter),
                            find_traffic(sensors, "dram_write", SensorKind::kCounter), nullptr};
  if (counted.read != nullptr && counted.write != nullptr) {
    return counted;
  }
  if (const Sensor* both = find_traffic(sensors, "dram_traffic", SensorKind::kCounter)) {
    return {nullptr, nullptr, both};
  }
  const DramSensors rates{find_traffic(sensors, "dram_read_rate", SensorKind::kGauge),
                          find_traffic(sensors, "dram_write_rate", SensorKind::kGauge), nullptr};
  const bool complete = rates.read != nullptr && rates.write != nullptr;
  const bool none_counted = counted.read == nullptr && counted.write == nullptr;
  return complete || none_counted ? rates : counted;
}

std::optional<DramTraffic> dram_traffic_of(const std::vector<Sensor>& sensors) {
  const DramSensors dram = dram_sensors(sensors);
  if (dram.both == nullptr) {
    return both_directions(dram.read, dram.write);
  }
  return DramTraffic{.read_gbps = std::nullopt,
                     .write_gbps = std::nullopt,
                     .total_gbps = gbps_of(dram.both),
                     .covered_s = dram.both->covered_s,
                     .samples = dram.both->samples,
                     .source = dram.both->source,
                     .covers = dram.both->covers};
}

}  // namespace gputrace::commands
