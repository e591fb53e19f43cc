#include "cli/commands/compare/compared_recording.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cli/commands/compare/batches.h"
#include "daemon/store/session_kind.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {
namespace {

using analysis::ComparedQuantity;

Status check_kind(const store::SessionReader& session, const std::filesystem::path& file) {
  const store::SessionKind kind = session.description().kind;
  switch (kind) {
    case store::SessionKind::kRecording:
    case store::SessionKind::kImport:
    case store::SessionKind::kBackground:
      return {};
    case store::SessionKind::kRoofline:
    case store::SessionKind::kBench:
    case store::SessionKind::kCalibration:
      break;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} is a {}, not a recording of a load: nothing to compare",
                          file.string(), store::to_string(kind)));
}

void add_units(const report::Report& report, analysis::ComparedRun& run) {
  for (const report::Unit& unit : report.units) {
    run.units.push_back(
        {{unit.register_name, unit.name}, {.value = unit.busy, .interval = unit.ci95}});
  }
}

void add_classes(const report::Report& report, analysis::ComparedRun& run) {
  double total = 0;
  for (const report::Phase& phase : report.phases) {
    total += phase.end_s - phase.start_s;
  }
  if (total <= 0) {
    return;
  }
  for (const report::Phase& phase : report.phases) {
    run.class_shares[phase.bottleneck] += (phase.end_s - phase.start_s) / total;
  }
}

void add_frames(const report::Report& report, const Batches& batches, analysis::ComparedRun& run) {
  if (!report.frames) {
    return;
  }
  const report::Frames& frames = *report.frames;
  run.quantities.push_back(
      {"frame_time", "", "ms", {.value = 1000 / frames.fps, .interval = batches.frame_time_ms}});
  run.quantities.push_back({"frame_time_p99", "", "ms", {.value = frames.p99_ms}});
}

void add_energy(const report::Report& report, analysis::ComparedRun& run) {
  for (const report::Energy& energy : report.energy) {
    run.quantities.push_back({energy.name, energy.source, "J", {.value = energy.joules}});
    if (report.frames && report.frames->count > 0 && &energy == &report.energy.front()) {
      run.quantities.push_back(
          {"energy_per_frame",
           energy.source,
           "J",
           {.value = energy.joules / static_cast<double>(report.frames->count)}});
    }
  }
}

void add_sensors(const report::Report& report, const Batches& batches, analysis::ComparedRun& run) {
  for (const report::Sensor& sensor : report.sensors) {
    if (sensor.kind == report::SensorKind::kGauge && sensor.mean) {
      run.quantities.push_back(
          {sensor.name,
           sensor.source,
           sensor.unit,
           {.value = *sensor.mean, .interval = batches.of_sensor(sensor.name, sensor.source)}});
    }
  }
  if (report.dram && report.dram->total_gbps) {
    run.quantities.push_back({"dram_traffic",
                              report.dram->source,
                              "GB/s",
                              {.value = *report.dram->total_gbps, .interval = batches.dram_gbps}});
  }
}

}  // namespace

Result<ComparedRecording> read_compared(const std::filesystem::path& file,
                                        const regdb::RegisterDatabase& regdb,
                                        const ReportOptions& options) {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  if (const Status status = check_kind(*session, file); !status) {
    return tl::unexpected<Error>(status.error());
  }
  Result<report::Report> report = build_report(*session, file, regdb, options);
  if (!report) {
    return tl::unexpected<Error>(
        Error{report.error().code, fmt::format("{}: {}", file.string(), report.error().message)});
  }
  ComparedRecording out;
  out.session.file = file.string();
  out.session.label = report->session.label;
  out.session.started_at = report->session.started_at;
  out.session.duration_s = report->session.duration_s;
  if (const std::optional<report::Selection>& selection = report->selection) {
    out.session.duration_s = selection->to_s - selection->from_s;
  }
  out.session.gpu = report->gpu;
  out.sampling = report->sampling;
  add_units(*report, out.run);
  add_classes(*report, out.run);
  out.classes = out.run.class_shares.size();
  const Result<Batches> batches = batches_of(*session, *report);
  if (!batches) {
    return tl::unexpected<Error>(batches.error());
  }
  add_frames(*report, *batches, out.run);
  add_sensors(*report, *batches, out.run);
  add_energy(*report, out.run);
  return out;
}

}  // namespace gputrace::commands
