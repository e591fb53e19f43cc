#include "cli/import/radeontop.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "daemon/base/time.h"
#include "tests/cli/import/memory_sink.h"

namespace gputrace::import {
namespace {

using test::import_text;
using test::MemorySink;

/// A line of radeontop 1.4 in which `gpu` and `ta` have values.
std::string dump_line(const std::string& time, double gpu, double ta = 0,
                      const std::string& bus = "bus 09, ") {
  return fmt::format(
      "{}: {}gpu {:.2f}%, ee 0.00%, vgt 0.00%, ta {:.2f}%, sx 0.00%, sh 0.00%, spi 0.00%, sc "
      "0.00%, pa 0.00%, db 0.00%, cb 0.00%, vram 16.15% 1311.39mb\n",
      time, bus, gpu, ta);
}

/// The means of one field of the session's only register.
std::vector<store::WindowMean> means_of(const MemorySink& sink, std::uint8_t bit) {
  std::vector<store::WindowMean> found;
  for (const store::WindowMean& mean : sink.means) {
    if (mean.bit == bit) {
      found.push_back(mean);
    }
  }
  return found;
}

constexpr std::uint8_t kGpuBit = 31;

TEST_CASE("a percentage becomes the mean of the window that ends at its line") {
  MemorySink sink;
  const auto summary =
      import_text(dump_line("1600000000.500000", 50) + dump_line("1600000001.500200", 25) +
                      dump_line("1600000002.500400", 100),
                  sink);
  REQUIRE(summary.has_value());
  CHECK(summary->format == Format::kRadeontop);
  CHECK(summary->rows == 3);
  CHECK(summary->registers == std::vector<std::string>{"radeontop"});
  const auto means = means_of(sink, kGpuBit);
  REQUIRE(means.size() == 3);
  CHECK(means[0].busy == doctest::Approx(0.5));
  CHECK(means[1].busy == doctest::Approx(0.25));
  CHECK(means[2].busy == doctest::Approx(1.0));
  CHECK(means[1].start_ns == 1'600'000'000'500'000'000);
  CHECK(means[1].end_ns == 1'600'000'001'500'200'000);
  CHECK(means[2].start_ns == means[1].end_ns);
  CHECK(means[0].end_ns == means[1].start_ns);
  CHECK(means[0].start_ns == means[0].end_ns - 1'000'200'000);  // the median distance of lines
  CHECK(sink.samples.empty());
}

TEST_CASE("the session says where it comes from, when it began and that it is an import") {
  MemorySink sink;
  REQUIRE(import_text(dump_line("1600000000.0", 50) + dump_line("1600000001.0", 50), sink, {},
                      "run.txt")
              .has_value());
  CHECK(sink.session->kind == store::SessionKind::kImport);
  CHECK(sink.session->origin == "radeontop dump run.txt");
  CHECK_FALSE(sink.session->command.has_value());
  REQUIRE(sink.session->started.has_value());
  CHECK(sink.session->started->realtime_ns == 1'599'999'999 * kNsPerSecond);
  CHECK(sink.session->started->monotonic_ns == sink.session->started->realtime_ns);
  CHECK(sink.segment.start_ns == sink.session->started->monotonic_ns);
  CHECK(sink.segment.regdb_table == "radeontop");
  CHECK_FALSE(sink.segment.gpu.gc.has_value());
  CHECK(sink.segment.gpu.name == "AMD GPU on PCI bus 09");
  CHECK_FALSE(sink.segment.gpu.simulated);
  CHECK(sink.segment.registers.at(0).source == "import");
  CHECK(sink.end_ns == 1'600'000'001 * kNsPerSecond);
}

TEST_CASE("a pause between two runs in one file stays empty") {
  MemorySink sink;
  REQUIRE(import_text(dump_line("1600000000.0", 10) + dump_line("1600000001.0", 10) +
                          "Dumping to -, until termination.\n" + dump_line("1600003600.0", 10) +
                          dump_line("1600003601.0", 10),
                      sink)
              .has_value());
  const auto means = means_of(sink, kGpuBit);
  REQUIRE(means.size() == 4);
  CHECK(means[2].start_ns == 1'600'003'599 * kNsPerSecond);
  CHECK(means[2].end_ns == 1'600'003'600 * kNsPerSecond);
}

TEST_CASE("a single line speaks for radeontop's default interval") {
  MemorySink sink;
  REQUIRE(import_text(dump_line("1600000000.0", 10), sink).has_value());
  CHECK(sink.means.at(0).end_ns - sink.means.at(0).start_ns == kNsPerSecond);
}

TEST_CASE("the number of samples is known when the percentages show the default tick rate") {
  MemorySink sink;
  const auto summary = import_text(
      dump_line("1600000000.0", 14.17, 2.5) + dump_line("1600000001.0", 99.17, 7.5), sink);
  REQUIRE(summary.has_value());
  CHECK(sink.means.at(0).samples == 120U);
  CHECK(sink.segment.rate_hz == 120.0);
}

TEST_CASE("a longer dump interval has more samples behind each percentage") {
  MemorySink sink;
  REQUIRE(import_text(dump_line("1600000000.719547", 100.0 / 240) +
                          dump_line("1600000002.719744", 1700.0 / 240) +
                          dump_line("1600000004.719917", 3500.0 / 240),
                      sink)
              .has_value());
  CHECK(sink.means.at(0).samples == 240U);
  CHECK(sink.segment.rate_hz == 120.0);
}

TEST_CASE("the number of samples is unknown when the percentages do not show it") {
  for (const double percent : {0.0, 50.0, 14.2, 100.0}) {  // 14.2: not of 120 samples
    CAPTURE(percent);
    MemorySink sink;
    const auto summary =
        import_text(dump_line("1600000000.0", percent) + dump_line("1600000001.0", percent), sink);
    REQUIRE(summary.has_value());
    CHECK_FALSE(sink.means.at(0).samples.has_value());
    CHECK_FALSE(sink.segment.rate_hz.has_value());
    CHECK(std::any_of(summary->notes.begin(), summary->notes.end(), [](const std::string& note) {
      return note.find("--ticks") != std::string::npos;
    }));
  }
}

TEST_CASE("--ticks says the number of samples, and is not believed against the percentages") {
  ImportOptions options;
  options.ticks = 50;
  MemorySink sink;
  REQUIRE(import_text(dump_line("1600000000.0", 14) + dump_line("1600000001.0", 2), sink, options)
              .has_value());
  CHECK(sink.means.at(0).samples == 50U);
  CHECK(sink.segment.rate_hz == 50.0);

  MemorySink other;
  const auto summary = import_text(dump_line("1600000000.0", 14.17), other, options);
  REQUIRE(summary.has_value());
  CHECK_FALSE(other.means.at(0).samples.has_value());
  REQUIRE(summary->warnings.size() == 1);
  CHECK(summary->warnings[0].find("50 ticks a second") != std::string::npos);
  REQUIRE(other.events.size() == 1);
  CHECK(other.events[0].text == summary->warnings[0]);
}

TEST_CASE("a sample count is shown by values that none of its divisors can have") {
  std::vector<double> percentages;
  for (int k = 0; k <= 120; ++k) {
    percentages.push_back(std::round(10000.0 * k / 120) / 100);
  }
  CHECK(fits_sample_count(percentages, 120));
  CHECK(shows_sample_count(percentages, 120));
  CHECK_FALSE(shows_sample_count(percentages, 240));  // 120 explains them too
  CHECK_FALSE(fits_sample_count(percentages, 60));
  CHECK_FALSE(fits_sample_count(percentages, 119));
  CHECK_FALSE(shows_sample_count({}, 120));
}

TEST_CASE("with --gc only columns that mean the same there are kept, the others are named") {
  ImportOptions options;
  options.gc = regdb::GcVersion{11, 0, 1};
  MemorySink sink;
  const auto summary = import_text(dump_line("1600000000.0", 60, 40), sink, options);
  REQUIRE(summary.has_value());
  CHECK(summary->registers == std::vector<std::string>{"GRBM_STATUS"});
  CHECK(sink.segment.regdb_table == "11.0.0");
  CHECK(sink.segment.gpu.gc == regdb::GcVersion{11, 0, 1});
  REQUIRE(sink.means.size() == 8);                               // gpu ta sx spi sc pa db cb
  CHECK(means_of(sink, 31).at(0).busy == doctest::Approx(0.6));  // GUI_ACTIVE
  CHECK(means_of(sink, 14).at(0).busy == doctest::Approx(0.4));  // TA_BUSY
  REQUIRE(summary->warnings.size() == 1);
  for (const char* const column : {"ee", "vgt", "sh"}) {
    CHECK(summary->warnings[0].find(column) != std::string::npos);
  }
  REQUIRE(sink.events.size() == 1);
  CHECK(sink.events[0].kind == "warning");
}

TEST_CASE("a GC version that is not known is refused by name") {
  ImportOptions options;
  options.gc = regdb::GcVersion{9, 5, 0};
  MemorySink sink;
  const auto summary = import_text(dump_line("1600000000.0", 60), sink, options);
  REQUIRE_FALSE(summary.has_value());
  CHECK(summary.error().message.find("9.5.0") != std::string::npos);
}

TEST_CASE("an unknown busy column is left out by name, memory and clocks are mentioned") {
  std::string line = dump_line("1600000000.0", 60);
  line.insert(line.size() - 1, ", vcnungated 5.00%");
  MemorySink sink;
  const auto summary = import_text(line, sink);
  REQUIRE(summary.has_value());
  CHECK(sink.means.size() == 11);
  REQUIRE(summary->warnings.size() == 1);
  CHECK(summary->warnings[0] == "columns left out: vcnungated (an unknown column)");
  CHECK(summary->notes.at(1) == "columns that are not busy bits, not imported: vram");
}

TEST_CASE("messages of radeontop above the first line are passed over, in any language") {
  MemorySink sink;
  const auto summary =
      import_text("Failed to open DRM node, no VRAM support.\nGebe aus nach - bis zum Abbruch.\n" +
                      dump_line("1600000000.0", 60),
                  sink);
  REQUIRE(summary.has_value());
  CHECK(summary->rows == 1);
}

TEST_CASE("a byte order mark costs no line, and a damaged first line is no message") {
  MemorySink sink;
  const auto summary = import_text(
      "\xef\xbb\xbf" + dump_line("1600000000.0", 60) + dump_line("1600000001.0", 40), sink);
  REQUIRE(summary.has_value());
  CHECK(summary->rows == 2);

  MemorySink damaged;
  const auto refused =
      import_text("-" + dump_line("1600000000.0", 60) + dump_line("1600000001.0", 40), damaged);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("trace:1:1: '-1600000000' is not a number") == 0);
}

TEST_CASE("lines without bus and lines of another bus do not mix") {
  MemorySink sink;
  const auto summary = import_text(
      dump_line("1600000000.0", 60) + dump_line("1600000001.0", 60, 0, "bus 03, "), sink);
  REQUIRE_FALSE(summary.has_value());
  CHECK(summary.error().message.find("trace:2:1: another GPU") == 0);
  MemorySink old;
  CHECK(
      import_text(dump_line("1600000000.0", 60, 0, "") + dump_line("1600000001.0", 60, 0, ""), old)
          .has_value());
}

TEST_CASE("with --lenient bad lines are left out, counted and mentioned in the session") {
  ImportOptions options;
  options.lenient = true;
  MemorySink sink;
  const auto summary =
      import_text(dump_line("1600000000.0", 60) + "rubbish\n" + dump_line("1599999999.0", 60) +
                      dump_line("1600000002.0", 250) + dump_line("1600000001.0", 30) +
                      "1600000002.0: bus 09, gpu 5",
                  sink, options);
  REQUIRE(summary.has_value());
  CHECK(summary->rows == 2);
  CHECK(summary->bad_lines == 4);
  REQUIRE(summary->bad_line_examples.size() == 4);
  CHECK(summary->bad_line_examples[1] == "trace:3:1: time runs backwards, by 1.000000 s");
  REQUIRE(sink.events.size() == 1);
  CHECK(sink.events[0].text.find("4 bad lines of trace were left out") == 0);
}

TEST_CASE("a day of lines is imported whole") {
  std::string text;
  for (int second = 0; second < 86'400; ++second) {
    text += dump_line(fmt::format("{}.{}", 1'600'000'000 + second, second % 1'000'000),
                      (second % 121) * 100.0 / 120);
  }
  MemorySink sink;
  const auto summary = import_text(text, sink);
  REQUIRE(summary.has_value());
  CHECK(summary->rows == 86'400);
  CHECK(sink.means.size() == 86'400U * 11);
  CHECK(sink.means.at(0).samples == 120U);
}

}  // namespace
}  // namespace gputrace::import
