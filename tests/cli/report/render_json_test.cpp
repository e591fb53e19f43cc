#include "cli/report/render_json.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/report/sample_report.h"
#include "tests/support/golden.h"

using namespace gputrace;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

namespace {

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) {
    names.insert(name);
  }
  return names;
}

bool has_all(const Json& object, const std::set<std::string>& wanted) {
  const std::set<std::string> present = keys(object);
  return std::includes(present.begin(), present.end(), wanted.begin(), wanted.end());
}

}  // namespace

TEST_CASE("JSON is handed on phase by phase, and not after an error of who takes it") {
  report::Report report = test::sample_report();
  report.phases.resize(40);
  for (report::Phase& phase : report.phases) {
    phase.units = report.units;
  }
  const std::string whole = report::render_json(report);
  std::string text;
  std::size_t longest = 0;
  std::size_t refused = 0;
  const auto take = [&](std::size_t most) {
    return [&text, &longest, &refused, most](std::string_view part) -> Status {
      longest = std::max(longest, part.size());
      if (text.size() + part.size() > most) {
        ++refused;
        return fail(ErrorCode::kNoSpace, "full");
      }
      text += part;
      return {};
    };
  };
  REQUIRE(report::write_json(report, report::JsonLayout::kIndented, take(whole.size())));
  CHECK(text == whole);
  CHECK(longest < whole.size() / 10);
  text.clear();
  const Status full =
      report::write_json(report, report::JsonLayout::kIndented, take(whole.size() / 2));
  REQUIRE(!full);
  CHECK(full.error().code == ErrorCode::kNoSpace);
  CHECK(refused == 1);
  CHECK(whole.starts_with(text));
}

TEST_CASE("the JSON report looks as agreed") {
  test::check_golden("report_sample.json", report::render_json(test::sample_report()));
  test::check_golden("report_no_samples.json",
                     report::render_json(test::sample_report_without_samples()));
}

TEST_CASE("every key of the contract is there with its type") {
  const Json json = Json::parse(report::render_json(test::sample_report()));
  CHECK(json["schema"] == "gputrace.report/1");
  CHECK(has_all(json["session"], {"file", "label", "command", "exit_code", "signal", "started_at",
                                  "duration_s", "cut"}));
  CHECK(json["session"]["file"].is_string());
  CHECK(json["session"]["command"] == Json{"./game", "--level", "the swamp"});
  CHECK(json["session"]["exit_code"] == 0);
  CHECK(json["session"]["signal"].is_null());
  CHECK(json["session"]["duration_s"].is_number());
  CHECK(json["session"]["cut"].is_boolean());
  CHECK(has_all(json["gpu"], {"name", "gc", "pci", "simulated"}));
  CHECK(json["gpu"]["simulated"] == true);
  CHECK(json["gpu"]["pci"].is_null());

  const Json& sampling = json["sampling"];
  CHECK(has_all(sampling, {"rate_hz", "achieved_hz", "samples", "unknown", "unknown_reasons",
                           "asleep_s", "missed", "dropped", "late_us", "cpu_s", "registers"}));
  CHECK(sampling["samples"] == 9982);
  CHECK(sampling["unknown_reasons"] == Json{{"all_ones", 30}, {"reset", 2}});
  CHECK(keys(sampling["late_us"]) == std::set<std::string>{"p50", "p99"});
  REQUIRE(sampling["registers"].size() == 4);
  CHECK(keys(sampling["registers"][0]) == std::set<std::string>{"name", "source", "read_cost_ns"});

  REQUIRE(json["units"].size() == 14);
  for (const Json& unit : json["units"]) {
    CHECK(keys(unit) ==
          std::set<std::string>{"name", "register", "busy", "ci95", "ci95_run", "samples"});
    CHECK(unit["busy"].is_number());
    CHECK(unit["ci95"].size() == 2);
    CHECK(unit["samples"].is_number_unsigned());
  }
  for (const Json& warning : json["warnings"]) {
    CHECK(keys(warning) == std::set<std::string>{"code", "text", "hint"});
  }
}

TEST_CASE("a phase has its class, evidence, units, sensors and position") {
  report::Report report = test::sample_report();
  report::Phase phase;
  phase.start_s = 1.5;
  phase.end_s = 4;
  phase.bottleneck = analysis::Bottleneck::kBandwidth;
  phase.confidence = 0.97;
  phase.evidence = {"DRAM requests were in flight 93 % of the time."};
  phase.would_change = "Less DRAM traffic.";
  phase.nearest = "copy";
  phase.unknown_share = 0.01;
  phase.units = {report.units[0]};
  phase.sensors.resize(1);
  phase.dram = report::DramTraffic{};
  phase.position = analysis::Position{.of_ridge = {std::nullopt, 0.3},
                                      .intensity = {std::nullopt, 19},
                                      .gbps = analysis::Range{70, 72},
                                      .notes = {"scaled"}};
  phase.scenes = {report::Phase{}};
  report.phases = {phase};
  const Json json = Json::parse(report::render_json(report))["phases"].at(0);
  CHECK(has_all(
      json, {"start_s", "end_s", "class", "confidence", "evidence", "units", "sensors", "roofline",
             "would_change", "nearest", "unknown_share", "asleep_share", "dram", "scenes"}));
  CHECK(json["start_s"] == 1.5);
  CHECK(json["end_s"] == 4);
  CHECK(json["class"] == "bandwidth");
  CHECK(json["confidence"] == 0.97);
  CHECK(json["evidence"].size() == 1);
  CHECK(json["would_change"] == "Less DRAM traffic.");
  CHECK(json["nearest"] == "copy");
  CHECK(json["units"].at(0)["name"] == "GUI_ACTIVE");
  CHECK(json["sensors"].size() == 1);
  const Json expected{{"ai", {nullptr, 19.0}},  {"gbps", {70.0, 72.0}},
                      {"gflops", nullptr},      {"of_ridge", {nullptr, 0.3}},
                      {"basis", "calibration"}, {"notes", {"scaled"}}};
  CHECK(json["roofline"] == expected);
  CHECK(json["scenes"].at(0)["class"] == "unknown");
  CHECK(json["scenes"].at(0)["roofline"].is_null());
  CHECK(json["scenes"].at(0)["nearest"].is_null());
  CHECK_FALSE(json["scenes"].at(0).contains("scenes"));
}

TEST_CASE("the machine's ceilings are there with their source, and null without") {
  report::Report report = test::sample_report();
  CHECK(Json::parse(report::render_json(report))["machine"].is_null());
  report::MachineRoofline machine;
  machine.source = "calibration of 2026-11-30 12:00 UTC, c.gputrace";
  machine.simulated = true;
  machine.roofline.compute = {{"fp32", 4700, 4600, 4800, "GFLOPS"}};
  machine.roofline.bandwidth = {{"DRAM copy", 73, std::nullopt, std::nullopt, "GB/s"}};
  machine.roofline.ridges = {{0, 0, 64.4, std::nullopt, std::nullopt}};
  machine.fit.use = analysis::CalibrationUse::kScaled;
  machine.fit.ridge_ratio = 0.8;
  machine.fit.why = "another clock";
  report.machine = machine;
  const Json json = Json::parse(report::render_json(report))["machine"];
  CHECK(json["source"] == machine.source);
  CHECK(json["simulated"] == true);
  CHECK(json["compute"].at(0)["value"] == 4700);
  CHECK(json["bandwidth"].at(0)["lower"].is_null());
  CHECK(json["ridge"] == 64.4);
  CHECK(json["fit"] == "scaled");
  CHECK(json["ridge_ratio"] == 0.8);
  CHECK(json["why"] == "another clock");
}

TEST_CASE("what nobody asked for is left out, not null") {
  const Json json = Json::parse(report::render_json(test::sample_report()));
  CHECK(json["phases"] == Json::array());
  CHECK_FALSE(json.contains("segments"));
}

TEST_CASE("a session without a valid sample has no units") {
  const Json json = Json::parse(report::render_json(test::sample_report_without_samples()));
  CHECK(json["units"] == Json::array());
}

TEST_CASE("absent values are null, never 0") {
  const Json json = Json::parse(report::render_json(report::Report{}));
  for (const char* key : {"label", "command", "exit_code", "signal", "started_at", "duration_s"}) {
    CHECK_MESSAGE(json["session"][key].is_null(), key);
  }
  for (const char* key : {"rate_hz", "achieved_hz", "asleep_s", "missed", "dropped", "cpu_s"}) {
    CHECK_MESSAGE(json["sampling"][key].is_null(), key);
  }
  CHECK(json["sampling"]["late_us"] == Json{{"p50", nullptr}, {"p99", nullptr}});
  CHECK(json["gpu"]["name"].is_null());
  CHECK(json["gpu"]["gc"].is_null());
}

TEST_CASE("several segments are listed, the main one is marked") {
  report::Report report = test::sample_report();
  report.segments.resize(2);
  report.segments[0].rate_hz = 1000;
  report.segments[0].registers = {"X"};
  report.segments[1].main = true;
  const Json json = Json::parse(report::render_json(report));
  REQUIRE(json["segments"].size() == 2);
  CHECK(json["segments"][0]["registers"] == Json{"X"});
  CHECK(json["segments"][1]["rate_hz"].is_null());
  CHECK(json["segments"][1]["main"] == true);
}

TEST_CASE("strings that are not UTF-8 do not break the document") {
  report::Report report = test::sample_report();
  report.session.label = "\xff\x1b";
  const Json json = Json::parse(report::render_json(report));
  CHECK(json["session"]["label"] == "\xef\xbf\xbd\x1b");
}
