#include "cli/report/render_json.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/report/json_object_writer.h"

namespace gputrace::report {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json interval_json(const std::optional<analysis::Interval>& interval) {
  return interval ? Json::array({interval->lower, interval->upper}) : Json(nullptr);
}

Json session_json(const Report& report) {
  const Session& session = report.session;
  Json json{{"file", session.file},
            {"label", value_or_null(session.label)},
            {"command", value_or_null(session.command)},
            {"exit_code", value_or_null(session.exit_code)},
            {"signal", value_or_null(session.signal)},
            {"started_at", value_or_null(session.started_at)},
            {"duration_s", value_or_null(session.duration_s)},
            {"cut", session.cut}};
  if (session.imported) {
    json["imported_from"] = session.origin;
  }
  if (report.selection) {
    json["selection"] = {{"from_s", report.selection->from_s}, {"to_s", report.selection->to_s}};
  }
  return json;
}

Json gpu_json(const Gpu& gpu) {
  Json json{{"name", gpu.name.empty() ? Json(nullptr) : Json(gpu.name)},
            {"gc", value_or_null(gpu.gc)},
            {"pci", value_or_null(gpu.pci)},
            {"simulated", gpu.simulated}};
  if (gpu.simulated) {
    json["scenario"] = gpu.scenario;
  }
  return json;
}

Json sampling_json(const Sampling& sampling) {
  Json registers = Json::array();
  for (const SampledRegister& reg : sampling.registers) {
    registers.push_back({{"name", reg.name},
                         {"source", reg.source},
                         {"read_cost_ns", value_or_null(reg.read_cost_ns)}});
  }
  Json json{{"rate_hz", value_or_null(sampling.rate_hz)},
            {"achieved_hz", value_or_null(sampling.achieved_hz)},
            {"samples", value_or_null(sampling.samples)},
            {"unknown", value_or_null(sampling.unknown)},
            {"unknown_reasons", Json::object()},
            {"asleep_s", value_or_null(sampling.asleep_s)},
            {"missed", value_or_null(sampling.missed)},
            {"dropped", value_or_null(sampling.dropped)},
            {"late_us",
             {{"p50", value_or_null(sampling.late_p50_us)},
              {"p99", value_or_null(sampling.late_p99_us)}}},
            {"cpu_s", value_or_null(sampling.cpu_s)},
            {"kept_gfx_awake", value_or_null(sampling.kept_gfx_awake)},
            {"kept_device_awake", value_or_null(sampling.kept_device_awake)},
            {"registers", std::move(registers)}};
  for (const auto& [reason, count] : sampling.unknown_reasons) {
    json["unknown_reasons"][reason] = count;
  }
  return json;
}

Json units_json(const std::vector<Unit>& units) {
  Json json = Json::array();
  for (const Unit& unit : units) {
    json.push_back({{"name", unit.name},
                    {"register", unit.register_name},
                    {"busy", unit.busy},
                    {"ci95", interval_json(unit.ci95)},
                    {"ci95_run", interval_json(unit.ci95_run)},
                    {"samples", value_or_null(unit.samples)}});
  }
  return json;
}

std::string_view kind_name(SensorKind kind) {
  switch (kind) {
    case SensorKind::kGauge:
      return "gauge";
    case SensorKind::kCounter:
      return "counter";
    case SensorKind::kBits:
      break;
  }
  return "bits";
}

std::string_view scope_name(bool of_machine) {
  return of_machine ? "machine" : "gpu";
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json sensors_json(const std::vector<Sensor>& sensors) {
  Json json = Json::array();
  for (const Sensor& sensor : sensors) {
    Json entry{{"name", sensor.name},
               {"source", sensor.source},
               {"unit", sensor.unit},
               {"mean", value_or_null(sensor.mean)},
               {"min", value_or_null(sensor.min)},
               {"max", value_or_null(sensor.max)},
               {"samples", sensor.samples},
               {"kind", kind_name(sensor.kind)},
               {"scope", scope_name(sensor.of_machine)},
               {"label", text_or_null(sensor.label)},
               {"covers", text_or_null(sensor.covers)},
               {"decision", text_or_null(sensor.decision)}};
    if (sensor.kind == SensorKind::kCounter) {
      const bool moved = sensor.total && sensor.covered_s > 0;
      entry["total"] = value_or_null(sensor.total);
      entry["per_s"] = moved ? Json(*sensor.total / sensor.covered_s) : Json(nullptr);
      entry["resets"] = sensor.resets;
    }
    if (sensor.kind == SensorKind::kBits) {
      entry["bits_ever"] = value_or_null(sensor.bits_ever);
      entry["bits_always"] = value_or_null(sensor.bits_always);
    } else {
      entry["covered_s"] = sensor.samples > 0 ? Json(sensor.covered_s) : Json(nullptr);
    }
    json.push_back(std::move(entry));
  }
  return json;
}

Json sources_json(const std::vector<SensorSource>& sources) {
  Json json = Json::array();
  for (const SensorSource& source : sources) {
    const bool read = attempts(source) > 0;
    json.push_back(
        {{"name", source.name},
         {"scope", scope_name(source.of_machine)},
         {"reads", source.reads},
         {"rejected", source.rejected},
         {"failed", source.failed},
         {"late", source.late},
         {"read_cost_us", value_or_null(read_cost_us(source))},
         {"worst_us", read ? Json(static_cast<double>(source.worst_ns) / 1e3) : Json(nullptr)},
         {"rate_hz", value_or_null(source.rate_hz)},
         {"problem", text_or_null(source.problem)}});
  }
  return json;
}

Json energy_json(const std::vector<Energy>& energy) {
  Json json = Json::array();
  for (const Energy& entry : energy) {
    json.push_back({{"name", entry.name},
                    {"joules", entry.joules},
                    {"covered_s", entry.covered_s},
                    {"source", entry.source},
                    {"method", entry.counted ? "counter" : "power x time"},
                    {"covers", text_or_null(entry.covers)},
                    {"samples", entry.samples}});
  }
  return json;
}

Json dram_json(const std::optional<DramTraffic>& dram) {
  if (!dram) {
    return nullptr;
  }
  return {{"read_gbps", value_or_null(dram->read_gbps)},
          {"write_gbps", value_or_null(dram->write_gbps)},
          {"total_gbps", value_or_null(dram->total_gbps)},
          {"covered_s", dram->covered_s},
          {"samples", dram->samples},
          {"source", dram->source},
          {"covers", text_or_null(dram->covers)}};
}

Json range_json(const analysis::Range& range) {
  return Json::array({value_or_null(range.lower), value_or_null(range.upper)});
}

Json range_json(const std::optional<analysis::Range>& range) {
  return range ? range_json(*range) : Json(nullptr);
}

Json position_json(const std::optional<analysis::Position>& position) {
  if (!position) {
    return nullptr;
  }
  const bool calibrated = position->basis == analysis::PositionBasis::kCalibration;
  return {{"ai", range_json(position->intensity)},
          {"gbps", range_json(position->gbps)},
          {"gflops", range_json(position->gflops)},
          {"of_ridge", range_json(position->of_ridge)},
          {"basis", calibrated ? "calibration" : "dram_bytes"},
          {"notes", position->notes}};
}

Json phase_json(const Phase& phase) {
  Json json{{"start_s", phase.start_s},
            {"end_s", phase.end_s},
            {"class", analysis::to_string(phase.bottleneck)},
            {"confidence", phase.confidence},
            {"evidence", phase.evidence},
            {"units", units_json(phase.units)},
            {"sensors", sensors_json(phase.sensors)},
            {"roofline", position_json(phase.position)},
            {"would_change", text_or_null(phase.would_change)},
            {"nearest", value_or_null(phase.nearest)},
            {"unknown_share", phase.unknown_share},
            {"asleep_share", phase.asleep_share},
            {"dram", dram_json(phase.dram)}};
  for (const Phase& scene : phase.scenes) {
    json["scenes"].push_back(phase_json(scene));
  }
  return json;
}

Json ceilings_json(const std::vector<analysis::Ceiling>& ceilings) {
  Json json = Json::array();
  for (const analysis::Ceiling& ceiling : ceilings) {
    json.push_back({{"name", ceiling.name},
                    {"value", ceiling.value},
                    {"lower", value_or_null(ceiling.lower)},
                    {"upper", value_or_null(ceiling.upper)},
                    {"unit", ceiling.unit}});
  }
  return json;
}

Json machine_json(const std::optional<MachineRoofline>& machine) {
  if (!machine) {
    return nullptr;
  }
  const analysis::Roofline& roofline = machine->roofline;
  const bool scaled = machine->fit.use == analysis::CalibrationUse::kScaled;
  return {{"source", machine->source},
          {"simulated", machine->simulated},
          {"compute", ceilings_json(roofline.compute)},
          {"bandwidth", ceilings_json(roofline.bandwidth)},
          {"ridge", roofline.ridges.empty() ? Json(nullptr) : Json(roofline.ridges[0].intensity)},
          {"fit", scaled ? "scaled" : "as it is"},
          {"ridge_ratio", machine->fit.ridge_ratio},
          {"why", text_or_null(machine->fit.why)},
          {"scatter", machine->scatter}};
}

Json throttling_json(const std::optional<Throttling>& throttling) {
  if (!throttling) {
    return nullptr;
  }
  Json json{{"samples", throttling->samples},
            {"findings", Json::array()},
            {"unsupported_bits", Json::array()}};
  for (const ThrottleBit& bit : throttling->bits) {
    Json entry{{"name", bit.name}, {"group", bit.group}, {"share", bit.share}};
    if (!bit.evidence.empty()) {
      entry["seconds"] = bit.supported_s;
      entry["evidence"] = bit.evidence;
    }
    json[bit.evidence.empty() ? "unsupported_bits" : "findings"].push_back(std::move(entry));
  }
  return json;
}

Json processes_json(const std::vector<Process>& processes) {
  Json json = Json::array();
  for (const Process& process : processes) {
    Json engines = Json::object();
    for (const auto& [engine, seconds] : process.gpu_s) {
      engines[engine] = seconds;
    }
    json.push_back({{"pid", process.pid},
                    {"name", process.name},
                    {"gpu_s", std::move(engines)},
                    {"vram_bytes", value_or_null(process.vram_bytes)},
                    {"gtt_bytes", value_or_null(process.gtt_bytes)},
                    {"gpu", text_or_null(process.gpu)}});
  }
  return json;
}

Json frames_json(const std::optional<Frames>& frames) {
  if (!frames) {
    return nullptr;
  }
  return {{"count", frames->count},
          {"fps", frames->fps},
          {"median_ms", frames->median_ms},
          {"p99_ms", frames->p99_ms}};
}

Json segments_json(const std::vector<Segment>& segments) {
  Json json = Json::array();
  for (const Segment& segment : segments) {
    json.push_back({{"start_s", segment.start_s},
                    {"end_s", segment.end_s},
                    {"gpu", segment.gpu},
                    {"rate_hz", value_or_null(segment.rate_hz)},
                    {"registers", segment.registers},
                    {"reason", segment.reason},
                    {"main", segment.main}});
  }
  return json;
}

Json warnings_json(const std::vector<Warning>& warnings) {
  Json json = Json::array();
  for (const Warning& warning : warnings) {
    json.push_back({{"code", warning.code},
                    {"text", warning.text},
                    {"hint", warning.hint.empty() ? Json(nullptr) : Json(warning.hint)}});
  }
  return json;
}

}  // namespace

Status write_json(const Report& report, JsonLayout layout, const JsonSink& write) {
  JsonObjectWriter out(layout, write);
  const auto text = [indent = layout == JsonLayout::kIndented ? 2 : -1](const Json& json) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
  };
  out.member("schema", text("gputrace.report/1"));
  out.member("session", text(session_json(report)));
  out.member("gpu", text(gpu_json(report.gpu)));
  out.member("sampling", text(sampling_json(report.sampling)));
  out.member("units", text(units_json(report.units)));
  out.member("sensors", text(sensors_json(report.sensors)));
  out.member("sensor_sources", text(sources_json(report.sensor_sources)));
  out.member("energy", text(energy_json(report.energy)));
  out.member("dram", text(dram_json(report.dram)));
  out.member("throttling", text(throttling_json(report.throttling)));
  out.member("processes", text(processes_json(report.processes)));
  out.member("frames", text(frames_json(report.frames)));
  out.array("phases", report.phases, [&](const Phase& phase) { return text(phase_json(phase)); });
  out.member("machine", text(machine_json(report.machine)));
  if (!report.segments.empty()) {
    out.member("segments", text(segments_json(report.segments)));
  }
  out.member("warnings", text(warnings_json(report.warnings)));
  return out.finish();
}

std::string render_json(const Report& report, JsonLayout layout) {
  std::string json;
  const Status written = write_json(report, layout, [&json](std::string_view part) -> Status {
    json += part;
    return {};
  });
  GPUTRACE_CHECK(written.has_value());
  return json;
}

}  // namespace gputrace::report
