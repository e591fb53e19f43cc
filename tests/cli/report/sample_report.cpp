#include "tests/cli/report/sample_report.h"

#include <algorithm>

namespace gputrace::test {
namespace {

using analysis::Interval;
using regdb::UnitGroup;

report::Unit unit(const char* name, const char* register_name, UnitGroup group, double busy,
                  double error) {
  report::Unit unit;
  unit.name = name;
  unit.register_name = register_name;
  unit.group = group;
  unit.busy = busy;
  unit.meaning = "what it is";
  unit.ci95 = Interval{std::max(0.0, busy - 3 * error), std::min(1.0, busy + 3 * error)};
  unit.ci95_run = Interval{std::max(0.0, busy - error), std::min(1.0, busy + error)};
  unit.samples = 9'950;
  return unit;
}

report::Unit engine_unit(int engine, const char* name, UnitGroup group, double busy) {
  report::Unit made =
      unit(name, engine == 0 ? "GRBM_STATUS_SE0" : "GRBM_STATUS_SE1", group, busy, 0.002);
  made.engine = engine;
  return made;
}

std::vector<report::Unit> sample_units() {
  std::vector<report::Unit> units{
      unit("GUI_ACTIVE", "GRBM_STATUS", UnitGroup::kFrontEnd, 0.931, 0.002),
      unit("SPI_BUSY", "GRBM_STATUS", UnitGroup::kShader, 0.874, 0.003),
      unit("TA_BUSY", "GRBM_STATUS", UnitGroup::kShader, 0.62, 0.06),
      unit("DB_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, 0.0004, 0.0003),
      unit("GDS_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, 0, 0.0003),
      unit("CB_BUSY", "GRBM_STATUS", UnitGroup::kFixedFunction, 0.41, 0.004),
      unit("EA_BUSY", "GRBM_STATUS2", UnitGroup::kMemoryPath, 0.9996, 0.0003),
      unit("CPC_BUSY", "GRBM_STATUS2", UnitGroup::kFrontEnd, 0, 0.0003),
      engine_unit(0, "SPI_BUSY", UnitGroup::kShader, 0.86),
      engine_unit(1, "SPI_BUSY", UnitGroup::kShader, 0.85),
      engine_unit(0, "TA_BUSY", UnitGroup::kShader, 0.61),
      engine_unit(1, "TA_BUSY", UnitGroup::kShader, 0.12),
      engine_unit(0, "GL1CC_BUSY", UnitGroup::kMemoryPath, 0.71),
      engine_unit(1, "GL1CC_BUSY", UnitGroup::kMemoryPath, 0.70)};
  units[6].suggests = "Memory requests were in flight nearly always.";
  return units;
}

}  // namespace

report::Report sample_report() {
  report::Report report;
  report.session = {.file = "/home/ann/.local/share/gputrace/sessions/game.gputrace",
                    .label = "before the patch",
                    .command = std::vector<std::string>{"./game", "--level", "the swamp"},
                    .exit_code = 0,
                    .signal = std::nullopt,
                    .started_at = "2026-11-29T22:27:15.123Z",
                    .duration_s = 10.0,
                    .cut = false,
                    .imported = false,
                    .origin = ""};
  report.gpu = {.name = "AMD Radeon 780M",
                .gc = "11.0.1",
                .pci = std::nullopt,
                .simulated = true,
                .scenario = "demo"};
  report.sampling = {.rate_hz = 1000,
                     .achieved_hz = 998.2,
                     .samples = 9'982,
                     .unknown = 32,
                     .unknown_reasons = {{"all_ones", 30}, {"reset", 2}},
                     .asleep_s = 0,
                     .asleep_share = 0,
                     .ticks = 9'982,
                     .missed = 18,
                     .dropped = 0,
                     .late_p50_us = 26,
                     .late_p99_us = 1394,
                     .cpu_s = 0.17,
                     .kept_gfx_awake = std::nullopt,
                     .kept_device_awake = std::nullopt,
                     .registers = {{"GRBM_STATUS", "simulated", 812.5},
                                   {"GRBM_STATUS_SE0", "simulated", 812.5},
                                   {"GRBM_STATUS_SE1", "simulated", 812.5},
                                   {"GRBM_STATUS2", "simulated", 430.0}}};
  report.units = sample_units();
  report.unknown_registers = {{.name = "GRBM_STATUS3",
                               .reason = "the kernel lets no unprivileged process read it",
                               .units = {"PH_BUSY", "CH_BUSY", "GL2CC_BUSY", "GL1CC_BUSY",
                                         "PC_BUSY", "GL1H_BUSY", "GUS_BUSY"}}};
  report::BandRow pipe{.label = "GUI_ACTIVE", .cells = {}};
  report::BandRow memory{.label = "EA", .cells = {}};
  for (int i = 0; i < 50; ++i) {
    pipe.cells.push_back({report::BandState::kMeasured, i < 5 ? 0 : i / 50.0});
    memory.cells.push_back({report::BandState::kMeasured, 0.9996});
  }
  pipe.cells[20].state = report::BandState::kUnknown;
  pipe.cells[21].state = report::BandState::kAsleep;
  pipe.cells[22].state = report::BandState::kNoData;
  report.band = {.column_s = 0.2, .rows = {pipe, memory}};
  report.warnings = {
      {"simulated", "All values come from a model, not from a GPU.", ""},
      {"late",
       "1 % of the reads were more than 1,394 us late, over half a period: fast changes may be "
       "seen a period too late.",
       "allow real-time scheduling, or sample less often with --rate 500."}};
  return report;
}

report::Report sample_report_without_samples() {
  report::Report report = sample_report();
  report.units.clear();
  report.band = {};
  report.sampling.unknown = report.sampling.samples;
  report.sampling.unknown_reasons = {{"read_error", 9'982}};
  report.warnings.push_back({"no_samples", "No sample could be read.", "run `gputrace gpus`."});
  return report;
}

}  // namespace gputrace::test
