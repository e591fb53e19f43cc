#include "cli/report/bench_json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/report/sample_bench.h"
#include "tests/support/golden.h"

using namespace gputrace;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

namespace {

Json rendered() {
  return Json::parse(report::render_bench_json(test::sample_bench()));
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) {
    names.insert(name);
  }
  return names;
}

void check_has(const Json& object, const std::set<std::string>& wanted) {
  const std::set<std::string> present = keys(object);
  for (const std::string& name : wanted) {
    CHECK_MESSAGE(present.contains(name), name, " is missing");
  }
}

}  // namespace

TEST_CASE("JSON of a bench looks as agreed") {
  test::check_golden("bench_sample.json", report::render_bench_json(test::sample_bench()));
}

TEST_CASE("every key of gputrace.bench/1 is there") {
  const Json json = rendered();
  CHECK(json["schema"] == "gputrace.bench/1");
  check_has(json["device"], {"name", "pci", "driver", "subgroups", "simulated"});
  CHECK(json["warnings"].is_array());
  check_has(json["env"], {"clock_mhz", "power_w", "temp_c"});
  for (const Json& test : json["tests"]) {
    check_has(test, {"id", "status", "why", "unit", "axis", "series", "count", "proof", "derived",
                     "t0_ns", "t1_ns"});
    check_has(test["axis"], {"name", "values"});
    check_has(test["proof"], {"result", "isa", "rate"});
    for (const Json& series : test["series"]) {
      check_has(series, {"name", "median", "lo", "hi", "n", "status", "why", "drift", "code_bytes",
                         "vgprs", "waves"});
    }
    for (const Json& derived : test["derived"]) {
      check_has(derived, {"what", "value", "lo", "hi", "unit", "confidence", "by"});
    }
  }
}

TEST_CASE("all series of a test lie along its axis") {
  const Json test = rendered()["tests"][0];
  CHECK(test["axis"]["values"] == Json{4096, 5793, 8192, 16384});
  REQUIRE(test["series"].size() == 2);
  for (const Json& series : test["series"]) {
    for (const char* column : {"median", "lo", "hi", "samples", "status", "why", "drift"}) {
      CHECK_MESSAGE(series[column].size() == 4, column);
    }
  }
  CHECK(test["series"][0]["median"] == Json{28.5, nullptr, 29.25, 0.1});
  CHECK(test["series"][0]["status"] == Json{"ok", "failed", "ok", "suspect"});
  CHECK(test["series"][0]["n"] == 11);
  CHECK(test["series"][1]["status"] == Json{nullptr, nullptr, "ok", nullptr});
}

TEST_CASE("what is not known or not finite is null, never 0") {
  const Json json = rendered();
  CHECK(json["env"]["clock_mhz"] == 800);
  CHECK(json["env"]["power_w"].is_null());
  CHECK(json["env"]["temp_c"].is_null());
  const Json& test = json["tests"][0];
  CHECK(test["series"][1]["median"][2].is_null());  // infinite
  CHECK(test["series"][1]["lo"][2].is_null());      // not a number
  CHECK(test["proof"]["rate"].is_null());
  CHECK(test["counts"][2]["isa"].is_null());
  CHECK(test["derived"][1]["lo"].is_null());
  CHECK(json["tests"][1]["series"].empty());
  CHECK(json["tests"][1]["count"].is_null());
  CHECK(json["tests"][1]["t0_ns"].is_null());
  const Json empty = Json::parse(report::render_bench_json({}));
  CHECK(empty["device"]["pci"].is_null());
  CHECK(empty["tests"].empty());
}

TEST_CASE("the count that does not agree is the one shown first") {
  const Json count = rendered()["tests"][0]["count"];
  CHECK(count == Json{{"formula", "load 8 B"},
                      {"per_trip", 128},
                      {"isa", 127},
                      {"source", "latency.vector.c8.4KiB"}});
}

TEST_CASE("one line for streams of documents") {
  const std::string line =
      report::render_bench_json(test::sample_bench(), report::JsonLayout::kOneLine);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(Json::parse(line) == rendered());
}
