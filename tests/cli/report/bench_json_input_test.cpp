#include "cli/report/bench_json_input.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "cli/report/bench_json.h"
#include "tests/cli/report/sample_bench.h"
#include "tests/cli/report/sample_curves.h"
#include "tests/support/error_text.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)

TEST_CASE("what --json wrote is read back as it was") {
  analysis::BenchRun finite = test::sample_bench();
  finite.tests[0].series.pop_back();  // an infinite median is null, and not known afterwards
  for (analysis::BenchRun run : {test::sample_curves(), finite}) {
    run.cancelled = true;
    run.temperature_c = 61;
    for (const JsonLayout layout : {JsonLayout::kIndented, JsonLayout::kOneLine}) {
      const std::string json = render_bench_json(run, layout);
      const auto read = parse_bench_json(json);
      REQUIRE_MESSAGE(read, test::error_text(read));
      CHECK(render_bench_json(*read, layout) == json);
      CHECK(read->tests.size() == run.tests.size());
      CHECK(read->tests[1].series.size() == run.tests[1].series.size());
    }
  }
}

TEST_CASE("of several documents the first is read") {
  const std::string first = render_bench_json(test::sample_curves(), JsonLayout::kOneLine);
  const auto read =
      parse_bench_json(first + render_bench_json(test::sample_bench(), JsonLayout::kOneLine));
  REQUIRE_MESSAGE(read, test::error_text(read));
  CHECK(render_bench_json(*read, JsonLayout::kOneLine) == first);
}

TEST_CASE("keys that are missing are not known") {
  const auto read = parse_bench_json(
      R"({"schema":"gputrace.bench/1","device":{},"tests":[{"id":"a","status":"ok"}]})");
  REQUIRE_MESSAGE(read, test::error_text(read));
  CHECK(read->device.name.empty());
  CHECK_FALSE(read->device.pci.has_value());
  REQUIRE(read->tests.size() == 1);
  CHECK(read->tests[0].result == analysis::Proof::kNotDone);
  CHECK_FALSE(read->clock_mhz.has_value());
}

TEST_CASE("many places times many empty series take no longer than the text is long") {
  std::string json =
      R"({"schema":"gputrace.bench/1","device":{},"tests":[{"id":"a","status":"ok","axis":{"values":[0)";
  constexpr std::size_t kMany = 99'999;
  for (std::size_t i = 1; i < kMany; ++i) {
    json += "," + std::to_string(i);
  }
  json += R"(]},"series":[{})";
  for (std::size_t i = 1; i < kMany; ++i) {
    json += ",{}";
  }
  // Ten thousand million points would take this test's time.
  const auto read = parse_bench_json(json + "]}]}");
  REQUIRE_MESSAGE(read, test::error_text(read));
  CHECK(read->tests[0].series.size() == kMany);
}

TEST_CASE("what is no such document is refused with the reason") {
  const auto problem = [](const std::string& text) {
    const auto read = parse_bench_json(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::kCorrupt);
    return read.error().message;
  };
  CHECK_FALSE(problem("").empty());
  CHECK_FALSE(problem("[1,").empty());
  CHECK(problem("[]").find("object") != std::string::npos);
  CHECK(problem(R"({"schema":"gputrace.report/1"})").find("gputrace.bench/1") != std::string::npos);
  const std::string head = R"({"schema":"gputrace.bench/1","device":{},"tests":)";
  CHECK(problem(head + "7}").find("'tests'") != std::string::npos);
  CHECK(problem(head + R"([{"id":7,"status":"ok"}]})").find("'id'") != std::string::npos);
  CHECK(problem(head + R"([{"id":"a","status":"fine"}]})").find("'fine'") != std::string::npos);
  const std::string test = head + R"([{"id":"a","status":"ok","axis":{"values":[1]},"series":[)";
  CHECK(problem(test + R"({"status":["ok"],"median":["x"]}]}]})").find("'median'") !=
        std::string::npos);
  CHECK(problem(test + R"({"status":[1]}]}]})").find("'status'") != std::string::npos);
  CHECK(problem(test + R"({"status":["ok"],"t0_ns":[0.5]}]}]})").find("'t0_ns'") !=
        std::string::npos);
  CHECK(problem(head + R"([{"id":"a","status":"ok","axis":{"values":[1,2,1]}}]})").find("twice") !=
        std::string::npos);
  CHECK(problem(test + "7]}]}").find("object") != std::string::npos);
}
