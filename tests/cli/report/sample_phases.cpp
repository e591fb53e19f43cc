#include "tests/cli/report/sample_phases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "tests/cli/report/sample_report.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using analysis::Interval;
using regdb::UnitGroup;
using report::Phase;

struct UnitKind {
  const char* name;
  const char* register_name;
  UnitGroup group;
};
constexpr std::array<UnitKind, 11> kUnits{
    UnitKind{"GUI_ACTIVE", "GRBM_STATUS", UnitGroup::kFrontEnd},
    UnitKind{"SPI_BUSY", "GRBM_STATUS", UnitGroup::kShader},
    UnitKind{"TA_BUSY", "GRBM_STATUS", UnitGroup::kShader},
    UnitKind{"SC_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction},
    UnitKind{"DB_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction},
    UnitKind{"CB_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction},
    UnitKind{"PA_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction},
    UnitKind{"GE_BUSY", "GRBM_STATUS2", UnitGroup::kFixedFunction},
    UnitKind{"TCP_BUSY", "GRBM_STATUS2", UnitGroup::kMemoryPath},
    UnitKind{"EA_BUSY", "GRBM_STATUS2", UnitGroup::kMemoryPath},
    UnitKind{"GL2CC_BUSY", "GRBM_STATUS3", UnitGroup::kMemoryPath}};
using Busy = std::array<double, kUnits.size()>;

/// In the order of kUnits: pipe, SPI, TA, SC, DB, CB, PA, GE, TCP, EA, GL2CC.
const Busy& busy_of(Bottleneck bottleneck) {
  static const std::map<Bottleneck, Busy> kBusy{
      {Bottleneck::kBandwidth, {1, .99, .83, .94, .60, .58, .55, .71, .86, .93, .95}},
      {Bottleneck::kLatency, {1, .98, .84, .40, .30, .30, .31, .40, .85, .91, .92}},
      {Bottleneck::kMemory, {1, .99, .84, .40, .30, .30, .31, .40, .86, .92, .94}},
      {Bottleneck::kCompute, {1, .99, .35, .50, .40, .41, .30, .33, .38, .41, .43}},
      {Bottleneck::kTexture, {1, .99, .99, .60, .40, .40, .30, .33, .99, .25, .40}},
      {Bottleneck::kRaster, {1, .70, .03, .97, .98, .97, .60, .70, .05, .50, .55}},
      {Bottleneck::kGeometry, {1, .60, .10, .50, .30, .30, .97, .98, .12, .30, .33}},
      {Bottleneck::kCpu, {.46, .44, .37, .42, .30, .30, .27, .35, .38, .41, .42}},
      {Bottleneck::kMixed, {1, .78, .74, .70, .50, .50, .45, .55, .75, .68, .70}},
      {Bottleneck::kIdle, {.02, .01, 0, 0, 0, 0, 0, 0, 0, .01, .01}},
      {Bottleneck::kUnknown, {1, .80, .81, .60, .50, .50, .40, .50, .82, .79, .80}}};
  return kBusy.at(bottleneck);
}

report::Sensor power_sensor(const char* name, double watts, double spread) {
  report::Sensor sensor;
  sensor.name = name;
  sensor.source = "hwmon";
  sensor.unit = "W";
  sensor.mean = watts;
  sensor.min = watts - spread;
  sensor.max = watts + spread;
  sensor.samples = 100;
  sensor.covered_s = 10;
  return sensor;
}

}  // namespace

Phase sample_phase(Bottleneck bottleneck, double start_s, double end_s, double confidence) {
  Phase phase;
  phase.start_s = start_s;
  phase.end_s = end_s;
  phase.bottleneck = bottleneck;
  phase.confidence = confidence;
  phase.evidence = {bottleneck == Bottleneck::kUnknown
                        ? "the busy bits fit memory and texture equally"
                        : "EA was busy 93 % of the time."};
  phase.would_change = bottleneck == Bottleneck::kUnknown
                           ? "Record GRBM_STATUS3 too: `gputrace doctor` says how."
                           : "DRAM traffic far from the roof would make it latency.";
  const Busy& busy = busy_of(bottleneck);
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    report::Unit unit;
    unit.name = kUnits.at(i).name;
    unit.register_name = kUnits.at(i).register_name;
    unit.group = kUnits.at(i).group;
    unit.busy = busy.at(i);
    const double half = 0.001 + 3 * std::sqrt(busy.at(i) * (1 - busy.at(i)) / 2000);
    unit.ci95 = Interval{std::max(0.0, busy.at(i) - half), std::min(1.0, busy.at(i) + half)};
    unit.ci95_run = unit.ci95;
    unit.samples = static_cast<std::uint64_t>(1000 * (end_s - start_s));
    phase.units.push_back(unit);
  }
  return phase;
}

Phase witnessed_phase(Bottleneck bottleneck, double start_s, double end_s, double confidence,
                      double gbps, double power_w) {
  Phase phase = sample_phase(bottleneck, start_s, end_s, confidence);
  phase.dram = report::DramTraffic{.read_gbps = std::nullopt,
                                   .write_gbps = std::nullopt,
                                   .total_gbps = gbps,
                                   .covered_s = end_s - start_s,
                                   .samples = 10,
                                   .source = "pmu amd_umc",
                                   .covers = "CPU and GPU together"};
  phase.sensors.push_back(power_sensor("package_power", power_w, 1));
  return phase;
}

report::Report report_of_phases(std::vector<Phase> phases) {
  report::Report report = sample_report();
  report.gpu.simulated = false;
  report.gpu.scenario.clear();
  report.warnings.clear();
  report.session.duration_s = phases.empty() ? 10 : phases.back().end_s;
  report.band.column_s = *report.session.duration_s / 64;
  for (report::BandRow& row : report.band.rows) {
    row.cells.resize(64, {report::BandState::kMeasured, 0.9});
  }
  report.phases = std::move(phases);
  if (!report.phases.empty()) {
    report.units = report.phases.front().units;
  }
  report.unknown_registers.clear();
  return report;
}

report::MachineRoofline sample_machine() {
  report::MachineRoofline machine;
  machine.roofline.compute = {{.name = "fp32",
                               .value = 1180,
                               .lower = std::nullopt,
                               .upper = std::nullopt,
                               .unit = "GFLOPS"}};
  machine.roofline.bandwidth = {{.name = "DRAM sweep",
                                 .value = 73,
                                 .lower = std::nullopt,
                                 .upper = std::nullopt,
                                 .unit = "GB/s"}};
  machine.roofline.ridges = {{.compute = 0,
                              .bandwidth = 0,
                              .intensity = 1180.0 / 73,
                              .lower = std::nullopt,
                              .upper = std::nullopt}};
  machine.source = "calibration of 2026-11-30 12:00, file 780m.gputrace";
  machine.fit.use = analysis::CalibrationUse::kAsItIs;
  machine.fit.why = "Same GPU, driver and clock (2580 against 2590 MHz).";
  machine.scatter = 0.02;
  return machine;
}

void add_power_cap(report::Report& report, double watts) {
  report.sensors.push_back(power_sensor("power_cap", watts, 0));
}

analysis::Position two_sided_position() {
  analysis::Position position;
  position.of_ridge = {0.111, 0.1298};
  position.intensity = {1.8, 2.1};
  position.gbps = analysis::Range{71, 71};
  position.gflops = analysis::Range{128, 149};
  position.basis = analysis::PositionBasis::kCalibration;
  return position;
}

analysis::Position one_sided_position() {
  analysis::Position position;
  position.of_ridge = {std::nullopt, 0.36};
  position.intensity = {std::nullopt, 5.8};
  position.basis = analysis::PositionBasis::kCalibration;
  position.notes = {"Left of the ridge busy bits do not depend on intensity."};
  return position;
}

report::Report sample_hour() {
  constexpr std::array kOrder{
      Bottleneck::kCpu,     Bottleneck::kBandwidth, Bottleneck::kRaster,   Bottleneck::kBandwidth,
      Bottleneck::kCompute, Bottleneck::kBandwidth, Bottleneck::kLatency,  Bottleneck::kMixed,
      Bottleneck::kTexture, Bottleneck::kUnknown,   Bottleneck::kGeometry, Bottleneck::kIdle,
      Bottleneck::kMemory};
  std::vector<Phase> phases;
  double at_s = 0;
  for (std::size_t i = 0; at_s < 3600; ++i) {
    const Bottleneck bottleneck = kOrder.at(i % kOrder.size());
    const double length = 20 + 37 * static_cast<double>((i * 7) % 11);
    const double end_s = std::min(3600.0, at_s + length);
    const bool sure = i % 4 != 3;
    Phase phase = bottleneck == Bottleneck::kBandwidth
                      ? witnessed_phase(bottleneck, at_s, end_s, sure ? 0.97 : 0.75, 71, 45)
                      : sample_phase(bottleneck, at_s, end_s, sure ? 0.92 : 0.55);
    if (bottleneck == Bottleneck::kBandwidth) {
      phase.position = two_sided_position();
    } else if (bottleneck == Bottleneck::kLatency || bottleneck == Bottleneck::kMemory) {
      phase.position = one_sided_position();
    } else if (bottleneck == Bottleneck::kCompute) {
      phase.position = analysis::Position{.of_ridge = {8, std::nullopt},
                                          .intensity = {130, std::nullopt},
                                          .gbps = std::nullopt,
                                          .gflops = std::nullopt,
                                          .basis = analysis::PositionBasis::kCalibration,
                                          .notes = {}};
    }
    phases.push_back(phase);
    at_s = end_s;
  }
  report::Report report = report_of_phases(phases);
  Phase& first = report.phases[1];
  const double half = (first.start_s + first.end_s) / 2;
  first.scenes = {sample_phase(Bottleneck::kBandwidth, first.start_s, half, 0.9),
                  sample_phase(Bottleneck::kBandwidth, half, first.end_s, 0.8)};
  report.machine = sample_machine();
  add_power_cap(report, 54);
  return report;
}

}  // namespace gputrace::test
