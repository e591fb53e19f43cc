#include "cli/import/register_csv.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "daemon/base/time.h"
#include "tests/cli/import/memory_sink.h"

namespace gputrace::import {
namespace {

using sampler::SampleState;
using test::import_text;
using test::MemorySink;

const std::string kHeader =
    "# gputrace-regs v1\n"
    "# gc=11.0.1\n"
    "time_ns,GRBM_STATUS,GRBM_STATUS2,GRBM_STATUS3\n";

std::string error_of(const std::string& text, const ImportOptions& options = {}) {
  MemorySink sink;
  const auto summary = import_text(text, sink, options);
  REQUIRE_FALSE(summary.has_value());
  CHECK_FALSE(sink.end_ns.has_value());
  return summary.error().message;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_CASE("words and times are kept exactly, hexadecimal and decimal") {
  MemorySink sink;
  const auto summary = import_text(kHeader +
                                       "1000000042604,0x00003028,0x00000008,0x00000000\n"
                                       "1000001042604,12328,0XdeadBEEF,4294967294\n",
                                   sink);
  REQUIRE(summary.has_value());
  REQUIRE(sink.samples.size() == 2);
  CHECK(sink.samples[0].time_ns == 1'000'000'042'604);
  CHECK(sink.samples[0].words == std::vector<std::uint32_t>{0x3028, 8, 0});
  CHECK(sink.samples[1].words == std::vector<std::uint32_t>{0x3028, 0xdeadbeef, 0xfffffffe});
  CHECK(sink.samples[1].states == std::vector<SampleState>(3, SampleState::kValid));
  CHECK(summary->rows == 2);
  CHECK(summary->values == 6);
  CHECK(summary->registers ==
        std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS3"});
}

TEST_CASE("the session knows what the file said and nothing else") {
  MemorySink sink;
  REQUIRE(import_text(kHeader + "5000,1,2,3\n", sink, {}, "words.csv").has_value());
  CHECK(sink.session->kind == store::SessionKind::kImport);
  CHECK(sink.session->origin == "register CSV words.csv");
  CHECK_FALSE(sink.session->started.has_value());
  CHECK_FALSE(sink.segment.rate_hz.has_value());
  CHECK(sink.segment.regdb_table == "11.0.0");
  CHECK(sink.segment.gpu.gc == regdb::GcVersion{11, 0, 1});
  CHECK(sink.segment.gpu.name == "AMD GPU");
  CHECK(sink.segment.start_ns == 5000);
  CHECK(sink.segment.registers.at(1).name == "GRBM_STATUS2");
  CHECK(sink.segment.registers.at(1).dword_offset == 0x2002);
  CHECK(sink.segment.registers.at(1).source == "import");
}

TEST_CASE("further keys are rate, GPU and wall clock; unknown ones are mentioned") {
  MemorySink sink;
  const auto summary = import_text(
      "# gputrace-regs v1\n"
      "# written by a script of ours\n"
      "# gc = 11.0.1\n"
      "#rate_hz=1000\n"
      "# gpu=Radeon 780M\n"
      "# started=2026-11-29T22:27:15Z\n"
      "# colour=red\n"
      "\n"
      "time_ns, GRBM_STATUS\n"
      "7000,1\n",
      sink);
  REQUIRE(summary.has_value());
  CHECK(sink.segment.rate_hz == 1000.0);
  CHECK(sink.segment.gpu.name == "Radeon 780M");
  REQUIRE(sink.session->started.has_value());
  CHECK(sink.session->started->monotonic_ns == 7000);
  CHECK(sink.session->started->realtime_ns == 1'795'991'235 * kNsPerSecond);
  REQUIRE(summary->notes.size() == 1);
  CHECK(contains(summary->notes[0], "'colour'"));
}

TEST_CASE("any subset of the registers comes in any order") {
  MemorySink sink;
  REQUIRE(import_text("# gputrace-regs v1\n# gc=11.0.1\n"
                      "time_ns,GRBM_STATUS_SE1,GRBM_STATUS\n1,5,6\n",
                      sink)
              .has_value());
  CHECK(sink.segment.registers.at(0).name == "GRBM_STATUS_SE1");
  CHECK(sink.samples.at(0).words == std::vector<std::uint32_t>{5, 6});
}

TEST_CASE("all ones is unknown, an empty or missing cell is absent, and never a zero") {
  MemorySink sink;
  const auto summary = import_text(kHeader +
                                       "1000,0xffffffff,,4294967295\n"
                                       "2000,7\n"
                                       "3000\n"
                                       "4000,,8,\n",
                                   sink);
  REQUIRE(summary.has_value());
  using S = SampleState;
  CHECK(sink.samples.at(0).states == std::vector{S::kAllOnes, S::kAbsent, S::kAllOnes});
  CHECK(sink.samples.at(1).states == std::vector{S::kValid, S::kAbsent, S::kAbsent});
  CHECK(sink.samples.at(2).states == std::vector{S::kAbsent, S::kAbsent, S::kAbsent});
  CHECK(sink.samples.at(3).states == std::vector{S::kAbsent, S::kValid, S::kAbsent});
  CHECK(summary->all_ones == 2);
  CHECK(summary->absent == 8);
  CHECK(summary->values == 2);
}

TEST_CASE("Windows line ends, blanks, empty lines, remarks and a byte order mark do no harm") {
  MemorySink sink;
  const auto summary = import_text(
      "\xef\xbb\xbf# gputrace-regs v1\r\n# gc=11.0.1\r\ntime_ns,GRBM_STATUS\r\n"
      "1000, 0x1 \r\n\r\n# the game starts here\r\n2000\t,\t2\r\n3000,3",
      sink);
  REQUIRE(summary.has_value());
  REQUIRE(sink.samples.size() == 3);
  CHECK(sink.samples[1].words.at(0) == 2);
  CHECK(sink.samples[2].words.at(0) == 3);
}

TEST_CASE("blocks are seconds after the first row, and rows may be missing") {
  std::string text = kHeader;
  for (std::int64_t i = 0; i < 2500; ++i) {
    text += fmt::format("{},1,1,1\n", 5'000 + i * kNsPerMs);
  }
  text += fmt::format("{},1,1,1\n", 5'000 + 600 * kNsPerSecond + 1);
  MemorySink sink;
  const auto summary = import_text(text, sink);
  REQUIRE(summary.has_value());
  REQUIRE(sink.blocks.size() == 4);
  CHECK(sink.blocks[0].start_ns == 5'000);
  CHECK(sink.blocks[0].end_ns == 5'000 + kNsPerSecond);
  CHECK(sink.blocks[2].start_ns == sink.blocks[1].end_ns);
  CHECK(sink.blocks[3].start_ns == 5'000 + 600 * kNsPerSecond);
  CHECK(sink.samples.size() == 2501);
}

TEST_CASE("more rows in a second than a block holds make shorter blocks") {
  std::string text = kHeader;
  for (int i = 0; i < 50'000; ++i) {
    text += fmt::format("{},1,1,1\n", 1 + i * 10);
  }
  MemorySink sink;
  REQUIRE(import_text(text, sink).has_value());
  CHECK(sink.blocks.size() == 3);
  CHECK(sink.samples.size() == 50'000);
}

TEST_CASE("the last sample speaks for as long as the one before it") {
  MemorySink sink;
  const auto summary = import_text(kHeader + "1000000,1\n3000000,1\n", sink);
  REQUIRE(summary.has_value());
  CHECK(summary->end_ns == 5'000'000);
  CHECK(sink.end_ns == 5'000'000);
}

TEST_CASE("--gc fills in for a file that does not say, and must not contradict one that does") {
  const std::string silent = "# gputrace-regs v1\ntime_ns,GRBM_STATUS\n1,1\n";
  CHECK(contains(error_of(silent), "does not say which GC version"));
  ImportOptions options;
  options.gc = regdb::GcVersion{10, 3, 0};
  MemorySink sink;
  REQUIRE(import_text(silent, sink, options).has_value());
  CHECK(sink.segment.regdb_table == "10.3");
  CHECK(contains(error_of(kHeader + "1,1\n", options), "says GC 11.0.1, but --gc says 10.3.0"));
  options.gc = regdb::GcVersion{11, 0, 1};
  MemorySink same;
  CHECK(import_text(kHeader + "1,1\n", same, options).has_value());
}

TEST_CASE("an unknown register is named together with what is known") {
  const std::string message =
      error_of("# gputrace-regs v1\n# gc=11.0.1\ntime_ns,GRBM_STATUS,GRBM_STATUS9\n1,1,1\n");
  CHECK(message.find("trace:3:21: 'GRBM_STATUS9' is not a status register of GC 11.0.1") == 0);
  CHECK(contains(message, "GRBM_STATUS2"));
}

TEST_CASE("a GC version that is not known is refused by name") {
  const std::string message =
      error_of("# gputrace-regs v1\n# gc=9.5.0\ntime_ns,GRBM_STATUS\n1,1\n");
  CHECK(contains(message, "9.5.0"));
  CHECK(contains(message, "trace"));
}

TEST_CASE("--ticks has no meaning here") {
  ImportOptions options;
  options.ticks = 120;
  MemorySink sink;
  const auto summary = import_text(kHeader + "1,1\n", sink, options);
  REQUIRE_FALSE(summary.has_value());
  CHECK(summary.error().code == ErrorCode::kUsage);
}

TEST_CASE("with --lenient bad rows are left out and counted, one absurd time too") {
  ImportOptions options;
  options.lenient = true;
  MemorySink sink;
  const auto summary = import_text(kHeader +
                                       "1000,1,1,1\n"
                                       "2000,nan,1,1\n"
                                       "4000000000000000000,1,1,1\n"
                                       "3000,1,1,1\n"
                                       "2500,1,1,1\n"
                                       "3000,1,1,1\n"
                                       "4000,1,1,1,1\n"
                                       "5000,2,2,2\n",
                                   sink, options);
  REQUIRE(summary.has_value());
  REQUIRE(sink.samples.size() == 3);
  CHECK(sink.samples[2].words.at(0) == 2);
  CHECK(summary->bad_lines == 5);
  REQUIRE(sink.events.size() == 1);
  CHECK(contains(sink.events[0].text, "5 bad lines of trace were left out"));
}

TEST_CASE("a header error is not skipped by --lenient") {
  ImportOptions options;
  options.lenient = true;
  CHECK(contains(error_of("# gputrace-regs v1\n# gc=11.0.1\ntime_ns,NOPE\n1,1\n", options),
                 "'NOPE'"));
  CHECK(contains(error_of(kHeader + "x,1\ny,2\n", options), "all 2 lines are bad"));
}

TEST_CASE("a last line that was cut in a padded word is not taken for a small number") {
  const std::string rows = "1000,0x00003028,0x00000008,0x00000001\n";
  CHECK(contains(error_of(kHeader + rows + "2000,0x00003028,0x00000008,0x0000"),
                 "trace:5:34: the file ends in the middle of this line"));
  CHECK(contains(error_of(kHeader + rows + "2000,0x00003028"), "trace:5:16: the file ends"));
  CHECK(contains(error_of(kHeader + rows + "20"), "trace:5:3: the file ends"));
  MemorySink sink;
  CHECK(import_text(kHeader + rows + "2000,0x00003028,0x00000008,0x00000002", sink).has_value());
  MemorySink unpadded;
  CHECK(import_text(kHeader + "1000,0x3028,0x8,0x1\n2000,1,1,0x0", unpadded).has_value());
}

}  // namespace
}  // namespace gputrace::import
