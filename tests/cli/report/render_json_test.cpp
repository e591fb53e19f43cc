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

TEST_CASE("what a later version brings is left out, not null") {
  const Json json = Json::parse(report::render_json(test::sample_report()));
  CHECK_FALSE(json.contains("phases"));
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
