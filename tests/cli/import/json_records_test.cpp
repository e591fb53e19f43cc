#include "cli/import/json_records.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gputrace::import {
namespace {

struct Found {
  std::string text;
  std::uint64_t line = 0;
  std::size_t column = 0;
  std::string problem;
};

std::vector<Found> records_in(std::string_view text, std::size_t bytes_a_read = 4096) {
  LineReader input(
      [text, bytes_a_read](std::span<char> buffer) mutable -> Result<std::size_t> {
        const std::size_t size = std::min({text.size(), buffer.size(), bytes_a_read});
        std::copy_n(text.begin(), size, buffer.begin());
        text.remove_prefix(size);
        return size;
      },
      "input");
  JsonRecords records(input);
  std::vector<Found> found;
  JsonRecord record;
  for (;;) {
    const Result<bool> more = records.next(record);
    REQUIRE(more);
    if (!*more) {
      return found;
    }
    found.push_back(
        {std::string(record.text), record.line, record.column, std::string(record.problem)});
  }
}

TEST_CASE("objects are found in lines, in arrays and one after the other, however they are read") {
  for (const std::size_t bytes : {1U, 7U, 4096U}) {
    for (const std::string text :
         {"{\"a\":1}\n{\"b\":[2]}\n", "[{\"a\":1},{\"b\":[2]}]", "{\"a\":1}{\"b\":[2]}",
          " [\n{\"a\":1} ,\n\n{\"b\":[2]}\n]\n", "\xef\xbb\xbf{\"a\":1}\r\n{\"b\":[2]}\r\n"}) {
      CAPTURE(text);
      const auto found = records_in(text, bytes);
      REQUIRE(found.size() == 2);
      CHECK(found[0].text == "{\"a\":1}");
      CHECK(found[1].text == "{\"b\":[2]}");
      CHECK(found[1].problem.empty());
    }
  }
}

TEST_CASE("braces and quotes in strings do not end an object") {
  const auto found = records_in(R"({"a":"}\"{[","b\\":"]"}{"c":1})");
  REQUIRE(found.size() == 2);
  CHECK(found[0].text == R"({"a":"}\"{[","b\\":"]"})");
}

TEST_CASE("each object has the line and column where it begins") {
  const auto found = records_in("[\n  {\"a\":\n1},\n   {\"b\":2}]");
  REQUIRE(found.size() == 2);
  CHECK(found[0].line == 2);
  CHECK(found[0].column == 3);
  CHECK(found[1].line == 4);
  CHECK(found[1].column == 4);
}

TEST_CASE("a cut object ends with its line where each object has its own") {
  const auto found = records_in("{\"a\":1}\n{\"b\":\n{\"c\":3}\n");
  REQUIRE(found.size() == 3);
  CHECK(found[1].problem == "the object does not end on its line");
  CHECK(found[2].text == "{\"c\":3}");
}

TEST_CASE("text that is none, a cut end, and what is too deep or too large are said") {
  CHECK(records_in("hello\n{\"a\":1}\n").at(0).problem == "this is no JSON object");
  CHECK(records_in("hello\n{\"a\":1}\n").at(1).problem.empty());
  CHECK(records_in("{\"a\":").at(0).problem ==
        "the file ends in the middle of the object that begins here");
  CHECK(records_in("{\"a\":" + std::string(80, '[') + std::string(80, ']') + "}").at(0).problem ==
        "the object is nested too deep");
  const auto large = records_in("{\"a\":\"" + std::string(kMaxJsonRecord, 'x') + "\"}{\"b\":1}");
  REQUIRE(large.size() == 2);
  CHECK(large[0].problem == "the object is too large");
  CHECK(large[1].problem.empty());
}

TEST_CASE("nothing but blanks and brackets has no object") {
  CHECK(records_in("").empty());
  CHECK(records_in(" \n[ ]\n").empty());
}

}  // namespace
}  // namespace gputrace::import
