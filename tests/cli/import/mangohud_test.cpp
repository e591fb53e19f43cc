#include "cli/import/mangohud.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <ctime>
#include <string>

#include "cli/import/csv_cells.h"
#include "cli/import/mangohud_columns.h"
#include "daemon/base/time.h"
#include "tests/cli/import/imported.h"
#include "tests/cli/import/memory_sink.h"

namespace gputrace::import {
namespace {

using test::import_text;
using test::MemorySink;
using test::mentions;
using test::runs_of;

constexpr std::string_view kFacts =
    "os,cpu,gpu,ram,kernel,driver,cpuscheduler\n"
    "Arch,Ryzen,AMD Radeon 780M,31,6.12,,performance\n";

std::string log_of(const std::string& rows,
                   const std::string& columns = "fps,frametime,gpu_load,gpu_power,elapsed") {
  return std::string(kFacts) + columns + "\n" + rows;
}

TEST_CASE("a row of a MangoHud log is a frame and readings of sensors at its elapsed time") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16.5,95,28,16500000\n"
                                          "60,17.5,95,29,34000000\n"),
                                   sink);
  REQUIRE_MESSAGE(summary, (summary ? "" : summary.error().message));
  CHECK(summary->format == Format::kMangoHud);
  CHECK(summary->rows == 2);
  CHECK(summary->frames == 2);
  CHECK(summary->values == 4);
  CHECK(summary->sensors == std::vector<std::string>{"gfx_activity", "package_power"});
  REQUIRE(sink.frames.size() == 2);
  CHECK(sink.frames[1].end_ns == 34'000'000);
  CHECK(sink.frames[1].duration_ns == 17'500'000);
  const auto load = runs_of(sink, "gfx_activity");
  REQUIRE(load.size() == 1);
  CHECK(load[0].start_ns == 16'500'000);
  CHECK(load[0].end_ns == 34'000'000);
  CHECK(load[0].readings == 2);
  CHECK(load[0].value == 95);
  CHECK(runs_of(sink, "package_power").size() == 2);
  CHECK(sink.segment.gpu.name == "AMD Radeon 780M");
  CHECK(sink.segment.registers.empty());
  CHECK(sink.means.empty());
  CHECK_FALSE(sink.session->started);
  REQUIRE(sink.sources.size() == 1);
  CHECK(sink.sources[0].totals->reads == 2);
}

TEST_CASE("columns are found by name, in any order, and memory is in bytes") {
  MemorySink sink;
  const auto summary = import_text(
      log_of("20000000,1.5,0.25,50,x\n", "elapsed,gpu_vram_used,swap_used,fps,foo"), sink);
  REQUIRE(summary);
  CHECK(runs_of(sink, "vram_used").at(0).value == 1.5 * 1024 * 1024 * 1024);
  CHECK(runs_of(sink, "swap_used").at(0).value == 0.25 * 1024 * 1024 * 1024);
  CHECK(summary->frames == 0);
  CHECK(mentions(summary->notes, "'foo'"));
}

TEST_CASE("a byte order mark, CRLF, quotes and lines of versioned logs change nothing") {
  MemorySink sink;
  const auto summary = import_text(
      "\xef\xbb\xbfv1\r\n0.8.1\r\n----SYSTEM INFO----\r\nos,cpu,gpu\r\n"
      "Arch,\"AMD, \"\"Ryzen\"\"\",\"Radeon, 780M\"\r\n----FRAME METRICS----\r\n"
      "fps,frametime,gpu_power,elapsed\r\n\"60\",\"16.5\",28,16500000\r\n",
      sink);
  REQUIRE_MESSAGE(summary, (summary ? "" : summary.error().message));
  CHECK(sink.segment.gpu.name == "Radeon, 780M");
  CHECK(sink.frames.size() == 1);
  CHECK(runs_of(sink, "package_power").at(0).value == 28);
}

TEST_CASE("facts with commas that are not quoted give no name, not a wrong one") {
  MemorySink sink;
  REQUIRE(import_text("os,cpu,gpu\nArch,AMD, Ryzen,780M\nfps,frametime,elapsed\n60,16,16000000\n",
                      sink));
  CHECK(sink.segment.gpu.name == "GPU of a MangoHud log");
}

TEST_CASE("a frame time of 99999 ms is a pause, and nothing speaks for the time of it") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16.5,95,28,16500000\n"
                                          "60,99999,95,28,9016500000\n"
                                          "60,16.5,95,28,9033000000\n"),
                                   sink);
  REQUIRE(summary);
  CHECK(sink.frames.size() == 2);
  CHECK(mentions(summary->notes, "1 rows with a frame time of 99999 ms"));
  const auto power = runs_of(sink, "package_power");
  REQUIRE(power.size() == 2);
  CHECK(power[0].end_ns == 16'500'000);
  CHECK(power[1].start_ns == 9'016'500'000);
}

TEST_CASE("elapsed that steps back a little counts for the row before, and is said") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16.5,95,28,16500000\n"
                                          "60,16.5,95,28,16400000\n"
                                          "60,16.5,95,28,49500000\n"),
                                   sink);
  REQUIRE(summary);
  CHECK(summary->bad_lines == 0);
  REQUIRE(sink.frames.size() == 3);
  CHECK(sink.frames[1].end_ns == 16'500'000);
  CHECK(sink.frames[2].end_ns == 49'500'000);
  CHECK(mentions(summary->warnings, "in 1 rows, first in line 5"));
  CHECK(sink.events.size() == 1);
}

TEST_CASE("elapsed that begins anew is another log, put behind the first") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16.5,95,28,5000000000\n"
                                          "60,16.5,95,28,16500000\n"
                                          "60,16.5,95,28,33000000\n"),
                                   sink);
  REQUIRE(summary);
  REQUIRE(sink.frames.size() == 3);
  CHECK(sink.frames[1].end_ns == 5'016'500'000);
  CHECK(sink.frames[2].end_ns == 5'033'000'000);
  CHECK(mentions(summary->warnings, "begins anew 1 times, first in line 5"));
}

TEST_CASE("without elapsed, times are the sum of the frame times") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16,95\n30,32,95\n", "fps,frametime,gpu_load"), sink);
  REQUIRE(summary);
  REQUIRE(sink.frames.size() == 2);
  CHECK(sink.frames[1].end_ns == 48'000'000);
  CHECK(mentions(summary->notes, "sum of the frame times"));
}

TEST_CASE("zeros that cannot be are no readings; a load is believed once it was another") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16.5,0,0,16500000\n"
                                          "60,16.5,0,0,33000000\n"
                                          "60,16.5,7,0,49500000\n"),
                                   sink);
  REQUIRE(summary);
  CHECK(runs_of(sink, "package_power").empty());
  CHECK(mentions(summary->notes, "gpu_power (3 rows)"));
  const auto load = runs_of(sink, "gfx_activity");
  REQUIRE(load.size() == 2);
  CHECK(load[0].value == 0);
  CHECK(load[0].readings == 2);
  CHECK(load[1].value == 7);
}

TEST_CASE("a load that is 0 in every row is no reading") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16.5,0,9,16500000\n60,16.5,0,9,33000000\n"), sink);
  REQUIRE(summary);
  CHECK(runs_of(sink, "gfx_activity").empty());
  CHECK(summary->sensors == std::vector<std::string>{"package_power"});
  CHECK(mentions(summary->notes, "0 in every row, so taken for no value: gpu_load"));
}

TEST_CASE("values that cannot be and nan are left out, and the first are said") {
  MemorySink sink;
  const auto summary = import_text(log_of("60,16.5,655,nan,16500000\n"
                                          "60,16.5,-1,inf,33000000\n"
                                          "60,16.5,50,30,49500000\n"),
                                   sink);
  REQUIRE(summary);
  CHECK(runs_of(sink, "gfx_activity").size() == 1);
  CHECK(runs_of(sink, "package_power").size() == 1);
  CHECK(mentions(summary->warnings, "gpu_load (2 rows)"));
}

TEST_CASE("rows by a timer give a series of frame times, not frames") {
  MemorySink sink;
  std::string rows;
  for (int i = 1; i <= 600; ++i) {
    rows += fmt::format("60,{},95,28,{}\n", i % 2 == 0 ? 16 : 17, i * 100'000'000LL);
  }
  const auto summary = import_text(log_of(rows), sink);
  REQUIRE(summary);
  CHECK(sink.frames.empty());
  CHECK(summary->frames == 0);
  CHECK(runs_of(sink, "frame_time").size() == 600);
  CHECK(mentions(summary->notes, "by a timer"));
}

TEST_CASE("thousands of frames stream through, a few of them long") {
  MemorySink sink;
  std::string rows;
  std::int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    const int ms = i % 1000 == 999 ? 300 : 10;
    now += ms * kNsPerMs;
    rows += fmt::format("60,{},{},28,{}\n", ms, 50 + i / 1000, now);
  }
  REQUIRE(import_text(log_of(rows), sink));
  CHECK(sink.frames.size() == 20'000);
  CHECK(runs_of(sink, "gfx_activity").size() == 20);
}

TEST_CASE("a bad row fails with its place, and is left out and counted with --lenient") {
  const std::string text =
      log_of("60,16.5,95,28,16500000\n60,16.5,x,28,33000000\n60,16.5,95,28,4\n");
  MemorySink strict;
  const auto refused = import_text(text, strict);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("trace:5:9: gpu_load: 'x' is not a number") == 0);
  MemorySink lenient;
  ImportOptions options;
  options.lenient = true;
  const auto summary = import_text(text, lenient, options);
  REQUIRE(summary);
  CHECK(summary->bad_lines == 1);
  CHECK(lenient.frames.size() == 2);
}

TEST_CASE("the date comes from the file's name when it is one of MangoHud's") {
  const auto local = [](std::string_view name) { return realtime_of_log_name(name); };
  std::tm expected{};
  expected.tm_year = 126;
  expected.tm_mon = 10;
  expected.tm_mday = 29;
  expected.tm_hour = 12;
  expected.tm_min = 27;
  expected.tm_sec = 15;
  expected.tm_isdst = -1;
  CHECK(local("Baldurs Gate_2026-11-29_12-27-15.csv") == std::mktime(&expected) * kNsPerSecond);
  CHECK_FALSE(local("game.csv"));
  CHECK_FALSE(local("game_2026-11-29_12-27-15_summary.csv"));
  CHECK_FALSE(local("game_2026-13-29_12-27-15.csv"));
  CHECK_FALSE(local("game_2026-02-30_12-27-15.csv"));
  CHECK_FALSE(local("game_2026-11-29 12-27-15.csv"));
  CHECK_FALSE(local("game_1800-11-29_12-27-15.csv"));
  MemorySink sink;
  REQUIRE(
      import_text(log_of("60,16.5,95,28,16500000\n"), sink, {}, "game_2026-11-29_12-27-15.csv"));
  REQUIRE(sink.session->started);
  CHECK(sink.session->started->monotonic_ns == 0);
  CHECK(sink.session->started->realtime_ns == std::mktime(&expected) * kNsPerSecond);
}

TEST_CASE("the summary that MangoHud writes beside a log is refused by name") {
  MemorySink sink;
  const auto summary = import_text("0.1% Min FPS,1% Min FPS,97% Percentile FPS\n1,2,3\n", sink);
  REQUIRE_FALSE(summary);
  CHECK(summary.error().message.find("import the log itself") != std::string::npos);
}

TEST_CASE("options about busy bits do not fit a MangoHud log") {
  MemorySink sink;
  ImportOptions options;
  options.ticks = 120;
  CHECK(import_text(log_of("60,16.5,95,28,1\n"), sink, options).error().code == ErrorCode::kUsage);
  options = {};
  options.gpu = "0";
  CHECK(import_text(log_of("60,16.5,95,28,1\n"), sink, options).error().code == ErrorCode::kUsage);
}

TEST_CASE("quoted cells keep commas and quotes; a quote that is not closed is said") {
  std::vector<CsvCell> cells;
  std::size_t count = 0;
  REQUIRE_FALSE(split_csv(R"( a , "b,""c""" ,,"d")", cells, count));
  REQUIRE(count == 4);
  CHECK(cells[0].text == "a");
  CHECK(cells[1].text == "b,\"c\"");
  CHECK(cells[1].column == 6);
  CHECK(cells[2].text.empty());
  CHECK(cells[3].text == "d");
  CHECK(split_csv("a,\"b", cells, count)->column == 3);
  CHECK(split_csv("\"a\"b,c", cells, count)->what == "text behind a quoted value");
}

}  // namespace
}  // namespace gputrace::import
