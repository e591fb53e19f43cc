#include "cli/analysis/published_figures.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/support/error_text.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::analysis;  // NOLINT(google-build-using-namespace)

TEST_CASE("each published figure has a value, a source, and is there once a GPU") {
  REQUIRE(published_figures().size() > 50);
  std::set<std::pair<std::string, std::string>> seen;
  for (const PublishedFigure& figure : published_figures()) {
    CAPTURE(figure.gpu);
    CAPTURE(figure.what);
    CHECK(figure.value > 0);
    CHECK_FALSE(figure.source.empty());
    CHECK(seen.emplace(figure.gpu, figure.what).second);
  }
}

TEST_CASE("GPUs are found by any spelling of a part that is theirs alone") {
  for (const char* name : {"adreno-x2-90", "Adreno X2-90", "x2-90", "adrenox2"}) {
    CAPTURE(name);
    const auto figures = published_of(name);
    REQUIRE_MESSAGE(figures, test::error_text(figures));
    CHECK(figures->front().gpu == "Adreno X2-90");
  }
  CHECK(published_of("8060S").has_value());
  CHECK(published_of("rdna3.5").has_value());
  const auto several = published_of("radeon");
  REQUIRE_FALSE(several);
  CHECK(several.error().message.find("Radeon 780M") != std::string::npos);
  for (const char* name : {"", "voodoo", "-"}) {
    const auto none = published_of(name);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::kNotFound);
    CHECK(none.error().message.find("Adreno X2-90") != std::string::npos);
  }
}

TEST_CASE("published figures stand beside ceilings, values and the best point of series") {
  BenchRun run;
  TestResult peak;
  peak.id = "roofline.peak";
  peak.derived = {{"peak.fp32", 4000, 3900, 4100, "GFLOPS", "", ""}};
  TestResult latency;
  latency.id = "latency.vector";
  latency.unit = "ns a hop";
  latency.derived = {{"memory.latency", 300, std::nullopt, std::nullopt, "ns", "likely", ""}};
  TestResult lbm;
  lbm.id = "lbm";
  lbm.unit = "MLUPs";
  BenchPoint small;
  small.x = 32;
  small.median = 300;
  BenchPoint large;
  large.x = 64;
  large.median = 400;
  large.p5 = 390;
  large.p95 = 410;
  lbm.series = {{"FP32", {small, large}}};
  run.tests = {peak, latency, lbm};
  const auto rows = beside_published(run, {{"G", "peak.fp32", 8000, "GFLOPS", "s"},
                                           {"G", "latency.vector/memory.latency", 150, "ns", "s"},
                                           {"G", "lbm/FP32", 800, "MLUPs", "s"},
                                           {"G", "lbm/FP32", 800, "MLUPs/s", "s"},
                                           {"G", "icache/additions", 8192, "", "s"}});
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].measured == 4000);
  CHECK(rows[0].ratio == doctest::Approx(2));
  CHECK(rows[0].lower == 3900);
  CHECK(rows[1].ratio == doctest::Approx(0.5));
  CHECK(rows[2].measured == 400);
  CHECK(rows[2].upper == 410);
  CHECK_FALSE(rows[3].ratio.has_value());
  CHECK(rows[3].why.find("MLUPs/s") != std::string::npos);
  CHECK(rows[4].why == "not measured in this run");
  // A suspect table is never set beside published figures.
  run.tests[2].status = TestStatus::kSuspect;
  CHECK_FALSE(beside_published(run, {{"G", "lbm/FP32", 800, "MLUPs", "s"}})[0].ratio.has_value());
}

TEST_CASE("a damaged table of figures is refused with its line") {
  const std::string head = "gpu,what,value,unit,source\n";
  const auto good = parse_published(head + "G,\"a, b\",1.5,ns,\"said \"\"so\"\"\"\n\n");
  REQUIRE_MESSAGE(good, test::error_text(good));
  CHECK(good->front().what == "a, b");
  CHECK(good->front().source == "said \"so\"");
  CHECK_FALSE(parse_published("gpu,value\nG,1\n"));
  for (const char* line : {"G,w,x,ns,s", "G,w,1,ns", "G,w,-1,ns,s", "G,w,0,ns,s", "G,w,inf,ns,s",
                           ",w,1,ns,s", "G,w,1,ns,", "G,w,1,ns,s,t", "G,w,1x,ns,s"}) {
    CAPTURE(line);
    const auto parsed = parse_published(head + line + "\n");
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.find("line 2") != std::string::npos);
  }
}
