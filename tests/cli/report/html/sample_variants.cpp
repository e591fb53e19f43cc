#include <string>
#include <vector>

#include "tests/cli/report/html/sample_hour.h"

namespace gputrace::test {

using analysis::Bottleneck;

report::Report sample_second() {
  report::Report report = sample_run(1.0 / 3600, 0.1);
  report.machine.reset();
  report.phases.resize(1);
  report.phases[0].bottleneck = Bottleneck::kCompute;
  report.phases[0].end_s = 1;
  report.phases[0].position.reset();
  report.sampling.samples = 998;
  report.sampling.unknown = 0;
  report.sampling.unknown_reasons.clear();
  report.warnings.resize(1);
  return report;
}

report::Report sample_all_unknown() {
  report::Report report = sample_run(1, 0.1);
  report.units.clear();
  report.timeline->rows.clear();
  report.timeline->tracks.clear();
  report.sensors.clear();
  report.machine.reset();
  report.sampling.unknown = report.sampling.samples;
  report.sampling.unknown_reasons = {{"read_error", *report.sampling.samples}};
  report.phases.resize(1);
  report.phases[0] = {};
  report.phases[0].end_s = 3600;
  report.phases[0].unknown_share = 1;
  report.phases[0].would_change = "Run `gputrace doctor`: no register could be read.";
  return report;
}

report::Report sample_import() {
  report::Report report = sample_run(0.1, 1);
  report.session.command.reset();
  report.session.imported = true;
  report.session.origin = "radeontop dump trace.txt";
  report.gpu.simulated = false;
  report.gpu.gc.reset();
  report.machine.reset();
  report.sampling = {};
  for (report::Unit& unit : report.units) {
    unit.ci95.reset();
    unit.ci95_run.reset();
    unit.samples.reset();
  }
  for (report::Phase& phase : report.phases) {
    phase.position.reset();
  }
  report.warnings = {{"few_units", "radeontop sees twelve units.", ""}};
  return report;
}

report::Report sample_hostile() {
  const std::string bad =
      "</script></title></style>\"'><img src=x onerror=alert(1)>-->&\x1b[31m"
      "\xe2\x80\xae"
      "\xff";
  report::Report report = sample_run(0.1, 1);
  report.session.label = bad;
  report.session.command = std::vector<std::string>{bad, bad};
  report.session.file = bad;
  report.gpu.name = bad;
  report.gpu.scenario = bad;
  report.gpu.gc = bad;
  report.session.started_at = bad;
  for (report::Unit& unit : report.units) {
    unit.name += bad;
    unit.register_name = bad;
    unit.meaning = bad;
  }
  for (report::SensorTrack& track : report.timeline->tracks) {
    track.name = bad;
    track.unit = bad;
  }
  for (report::Sensor& sensor : report.sensors) {
    sensor.name = sensor.unit = sensor.source = sensor.covers = bad;
  }
  for (report::Phase& phase : report.phases) {
    phase.evidence = {bad};
    phase.would_change = bad;
    phase.nearest = bad;
    for (report::Unit& unit : phase.units) {
      unit.name += bad;
    }
  }
  report.processes = {
      {.pid = 7, .name = bad, .gpu = bad, .gpu_s = {{bad, 1}}, .vram_bytes = 1, .gtt_bytes = 1}};
  report.machine->source = bad;
  report.machine->fit.why = bad;
  report.machine->roofline.compute.front().name = bad;
  report.machine->roofline.bandwidth.front().name = bad;
  report.sampling.unknown_reasons = {{bad, 41'000}};
  report.sampling.registers = {{bad, bad, 1}};
  report.warnings = {{bad, bad, bad}};
  report.unknown_registers = {{bad, bad, {bad}}};
  report.energy = {{.name = bad,
                    .joules = 1,
                    .covered_s = 1,
                    .source = bad,
                    .counted = false,
                    .covers = bad,
                    .samples = 1}};
  report.throttling = report::Throttling{
      .samples = 1,
      .bits = {{.name = bad, .group = bad, .share = .5, .supported_s = 1, .evidence = bad}}};
  report.segments = {{.start_s = 0,
                      .end_s = 1,
                      .gpu = bad,
                      .rate_hz = 1,
                      .registers = {bad},
                      .reason = bad,
                      .main = true}};
  return report;
}

}  // namespace gputrace::test
