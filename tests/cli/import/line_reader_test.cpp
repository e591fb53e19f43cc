#include "cli/import/line_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace gputrace::import {
namespace {

struct OwnedLine {
  std::string text;
  bool terminated = true;
  bool too_long = false;
};

std::vector<OwnedLine> read_all(LineReader& reader) {
  std::vector<OwnedLine> lines;
  Line line;
  for (;;) {
    const Result<bool> more = reader.next(line);
    REQUIRE(more.has_value());
    if (!*more) {
      return lines;
    }
    CHECK(line.number == lines.size() + 1);
    lines.push_back({std::string(line.text), line.terminated, line.too_long});
  }
}

/// Hands out `text` in pieces of random size, as a pipe does.
LineReader::ReadBytes read_in_pieces(std::string_view text, std::size_t largest) {
  return [text, largest,
          random = std::mt19937(7)](std::span<char> buffer) mutable -> Result<std::size_t> {
    const std::size_t size =
        std::min({text.size(), buffer.size(), std::size_t{1} + random() % largest});
    std::copy_n(text.begin(), size, buffer.begin());
    text.remove_prefix(size);
    return size;
  };
}

TEST_CASE("lines come one by one, and the last one may lack its line end") {
  LineReader reader(read_memory("one\n\nthree"), "x");
  const auto lines = read_all(reader);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].text == "one");
  CHECK(lines[0].terminated);
  CHECK(lines[1].text.empty());
  CHECK(lines[2].text == "three");
  CHECK_FALSE(lines[2].terminated);
}

TEST_CASE("an input that ends with a line end has no empty line behind it") {
  LineReader reader(read_memory("one\n"), "x");
  CHECK(read_all(reader).size() == 1);
  LineReader empty(read_memory(""), "x");
  CHECK(read_all(empty).empty());
}

TEST_CASE("NUL bytes are part of a line") {
  using namespace std::string_view_literals;
  LineReader reader(read_memory("a\0b\n"sv), "x");
  CHECK(read_all(reader).at(0).text == "a\0b"sv);
}

TEST_CASE("a line of any length costs one line, not memory") {
  const std::string longest(kMaxLineLength, 'a');
  const std::string too_long(3'000'000, 'b');
  const std::string text = longest + "\n" + too_long + "\nnext\n" + too_long;
  for (const std::size_t piece : {std::size_t{1} << 20U, std::size_t{70'001}}) {
    LineReader reader(read_in_pieces(text, piece), "x");
    const auto lines = read_all(reader);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].text == longest);
    CHECK_FALSE(lines[0].too_long);
    CHECK(lines[1].too_long);
    CHECK(lines[1].text == too_long.substr(0, kMaxLineLength));
    CHECK(lines[2].text == "next");
    CHECK(lines[3].too_long);
    CHECK_FALSE(lines[3].terminated);
  }
}

TEST_CASE("however the bytes arrive, the lines are the same") {
  std::string text;
  std::vector<std::string> expected;
  std::mt19937 random(11);
  for (int i = 0; i < 20'000; ++i) {
    expected.emplace_back(random() % 200, static_cast<char>('a' + i % 26));
    text += expected.back() + "\n";
  }
  LineReader reader(read_in_pieces(text, 5'000), "x");
  const auto lines = read_all(reader);
  REQUIRE(lines.size() == expected.size());
  CHECK(
      std::equal(lines.begin(), lines.end(), expected.begin(),
                 [](const OwnedLine& line, const std::string& want) { return line.text == want; }));
}

TEST_CASE("looking ahead takes nothing away") {
  LineReader reader(read_in_pieces("first\nsecond\n", 3), "x");
  const auto ahead = reader.peek();
  REQUIRE(ahead.has_value());
  CHECK(*ahead == "first\nsecond\n");
  CHECK(read_all(reader).size() == 2);
}

TEST_CASE("an error of the input ends the reading") {
  LineReader reader(
      [](std::span<char>) -> Result<std::size_t> {
        return fail(ErrorCode::kIo, "cannot read x: Input/output error");
      },
      "x");
  Line line;
  const Result<bool> more = reader.next(line);
  REQUIRE_FALSE(more.has_value());
  CHECK(more.error().message == "cannot read x: Input/output error");
}

TEST_CASE("a read that the system refuses says why") {
  const auto read = read_descriptor(-1, "x", [] { return false; });
  std::array<char, 8> buffer{};
  const auto got = read(buffer);
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().message == "cannot read x: Bad file descriptor");
}

}  // namespace
}  // namespace gputrace::import
