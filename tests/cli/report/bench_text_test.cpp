#include "cli/report/bench_text.h"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>

#include "cli/report/terminal_text.h"
#include "tests/cli/report/sample_bench.h"
#include "tests/support/golden.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("text of a bench looks as agreed") {
  test::check_golden("bench_sample.txt", render_bench_text(test::sample_bench(), {}));
}

TEST_CASE("a simulated device is the first thing said, and only then") {
  analysis::BenchRun run = test::sample_bench();
  CHECK_FALSE(contains(render_bench_text(run, {}), "SIMULATED"));
  run.device.simulated = true;
  CHECK(render_bench_text(run, {}).starts_with("SIMULATED"));
  // Colour changes no character.
  const std::string coloured = render_bench_text(run, {.colour = true});
  CHECK(coloured.find("SIMULATED") < coloured.find('\n'));
}

TEST_CASE("what is wrong is said with its reason, and control characters are made harmless") {
  analysis::BenchRun run = test::sample_bench();
  run.cancelled = true;
  const std::string text = render_bench_text(run, {});
  CHECK(contains(text, "Stopped before its end"));
  CHECK(contains(text, "suspect"));
  CHECK(contains(text, "the result is wrong"));
  CHECK(contains(text, "skipped: the device has no 64-bit atomics"));
  CHECK(contains(text, "failed: the device was lost"));
  CHECK(contains(text, "128 load 8 B a trip by the formula, 127 in the"));
  CHECK(contains(text, "L2 size: 2 MiB (1.5 MiB .. 2.5 MiB), sure; the knee of latency"));
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK_FALSE(contains(text, "inf"));
  CHECK_FALSE(contains(text, "nan"));
}

TEST_CASE("ASCII stays ASCII and lines stay within the page") {
  const std::string text = render_bench_text(test::sample_bench(), {.ascii = true});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= 80);
    for (const char c : line) {
      CHECK(static_cast<unsigned char>(c) < 0x80);
    }
  }
}

TEST_CASE("figures have four digits and sizes their unit") {
  CHECK(format_figure(0) == "0");
  CHECK(format_figure(2) == "2");
  CHECK(format_figure(0.03123) == "0.0312");
  CHECK(format_figure(4.9512) == "4.951");
  CHECK(format_figure(83.2) == "83.20");
  CHECK(format_figure(512.34) == "512.3");
  CHECK(format_figure(4012.4) == "4,012");
  CHECK(format_figure(-1234567.0) == "-1,234,567");
  CHECK(format_figure(std::numeric_limits<double>::infinity()) == "-");
  CHECK(format_bytes(64) == "64 B");
  CHECK(format_bytes(5793) == "5.7 KiB");
  CHECK(format_bytes(4096) == "4 KiB");
  CHECK(format_bytes(16385) == "16 KiB + 1 B");
  CHECK(format_bytes(134217728) == "128 MiB");
}
