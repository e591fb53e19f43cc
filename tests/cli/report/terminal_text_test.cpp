#include "cli/report/terminal_text.h"

#include <doctest/doctest.h>

using gputrace::report::clip;
using gputrace::report::display_width;
using gputrace::report::escape_for_terminal;
using gputrace::report::quote_command;
using gputrace::report::wrap;
using Lines = std::vector<std::string>;

TEST_CASE("printable UTF-8 passes, everything else is spelled out") {
  CHECK(escape_for_terminal("Ärger 日本 😀", false) == "Ärger 日本 😀");
  CHECK(escape_for_terminal("a\tb\x7f", false) == "a\\x09b\\x7f");
  CHECK(escape_for_terminal("\xc0\xaf", false) == "\\xc0\\xaf");           // overlong
  CHECK(escape_for_terminal("\xed\xa0\x80", false) == "\\xed\\xa0\\x80");  // surrogate
  CHECK(escape_for_terminal("\xf4\x90\x80\x80", false) == "\\xf4\\x90\\x80\\x80");
  CHECK(escape_for_terminal("\xe2\x82", false) == "\\xe2\\x82");  // cut short
  CHECK(escape_for_terminal("é", true) == "\\xc3\\xa9");
}

TEST_CASE("a command is quoted as a shell would want it") {
  CHECK(quote_command({"ls", "-l", "a b", "", "it's"}) == "ls -l 'a b' '' 'it'\\''s'");
}

TEST_CASE("width counts columns, not bytes") {
  CHECK(display_width("█▒░") == 3);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("한국 😀") == 7);
  CHECK(display_width("e\u0301") == 1);  // a combining accent
  CHECK(display_width("") == 0);
}

TEST_CASE("clipped text says that it was cut") {
  CHECK(clip("short", 5) == "short");
  CHECK(clip("longer", 5) == "lo...");
  CHECK(clip("█████", 4) == "█...");
  CHECK(clip("日本語日本語", 8) == "日本...");
}

TEST_CASE("text wraps at spaces, with an indent from the second line on") {
  CHECK(wrap("one two three", 8, 2) == Lines{"one two", "  three"});
  CHECK(wrap("", 8, 2) == Lines{""});
  CHECK(wrap("  key: value", 9, 4) == Lines{"  key:", "    value"});
}

TEST_CASE("a word longer than a line is broken") {
  CHECK(wrap("abcdefghij", 4, 1) == Lines{"abcd", " efg", " hij"});
  CHECK(wrap("x ██████", 4, 0) == Lines{"x", "████", "██"});
  CHECK(wrap("日本語", 5, 0) == Lines{"日本", "語"});
  CHECK(wrap("日本", 1, 0) == Lines{"日", "本", ""});
}
