#include "cli/report/bench_comparison.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>

#include "cli/report/terminal_text.h"
#include "tests/cli/report/sample_curves.h"
#include "tests/support/golden.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)

namespace {

ComparedBenches compared() {
  const analysis::BenchRun a = test::sample_curves();
  analysis::BenchRun b = test::sample_curves();
  b.device.driver_info = "Mesa 25.0.7";
  b.quick = true;
  for (analysis::TestResult& test : b.tests) {
    if (test.id == "latency.vector") {
      for (analysis::BenchPoint& point : test.series[0].points) {
        for (auto* value : {&point.median, &point.p5, &point.p95}) {
          *value = value->value_or(0) * 1.2;
        }
      }
    }
  }
  b.tests.pop_back();
  b.tests.pop_back();
  return {{{"/data/a.gputrace"}, a.device, a.started_at, a.quick},
          {{"/data/b.json"}, b.device, b.started_at, b.quick},
          analysis::compare_benches(std::span(&a, 1), std::span(&b, 1)),
          {"'slower>5%' holds: slower are latency.vector/1 chain"}};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a comparison of benches looks as agreed") {
  const std::string text = render_bench_comparison_text(compared(), {});
  test::check_golden("bench_comparison.txt", text);
  // Driver first, before any figure.
  CHECK(text.find("driver version: Mesa 24.2.8 -> Mesa 25.0.7") < text.find("series compared"));
  CHECK(contains(text, "B is a quick run"));
  CHECK(contains(text, "Only in A: c2c.global"));
  CHECK_FALSE(contains(text, "\x1b"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= 80);
  }
  const std::string ascii = render_bench_comparison_text(compared(), {.ascii = true});
  for (const char c : ascii) {
    CHECK(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("the same device, driver and code are said to be the same") {
  ComparedBenches same = compared();
  same.comparison.changes.clear();
  CHECK(contains(render_bench_comparison_text(same, {}), "are the same"));
}

TEST_CASE("JSON of a comparison has all points, and words for what changed") {
  const auto json = nlohmann::json::parse(render_bench_comparison_json(compared()));
  CHECK(json["schema"] == "gputrace.bench-compare/1");
  CHECK(json["a"]["sources"] == nlohmann::json{"/data/a.gputrace"});
  CHECK(json["b"]["quick"] == true);
  CHECK(json["changes"][0]["what"] == "driver version");
  CHECK(json["points"].size() > 40);
  bool slower = false;
  for (const auto& row : json["series"]) {
    slower = slower || (row["test"] == "latency.vector" && row["name"] == "1 chain" &&
                        row["change"] == "slower" && row["ci95"].size() == 2);
  }
  CHECK(slower);
  CHECK(json["failures"].size() == 1);
}

TEST_CASE("published figures are shown as such, without intervals of theirs") {
  analysis::BesidePublished there;
  there.published = {"Some GPU", "peak.fp32", 8000, "GFLOPS", "an article"};
  there.measured = 4000;
  there.lower = 3900;
  there.upper = 4100;
  there.ratio = 2;
  analysis::BesidePublished missing;
  missing.published = {"Some GPU", "latency.vector/level.1.size", 131072, "B", "a review"};
  missing.why = "not measured in this run";
  const ComparedToPublished compared_to{compared().a, "Some GPU", {there, missing}};
  const std::string text = render_published_text(compared_to, {});
  CHECK(contains(text, "as published by others, without intervals"));
  CHECK(contains(text, "an article; A 3,900 .. 4,100"));
  CHECK(contains(text, "latency.vector/level.1.size: 128 KiB (a review)"));
  const auto json = nlohmann::json::parse(render_published_json(compared_to));
  CHECK(json["figures"][0]["ratio"] == 2.0);
  CHECK(json["figures"][1]["a"] == nullptr);
  CHECK(json["figures"][1]["why"] == "not measured in this run");
}
