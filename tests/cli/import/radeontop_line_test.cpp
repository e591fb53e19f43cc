#include "cli/import/radeontop_line.h"

#include <doctest/doctest.h>

#include <string>

namespace gputrace::import {
namespace {

constexpr std::string_view kUnits =
    "gpu 62.50%, ee 0.00%, vgt 3.33%, ta 40.83%, sx 41.67%, sh 0.00%, spi 55.00%, sc 20.00%, "
    "pa 1.67%, db 18.33%, cb 15.83%";

DumpLine parse(const std::string& text) {
  static std::string kept;  // `line` points into it
  static DumpLine line;     // as an importer does: the same memory again and again
  kept = text;
  const auto bad = parse_dump_line(kept, line);
  INFO(text);
  INFO((bad ? bad->what : ""));
  REQUIRE_FALSE(bad.has_value());
  return line;
}

BadCell refuse(const std::string& text) {
  DumpLine line;
  const auto bad = parse_dump_line(text, line);
  INFO(text);
  REQUIRE(bad.has_value());
  return *bad;
}

TEST_CASE("the number behind the point counts microseconds and is not padded") {
  const std::string rest = ": " + std::string(kUnits);
  CHECK(parse("1500000000.84311" + rest).realtime_ns == 1'500'000'000'084'311'000);
  CHECK(parse("1500000000.843110" + rest).realtime_ns == 1'500'000'000'843'110'000);
  CHECK(parse("1500000000.0" + rest).realtime_ns == 1'500'000'000'000'000'000);
  CHECK(parse("1500000000.7" + rest).realtime_ns == 1'500'000'000'000'007'000);
  CHECK(parse("1500000000.999999" + rest).realtime_ns == 1'500'000'000'999'999'000);
}

TEST_CASE("the line of an old version has neither bus nor clocks") {
  const DumpLine line = parse("1500000000.5: " + std::string(kUnits) + ", vram 12.34% 505.45mb");
  CHECK_FALSE(line.bus.has_value());
  REQUIRE(line.busy.size() == 11);
  CHECK(line.busy[0].name == "gpu");
  CHECK(line.busy[0].percent == doctest::Approx(62.5));
  CHECK(line.busy[10].name == "cb");
  CHECK(line.busy[10].percent == doctest::Approx(15.83));
  REQUIRE(line.quantity.size() == 1);
  CHECK(line.quantity[0] == "vram");
}

TEST_CASE("the line of a new version has bus, memory and clocks") {
  const DumpLine line = parse("1700000000.250000: bus c4, " + std::string(kUnits) +
                              ", vram 50.00% 2048.00mb, gtt 1.50% 240.10mb, mclk 100.00% "
                              "2.800ghz, sclk 33.33% 0.900ghz");
  CHECK(line.bus == 0xc4);
  CHECK(line.busy.size() == 11);
  REQUIRE(line.quantity.size() == 4);
  CHECK(line.quantity[3] == "sclk");
}

TEST_CASE("the columns of R600, of unknown cards and of video engines are columns like others") {
  const DumpLine line = parse(
      "1700000000.1: bus 00, gpu 1.00%, ee 0.00%, vgt 0.00%, ta 0.00%, tc 2.00%, sx 0.00%, sh "
      "0.00%, spi 0.00%, smx 3.00%, cr 4.00%, sc 0.00%, pa 0.00%, db 0.00%, cb 0.00%, uvd 5.00%, "
      "vce0 100.00%");
  CHECK(line.busy.size() == 16);
  CHECK(line.busy[4].name == "tc");
  CHECK(line.busy[15].percent == 100.0);
  CHECK(line.quantity.empty());
}

TEST_CASE("a total of zero makes memory columns that are no numbers, which does no harm") {
  const DumpLine line =
      parse("1700000000.1: " + std::string(kUnits) + ", vram -nan% 0.00mb, gtt inf% 3.00mb");
  CHECK(line.quantity.size() == 2);
}

TEST_CASE("a carriage return and blanks at the end are no error") {
  CHECK(parse("1700000000.1: " + std::string(kUnits) + " \r").busy.size() == 11);
}

TEST_CASE("a bad time is named with its place") {
  const std::string rest = ": " + std::string(kUnits);
  CHECK(refuse("yesterday" + rest).column == 1);
  CHECK(refuse("1700000000" + rest).what.find("is not a time") != std::string::npos);
  CHECK(refuse("1700000000.1234567" + rest).column == 12);
  CHECK(refuse("1700000000.-5" + rest).column == 12);
  CHECK(refuse("99999999999999999999.1" + rest).column == 1);
  CHECK(refuse("5000000000.1" + rest).column == 1);
  CHECK(refuse("-5.1" + rest).column == 1);
  CHECK(refuse("").column == 1);
}

TEST_CASE("a percentage is a number from 0 to 100") {
  const std::string head = "1700000000.1: ";  // 14 characters
  CHECK(refuse(head + "gpu 100.01%").column == 19);
  CHECK(refuse(head + "gpu -0.50%").what == "'-0.50' is not a percentage from 0 to 100");
  CHECK(refuse(head + "gpu nan%").what == "'nan' is not a percentage from 0 to 100");
  CHECK(refuse(head + "gpu inf%").what == "'inf' is not a percentage from 0 to 100");
  CHECK(refuse(head + "gpu 1e999%").what == "'1e999' is not a number");
  CHECK(refuse(head + "gpu 5,00%").what == "'5,00' is not a number");
  CHECK(refuse(head + "gpu %").what == "'' is not a number");
}

TEST_CASE("half a line is refused where it ends") {
  const std::string whole = "1700000000.250000: bus c4, " + std::string(kUnits) +
                            ", vram 50.00% 2048.00mb, sclk 33.33% 0.900ghz";
  std::size_t accepted = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    DumpLine line;
    const auto bad = parse_dump_line(whole.substr(0, length), line);
    accepted += bad ? 0 : 1;
    CHECK((!bad || bad->column <= length + 1));
  }
  // Behind the bus, each of 11 units, and the percentage (with a blank or not) and the amount of
  // vram and sclk a piece is well-formed; that columns are missing is found by comparing lines.
  CHECK(accepted == 17);
}

TEST_CASE("columns that are twice there, have no name or an unknown unit are refused") {
  const std::string head = "1700000000.1: ";
  CHECK(refuse(head + "gpu 1.00%, gpu 1.00%").what == "a second column 'gpu'");
  CHECK(refuse(head + "bus 01, bus 02, gpu 1.00%").what == "a second bus in one line");
  CHECK(refuse(head + "bus 1ff, gpu 1.00%").column == 15);
  CHECK(refuse(head + " 1.00%").column == 15);
  CHECK(refuse(head + "vram 1.00% 5.00kg").column == 25);
  CHECK(refuse(head + "gpu 1.00%, ").column == 24);
  std::string many = head;
  for (int i = 0; i < 70; ++i) {
    many += (i == 0 ? "u" : ", u") + std::to_string(i) + " 0.00%";
  }
  CHECK(refuse(many).what == "more than 64 columns");
}

TEST_CASE("control characters in a bad line do not reach the message") {
  const BadCell bad = refuse("1700000000.1: gp\x1b[31mu");
  CHECK(bad.what.find('\x1b') == std::string::npos);
  CHECK(bad.what.find("\\x1b") != std::string::npos);
}

TEST_CASE("a dump is recognised by its time stamps") {
  CHECK(looks_like_dump_line("1700000000.1: bus c4, gpu 0.00%"));
  CHECK_FALSE(looks_like_dump_line("Dumping to -, until termination."));
  CHECK_FALSE(looks_like_dump_line("1000000042604,0x00003028"));
  CHECK_FALSE(looks_like_dump_line(""));
}

}  // namespace
}  // namespace gputrace::import
