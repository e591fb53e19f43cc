#include "cli/report/render_json.h"

#include <nlohmann/json.hpp>

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

std::string render_json(const Report& report, JsonLayout layout) {
  Json json{{"schema", "gputrace.report/1"},
            {"session", session_json(report)},
            {"gpu", gpu_json(report.gpu)},
            {"sampling", sampling_json(report.sampling)},
            {"units", units_json(report.units)}};
  if (!report.segments.empty()) {
    json["segments"] = segments_json(report.segments);
  }
  json["warnings"] = warnings_json(report.warnings);
  const int indent = layout == JsonLayout::kIndented ? 2 : -1;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gputrace::report
