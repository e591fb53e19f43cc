#include "tests/cli/report/sample_report.h"

namespace gputrace::test {
namespace {

using report::Sensor;
using report::SensorKind;

constexpr std::uint64_t kGiB = 1024ULL * 1024 * 1024;

Sensor gauge(const char* name, const char* source, const char* unit, double mean, double min,
             double max) {
  Sensor sensor;
  sensor.name = name;
  sensor.source = source;
  sensor.unit = unit;
  sensor.mean = mean;
  sensor.min = min;
  sensor.max = max;
  sensor.samples = 100;
  sensor.covered_s = 10;
  return sensor;
}

Sensor counter(const char* name, const char* source, const char* unit, double total) {
  Sensor sensor;
  sensor.name = name;
  sensor.source = source;
  sensor.unit = unit;
  sensor.kind = SensorKind::kCounter;
  sensor.of_machine = true;
  sensor.total = total;
  sensor.samples = 100;
  sensor.covered_s = 9.9;
  return sensor;
}

Sensor throttle_status() {
  Sensor sensor;
  sensor.name = "throttle_status";
  sensor.source = "gpu_metrics throttle_status";
  sensor.unit = "bits";
  sensor.kind = SensorKind::kBits;
  sensor.samples = 100;
  sensor.bits_ever = 0x3;
  sensor.bits_always = 0x2;
  return sensor;
}

std::vector<Sensor> sample_sensors() {
  constexpr double kBytes = 1e9;
  Sensor power = gauge("package_power", "hwmon power1_average", "W", 46.13, 12.5, 54.25);
  power.label = "PPT";
  power.covers = "CPU and GPU together";
  Sensor activity = gauge("gfx_activity", "gpu_metrics average_gfx_activity", "%", 91.4, 0, 100);
  activity.decision = "centi-percent: driver of GC 11.0.1; range test agrees";
  Sensor unread = gauge("fan_speed", "hwmon fan1_input", "RPM", 0, 0, 0);
  unread.mean = unread.min = unread.max = std::nullopt;
  unread.samples = 0;
  unread.covered_s = 0;
  std::vector<Sensor> sensors{
      power,
      gauge("gfx_power", "gpu_metrics average_gfx_power", "W", 31.02, 1.5, 40),
      gauge("power_cap", "hwmon power1_cap", "W", 54, 54, 54),
      gauge("gfx_clock", "hwmon freq1_input", "MHz", 2580.4, 800, 2799),
      gauge("gfx_clock_average", "gpu_metrics average_gfxclk_frequency", "MHz", 2410, 340, 2790),
      gauge("edge_temperature", "hwmon temp1_input", "C", 66.2, 61, 70),
      gauge("vram_used", "mem_info_vram_used", "bytes", 3.1 * kGiB, 3.0 * kGiB, 3.2 * kGiB),
      activity,
      gauge("core_power_0", "gpu_metrics average_core_power[0]", "W", 2.1, 0.5, 6),
      unread,
      throttle_status(),
      counter("package_energy", "pmu power energy-pkg", "J", 456.7),
      counter("dram_read", "pmu amd_umc umc_cas_cmd.rd", "bytes", 496 * kBytes),
      counter("dram_write", "pmu amd_umc umc_cas_cmd.wr", "bytes", 209 * kBytes)};
  return sensors;
}

std::vector<report::Process> sample_processes() {
  return {{.pid = 4242,
           .name = "game.exe",
           .gpu = "0000:c4:00.0",
           .gpu_s = {{"gfx", 8.73}, {"compute", 0.31}},
           .vram_bytes = 3 * kGiB,
           .gtt_bytes = kGiB / 4},
          {.pid = 4199,
           .name = "launcher",
           .gpu = "0000:c4:00.0",
           .gpu_s = {{"gfx", 0.02}},
           .vram_bytes = 40'000'000,
           .gtt_bytes = std::nullopt}};
}

}  // namespace

report::Report sample_report_with_evidence() {
  report::Report report = sample_report();
  report.sensors = sample_sensors();
  report.sensor_sources = {{.name = "hwmon amdgpu power1_average",
                            .of_machine = false,
                            .reads = 100,
                            .rejected = 0,
                            .failed = 0,
                            .late = 0,
                            .cost_ns = 5'200'000,
                            .worst_ns = 410'000,
                            .rate_hz = 10,
                            .problem = ""},
                           {.name = "gpu_metrics",
                            .of_machine = false,
                            .reads = 97,
                            .rejected = 2,
                            .failed = 0,
                            .late = 1,
                            .cost_ns = 31'000'000,
                            .worst_ns = 510'000'000,
                            .rate_hz = std::nullopt,
                            .problem = "a read took over 500 ms"}};
  report.energy = {{.name = "package_energy",
                    .joules = 456.7,
                    .covered_s = 9.9,
                    .source = "pmu power energy-pkg",
                    .counted = true,
                    .covers = "CPU and GPU together",
                    .samples = 100}};
  report.dram = report::DramTraffic{.read_gbps = 50.1,
                                    .write_gbps = 21.1,
                                    .total_gbps = 71.2,
                                    .covered_s = 9.9,
                                    .samples = 100,
                                    .source = "pmu amd_umc umc_cas_cmd.rd",
                                    .covers = "whole machine: CPU and GPU together"};
  report.throttling =
      report::Throttling{.samples = 100,
                         .bits = {{.name = "PPT0",
                                   .group = "power",
                                   .share = 0.72,
                                   .supported_s = 6.9,
                                   .evidence = "package_power 53.8 W of a cap of 54.0 W"},
                                  {.name = "TEMP_HOTSPOT",
                                   .group = "temperature",
                                   .share = 1,
                                   .supported_s = 0,
                                   .evidence = ""}}};
  report.processes = sample_processes();
  report.frames = report::Frames{.count = 601, .median_ms = 16.61, .p99_ms = 20.14, .fps = 60.1};
  return report;
}

}  // namespace gputrace::test
