#include "tests/cli/report/html/sample_hour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "cli/analysis/roofline.h"
#include "tests/cli/report/sample_roofline.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using regdb::UnitGroup;

/// Numerical Recipes' linear generator: the same pages on every machine.
class Noise {
 public:
  /// Of mean 0 and standard deviation about 1.
  double next() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
      sum += static_cast<double>(state_ >> 11U) / 9'007'199'254'740'992.0;
    }
    return sum;
  }

 private:
  std::uint64_t state_ = 7;
};

struct Profile {
  const char* name;
  const char* register_name;
  UnitGroup group;
  // bandwidth, latency, compute, texture, raster, geometry, cpu, mixed
  std::array<double, 8> busy;
};

constexpr std::array<Profile, 24> kProfiles{{
    {"GUI_ACTIVE", "GRBM_STATUS", UnitGroup::kFrontEnd, {1, 1, 1, 1, 1, 1, .46, .97}},
    {"CP_BUSY", "GRBM_STATUS", UnitGroup::kFrontEnd, {.98, .97, .95, .99, .99, .99, .41, .9}},
    {"CPF_BUSY", "GRBM_STATUS2", UnitGroup::kFrontEnd, {.5, .4, .2, .5, .6, .8, .3, .4}},
    {"CPC_BUSY", "GRBM_STATUS2", UnitGroup::kFrontEnd, {.1, .2, .98, 0, 0, 0, .05, .3}},
    {"CPG_BUSY", "GRBM_STATUS2", UnitGroup::kFrontEnd, {.9, .9, .05, .99, .99, .99, .4, .8}},
    {"RLC_BUSY", "GRBM_STATUS2", UnitGroup::kFrontEnd, {.02, .02, .02, .02, .02, .02, .02, .02}},
    {"GE_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, {.42, .4, 0, .3, .15, .98, .2, .5}},
    {"GE_BUSY_NO_DMA", "GRBM_STATUS", UnitGroup::kFixedFunction, {.3, .3, 0, .2, .1, .9, .1, .4}},
    {"PA_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, {.5, .45, 0, .4, .3, .97, .22, .55}},
    {"PH_BUSY", "GRBM_STATUS3", UnitGroup::kFixedFunction, {.2, .2, 0, .1, .2, .8, .1, .3}},
    {"SC_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, {.94, .7, 0, .8, .98, .4, .3, .78}},
    {"DB_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, {.9, .66, 0, .75, .97, .3, .29, .7}},
    {"CB_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, {.7, .4, 0, .6, .97, .2, .22, .5}},
    {"SPI_BUSY", "GRBM_STATUS", UnitGroup::kShader, {.96, .97, .99, .99, .8, .8, .4, .8}},
    {"SX_BUSY", "GRBM_STATUS", UnitGroup::kShader, {.3, .2, 0, .2, .7, .1, .1, .2}},
    {"GDS_BUSY", "GRBM_STATUS", UnitGroup::kShader, {0, 0, 0, 0, 0, 0, 0, 0}},
    {"TA_BUSY", "GRBM_STATUS", UnitGroup::kShader, {.83, .7, .5, .99, .03, .3, .34, .74}},
    {"TCP_BUSY", "GRBM_STATUS_SE0", UnitGroup::kMemoryPath, {.85, .72, .55, .99, .1, .3, .34, .7}},
    {"GL1CC_BUSY", "GRBM_STATUS3", UnitGroup::kMemoryPath, {.92, .8, .5, .8, .7, .4, .36, .7}},
    {"GL2CC_BUSY", "GRBM_STATUS3", UnitGroup::kMemoryPath, {.95, .9, .45, .6, .8, .5, .38, .7}},
    {"EA_BUSY", "GRBM_STATUS2", UnitGroup::kMemoryPath, {.93, .91, .41, .25, .7, .45, .35, .68}},
    {"CH_BUSY", "GRBM_STATUS3", UnitGroup::kMemoryPath, {.5, .5, .2, .2, .4, .2, .2, .3}},
    {"UTCL2_BUSY", "GRBM_STATUS2", UnitGroup::kMemoryPath, {.4, .7, .1, .1, .2, .1, .1, .2}},
    {"GUS_BUSY", "GRBM_STATUS3", UnitGroup::kMemoryPath, {.1, .1, .1, .1, .1, .1, .1, .1}},
}};

std::size_t column_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kLatency:
    case Bottleneck::kMemory:
      return 1;
    case Bottleneck::kCompute:
      return 2;
    case Bottleneck::kTexture:
      return 3;
    case Bottleneck::kRaster:
      return 4;
    case Bottleneck::kGeometry:
      return 5;
    case Bottleneck::kCpu:
      return 6;
    case Bottleneck::kMixed:
      return 7;
    default:
      return 0;
  }
}

struct Stretch {
  Bottleneck bottleneck;
  double seconds;
};
constexpr std::array<Stretch, 31> kStretches{
    {{Bottleneck::kIdle, 21},       {Bottleneck::kCpu, 78},        {Bottleneck::kBandwidth, 312},
     {Bottleneck::kRaster, 38},     {Bottleneck::kBandwidth, 206}, {Bottleneck::kCpu, 96},
     {Bottleneck::kCompute, 119},   {Bottleneck::kBandwidth, 266}, {Bottleneck::kLatency, 92},
     {Bottleneck::kMixed, 131},     {Bottleneck::kCpu, 146},       {Bottleneck::kTexture, 64},
     {Bottleneck::kBandwidth, 402}, {Bottleneck::kUnknown, 40},    {Bottleneck::kCpu, 55},
     {Bottleneck::kGeometry, 57},   {Bottleneck::kBandwidth, 298}, {Bottleneck::kRaster, 0.7},
     {Bottleneck::kRaster, 44},     {Bottleneck::kCompute, 151},   {Bottleneck::kBandwidth, 188},
     {Bottleneck::kUnknown, 81},    {Bottleneck::kCpu, 120},       {Bottleneck::kLatency, 47},
     {Bottleneck::kMemory, 169},    {Bottleneck::kTexture, 39},    {Bottleneck::kCompute, 74},
     {Bottleneck::kCompute, 42},    {Bottleneck::kCpu, 90},        {Bottleneck::kCpu, 49.3},
     {Bottleneck::kIdle, 84}}};

bool is_silent(Bottleneck bottleneck) {
  return bottleneck == Bottleneck::kIdle;
}

double busy_of(const Profile& profile, Bottleneck bottleneck) {
  return is_silent(bottleneck) ? 0 : profile.busy.at(column_of(bottleneck));
}

report::Unit unit_of(const Profile& profile, std::optional<int> engine, double busy) {
  report::Unit unit;
  unit.name = profile.name;
  unit.register_name = engine ? "GRBM_STATUS_SE" + std::to_string(*engine) : profile.register_name;
  unit.engine = engine;
  unit.group = profile.group;
  unit.meaning = "What this unit is, in a line.";
  unit.busy = busy;
  unit.ci95_run = analysis::Interval{std::max(0.0, busy - .002), std::min(1.0, busy + .002)};
  unit.ci95 = analysis::Interval{std::max(0.0, busy - .02), std::min(1.0, busy + .02)};
  unit.samples = 3'478'000;
  return unit;
}

std::optional<analysis::Position> position_of(Bottleneck bottleneck, double shift) {
  analysis::Position position;
  position.basis = analysis::PositionBasis::kDramBytes;
  const auto set = [&position, shift](double intensity, double spread, double gflops) {
    const double at = intensity * shift;
    position.intensity = {at / spread, at * spread};
    position.of_ridge = {at / spread / 16, at * spread / 16};
    position.gflops = analysis::Range{gflops / 1.05 * shift, gflops * 1.05 * shift};
  };
  switch (bottleneck) {
    case Bottleneck::kBandwidth:
      set(1.9, 1.1, 135);
      return position;
    case Bottleneck::kLatency:
      set(2.6, 1.3, 100);
      return position;
    case Bottleneck::kMemory:  // bytes are known, intensity only from above
      position.intensity = {std::nullopt, 6};
      position.of_ridge = {std::nullopt, 0.37};
      position.gbps = analysis::Range{60, 64};
      return position;
    case Bottleneck::kCompute:
      set(60, 1.2, 1060);
      return position;
    case Bottleneck::kTexture:
      set(6.8, 1.5, 142);
      return position;
    case Bottleneck::kRaster:
      set(1.4, 1.2, 53);
      return position;
    case Bottleneck::kGeometry:  // no bytes
      position.basis = analysis::PositionBasis::kCalibration;
      position.intensity = {6, 16};
      position.of_ridge = {.37, 1};
      return position;
    case Bottleneck::kMixed:
      set(5.8, 1.2, 310);
      return position;
    default:
      return std::nullopt;
  }
}

std::vector<report::Phase> phases_of(double scale) {
  std::vector<report::Phase> phases;
  double at = 0;
  for (const Stretch& stretch : kStretches) {
    report::Phase phase;
    phase.start_s = at;
    at += stretch.seconds * scale;
    phase.end_s = at;
    phase.bottleneck = stretch.bottleneck;
    phase.confidence = stretch.bottleneck == Bottleneck::kUnknown ? 0.2
                       : stretch.bottleneck == Bottleneck::kMixed ? 0.64
                                                                  : 0.96;
    phase.evidence = {"Requests to DRAM were in flight 93 % (±1) of the time.",
                      "71 of the 73 GB/s that this machine can do."};
    phase.would_change = "Other if DRAM traffic were below 50 GB/s.";
    phase.unknown_share = stretch.bottleneck == Bottleneck::kUnknown ? 1 : 0.001;
    for (const Profile& profile : kProfiles) {
      phase.units.push_back(unit_of(profile, std::nullopt, busy_of(profile, stretch.bottleneck)));
    }
    phase.position = position_of(stretch.bottleneck, 1 + 0.06 * std::sin(at));
    phases.push_back(std::move(phase));
  }
  return phases;
}

void add_units(report::Report& report, double windows, Noise& noise) {
  report::Timeline& timeline = *report.timeline;
  const auto add = [&](const Profile& profile, std::optional<int> engine) {
    report::HeatRow row{.unit = report.units.size(), .codes = {}};
    double wander = 0;
    double sum = 0;
    double known = 0;
    std::size_t phase = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(windows); ++i) {
      const double at = (static_cast<double>(i) + .5) * timeline.window_s;
      while (phase + 1 < report.phases.size() && at >= report.phases[phase].end_s) {
        ++phase;
      }
      const Bottleneck bottleneck = report.phases[phase].bottleneck;
      wander = .98 * wander + .012 * noise.next();
      const double level = busy_of(profile, bottleneck);
      const double scatter = level > 0 && level < 1 ? wander + .05 * noise.next() : 0;
      const double busy = std::clamp(level + scatter, 0.0, 1.0);
      if (bottleneck == Bottleneck::kUnknown && phase == 13) {
        row.codes.push_back(63);
        continue;
      }
      row.codes.push_back(static_cast<std::uint8_t>(std::lround(62 * busy)));
      sum += busy;
      known += 1;
    }
    report.units.push_back(unit_of(profile, engine, known > 0 ? sum / known : 0));
    timeline.rows.push_back(std::move(row));
  };
  for (const Profile& profile : kProfiles) {
    add(profile, std::nullopt);
  }
  for (const int engine : {0, 1}) {
    for (const std::size_t index : {10U, 11U, 12U, 13U, 16U, 17U, 18U, 8U}) {
      add(kProfiles.at(index), engine);
    }
  }
}

void add_tracks(report::Report& report, std::size_t windows, Noise& noise) {
  struct Made {
    const char* name;
    const char* unit;
    std::optional<double> limit;
    // bandwidth, latency, compute, texture, raster, geometry, cpu, mixed; idle
    std::array<double, 9> level;
  };
  const std::array<Made, 7> made{
      {{"package_power", "W", 54, {46, 40, 54, 50, 45, 40, 31, 44, 5}},
       {"gfx_clock", "MHz", std::nullopt, {2560, 2600, 2500, 2550, 2580, 2600, 2550, 2600, 785}},
       {"edge_temperature", "C", std::nullopt, {64, 62, 72, 66, 63, 60, 52, 62, 42}},
       {"dram_traffic",
        "bytes/s",
        std::nullopt,
        {71e9, 38e9, 33e9, 18e9, 40e9, 30e9, 35e9, 48e9, .5e9}},
       {"mem_clock", "MHz", std::nullopt, {2800, 2800, 2800, 2800, 2800, 2800, 2800, 2800, 800}},
       {"vram_used",
        "bytes",
        std::nullopt,
        {3.1e9, 3.1e9, 3e9, 3.2e9, 3.1e9, 3e9, 3e9, 3.1e9, 2e9}},
       {"cpu_power", "W", std::nullopt, {12, 11, 9, 10, 12, 13, 22, 14, 3}}}};
  for (const Made& one : made) {
    report::SensorTrack track;
    track.name = one.name;
    track.unit = one.unit;
    track.limit = one.limit;
    std::size_t phase = 0;
    double value = one.level[8];
    for (std::size_t i = 0; i < windows; ++i) {
      const double at = (static_cast<double>(i) + .5) * report.timeline->sensor_window_s;
      while (phase + 1 < report.phases.size() && at >= report.phases[phase].end_s) {
        ++phase;
      }
      const Bottleneck bottleneck = report.phases[phase].bottleneck;
      const double level = one.level.at(is_silent(bottleneck) ? 8 : column_of(bottleneck));
      const bool slow = std::string_view(one.unit) == "C";
      value += (slow ? .03 : 1) * (level - value);
      const double scatter = .006 * value * noise.next();
      const bool gap = bottleneck == Bottleneck::kUnknown && phase == 13;
      const auto add = [gap](std::vector<std::optional<float>>& to, double number) {
        to.push_back(gap ? std::nullopt : std::optional(static_cast<float>(number)));
      };
      add(track.min, value + scatter - .012 * value);
      add(track.mean, value + scatter);
      add(track.max, std::min(value + scatter + .012 * value, one.limit.value_or(1e12)));
    }
    report::Sensor sensor;
    sensor.name = one.name;
    sensor.source = "hwmon amdgpu";
    sensor.unit = one.unit;
    sensor.mean = one.level[0];
    sensor.min = one.level[8];
    sensor.max = one.level[2];
    sensor.samples = windows * 10;
    report.sensors.push_back(std::move(sensor));
    report.timeline->tracks.push_back(std::move(track));
  }
}

}  // namespace

report::Report sample_run(double scale, double window_s) {
  Noise noise;
  report::Report report;
  report.session.file = "/home/ann/.local/share/gputrace/sessions/game.gputrace";
  report.session.command = std::vector<std::string>{"./example-game", "--fullscreen"};
  report.session.exit_code = 0;
  report.session.started_at = "2026-11-29T20:14:03.000Z";
  report.session.duration_s = 3600 * scale;
  report.gpu = {.name = "AMD Radeon 780M",
                .gc = "11.0.1",
                .pci = std::nullopt,
                .simulated = true,
                .scenario = "demo"};
  report.sampling.rate_hz = 1000;
  report.sampling.achieved_hz = 998.2;
  report.sampling.samples = 3'593'520;
  report.sampling.unknown = 41'000;
  report.sampling.unknown_reasons = {{"all_ones", 40'000}, {"reset", 1'000}};
  report.sampling.missed = 2;
  report.sampling.dropped = 0;
  report.sampling.late_p50_us = 26;
  report.sampling.late_p99_us = 140;
  report.sampling.cpu_s = 33;
  report.sampling.registers = {{"GRBM_STATUS", "simulated", 812.5},
                               {"GRBM_STATUS2", "simulated", 430.0}};
  report.phases = phases_of(scale);
  const double windows = std::ceil(3600 * scale / window_s - 1e-9);
  report.timeline = report::Timeline{.window_s = window_s,
                                     .sensor_window_s = std::max(1.0, window_s),
                                     .windows = static_cast<std::size_t>(windows),
                                     .rows = {},
                                     .tracks = {}};
  add_units(report, windows, noise);
  add_tracks(
      report,
      static_cast<std::size_t>(std::ceil(3600 * scale / report.timeline->sensor_window_s - 1e-9)),
      noise);
  report::MachineRoofline machine;
  machine.roofline = analysis::make_roofline(sample_roofline_run());
  machine.source = "calibration of 2026-11-28 12:00, calibration-780m.gputrace";
  machine.simulated = true;
  machine.fit.use = analysis::CalibrationUse::kAsItIs;
  machine.fit.why = "Same GPU, driver and clock.";
  machine.scatter = .02;
  report.machine = machine;
  report.warnings = {
      {"simulated", "All values come from a model, not from a GPU.", ""},
      {"unknown_samples", "1.1 % of the samples could not be read.", "run `gputrace doctor`."}};
  return report;
}

report::Report sample_hour() {
  return sample_run(1, 0.1);
}

report::Report sample_day() {
  return sample_run(24, 5);
}

}  // namespace gputrace::test
