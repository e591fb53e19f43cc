// Sensors, energy, DRAM traffic, throttling, processes and frames in text and JSON.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "cli/report/render_json.h"
#include "cli/report/render_text.h"
#include "cli/report/terminal_text.h"
#include "tests/cli/report/sample_report.h"
#include "tests/support/golden.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Json json_of(const Report& report) {
  return Json::parse(render_json(report));
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) {
    names.insert(name);
  }
  return names;
}

const Json& sensor_of(const Json& json, const std::string& name) {
  for (const Json& sensor : json["sensors"]) {
    if (sensor["name"] == name) {
      return sensor;
    }
  }
  FAIL("no sensor ", name);
  static const Json kNone;
  return kNone;
}

}  // namespace

TEST_CASE("a report with evidence looks as agreed") {
  const Report report = test::sample_report_with_evidence();
  test::check_golden("report_evidence.txt", render_text(report, {}));
  test::check_golden("report_evidence_ascii.txt",
                     render_text(report, {.colour = false, .ascii = true}));
  test::check_golden("report_evidence.json", render_json(report));
}

TEST_CASE("no line of the evidence is wider than the terminal, colour changes no character") {
  Report report = test::sample_report_with_evidence();
  report.band = {};
  for (const std::size_t width : {60U, 80U, 132U}) {
    std::istringstream lines(render_text(report, {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(display_width(line) <= width);
    }
  }
  const std::string coloured = render_text(report, {.colour = true});
  CHECK(std::regex_replace(coloured, std::regex("\x1b\\[[0-9;]*m"), "") == render_text(report, {}));
}

TEST_CASE("the JSON has every key of the contract, and SIMULATED stays") {
  const Json json = json_of(test::sample_report_with_evidence());
  CHECK(json["gpu"]["simulated"] == true);
  for (const Json& sensor : json["sensors"]) {
    for (const char* key : {"name", "source", "unit", "mean", "min", "max", "samples"}) {
      CHECK_MESSAGE(sensor.contains(key), key);
    }
  }
  for (const Json& process : json["processes"]) {
    for (const char* key : {"pid", "name", "gpu_s", "vram_bytes", "gtt_bytes"}) {
      CHECK_MESSAGE(process.contains(key), key);
    }
  }
  CHECK(json["processes"][0]["gpu_s"] == Json{{"gfx", 8.73}, {"compute", 0.31}});
  CHECK(json["processes"][1]["gtt_bytes"].is_null());
  CHECK(json["energy"][0]["joules"] == 456.7);
  CHECK(json["energy"][0]["method"] == "counter");
  CHECK(keys(json["frames"]) == std::set<std::string>{"count", "fps", "median_ms", "p99_ms"});
  CHECK(json["sensor_sources"][1]["rate_hz"].is_null());
  CHECK(json["sensor_sources"][1]["read_cost_us"] == 310);
}

TEST_CASE("a sensor without a reading has nulls, never 0") {
  const Json json = json_of(test::sample_report_with_evidence());
  const Json& fan = sensor_of(json, "fan_speed");
  CHECK(fan["mean"].is_null());
  CHECK(fan["min"].is_null());
  CHECK(fan["max"].is_null());
  CHECK(fan["covered_s"].is_null());
  CHECK(fan["samples"] == 0);
  CHECK_FALSE(contains(render_text(test::sample_report_with_evidence(), {}), "  fan"));
}

TEST_CASE("counters have totals and bits have bits, and neither has a mean") {
  const Json json = json_of(test::sample_report_with_evidence());
  CHECK(sensor_of(json, "dram_read")["mean"].is_null());
  CHECK(sensor_of(json, "dram_read")["total"] == 496e9);
  CHECK(sensor_of(json, "dram_read")["per_s"].get<double>() == doctest::Approx(496e9 / 9.9));
  CHECK(sensor_of(json, "throttle_status")["mean"].is_null());
  CHECK(sensor_of(json, "throttle_status")["bits_ever"] == 3);
  CHECK(sensor_of(json, "throttle_status")["bits_always"] == 2);
}

TEST_CASE("a throttle bit without evidence is listed as what proves nothing") {
  const Report report = test::sample_report_with_evidence();
  const Json throttling = json_of(report)["throttling"];
  REQUIRE(throttling["findings"].size() == 1);
  CHECK(throttling["findings"][0]["name"] == "PPT0");
  REQUIRE(throttling["unsupported_bits"].size() == 1);
  CHECK(throttling["unsupported_bits"][0]["name"] == "TEMP_HOTSPOT");
  CHECK_FALSE(throttling["unsupported_bits"][0].contains("evidence"));
  const std::string text = render_text(report, {});
  CHECK(contains(text, "held back by power for 6.9 s"));
  CHECK(contains(text, "prove nothing: TEMP_HOTSPOT"));

  Report quiet = report;
  quiet.throttling->bits.clear();
  CHECK(contains(render_text(quiet, {}), "no bit was set in 100 readings"));
  quiet.throttling.reset();
  CHECK_FALSE(contains(render_text(quiet, {}), "throttling"));
  CHECK(json_of(quiet)["throttling"].is_null());
}

TEST_CASE("a report without sensors has no block of them, and empty lists") {
  const std::string text = render_text(test::sample_report(), {});
  for (const char* word : {"Sensors", "Processes", "Frames", "energy"}) {
    CHECK_FALSE(contains(text, word));
  }
  const Json json = json_of(test::sample_report());
  for (const char* key : {"sensors", "sensor_sources", "energy", "processes"}) {
    CHECK_MESSAGE(json[key] == Json::array(), key);
  }
  for (const char* key : {"dram", "throttling", "frames"}) {
    CHECK_MESSAGE(json[key].is_null(), key);
  }
}

TEST_CASE("energy of a part of the time says so") {
  Report report = test::sample_report_with_evidence();
  report.energy[0].covered_s = 7;
  report.energy[0].counted = false;
  const std::string text = render_text(report, {});
  CHECK(contains(text, "over 7.0 s of 10.0 s, the rest is not known"));
  CHECK(contains(text, "power x time"));
  report.selection = Selection{.from_s = 1, .to_s = 8.05};
  CHECK_FALSE(contains(render_text(report, {}), "the rest is not known"));
}

TEST_CASE("traffic of one direction alone is no total") {
  Report report = test::sample_report_with_evidence();
  REQUIRE(report.dram);
  report.dram->write_gbps.reset();
  report.dram->total_gbps.reset();
  CHECK(contains(render_text(report, {}), "rd 50.1 GB/s only"));
  CHECK(json_of(report)["dram"]["total_gbps"].is_null());
}

TEST_CASE("processes of several GPUs say which, many are counted") {
  Report report = test::sample_report_with_evidence();
  report.processes[1].gpu = "0000:03:00.0";
  CHECK(contains(render_text(report, {}), "on GPU 0000:03:00.0"));
  for (int i = 0; i < 20; ++i) {
    report.processes.push_back(report.processes[1]);
  }
  CHECK(contains(render_text(report, {}), "10 of 22 processes, 2 of 2 engines shown"));
  CHECK(json_of(report)["processes"].size() == 22);
}

TEST_CASE("names of processes, sensors and problems cannot reach the terminal raw") {
  Report report = test::sample_report_with_evidence();
  report.processes[0].name = "evil\x1b[2J\r\n";
  report.processes[0].gpu = "\x1b]0;x\x07";
  report.processes[0].gpu_s["\x1b"] = 1;
  report.sensors[0].label = "\x1b";
  report.sensors[0].source = "\x1b[1m";
  report.sensors[0].unit = "\x07";
  report.sensors[0].covers = "\xe2\x80\xae";
  report.energy[0].source = "\x1b";
  report.energy[0].covers = "\x1b";
  report.dram->source = "\x1b";
  report.dram->covers = "\x1b";
  report.throttling->bits[0].name = "\x1b";
  report.throttling->bits[0].evidence = "\x1b";
  report.throttling->bits[1].name = "\x1b";
  const std::string text = render_text(report, {});
  for (const char* harmful : {"\x1b", "\x07", "\r", "\xe2\x80\xae"}) {
    CHECK_FALSE(contains(text, harmful));
  }
  CHECK(contains(text, "evil\\x1b[2J\\x0d\\x0a"));
  report.processes[0].name = "\xff";
  CHECK(json_of(report)["processes"][0]["name"] == "\xef\xbf\xbd");
}
