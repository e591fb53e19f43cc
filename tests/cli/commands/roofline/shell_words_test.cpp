#include "cli/commands/roofline/shell_words.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <utility>

#include "tests/support/error_text.h"
#include "tests/support/program.h"

namespace gputrace {
namespace {

using commands::quote_for_shell;
using commands::split_shell_words;
using Words = std::vector<std::string>;

TEST_CASE("words are cut where a shell cuts them") {
  const std::pair<const char*, Words> cases[] = {
      {"ryzenadj --stapm-limit={watts}000", {"ryzenadj", "--stapm-limit={watts}000"}},
      {"  a \t b\n c  ", {"a", "b", "c"}},
      {"'a b' c", {"a b", "c"}},
      {"a'b c'd", {"ab cd"}},
      {"\"a b\"c 'd'\"e\"", {"a bc", "de"}},
      {"a\\ b \\'c \\\\", {"a b", "'c", "\\"}},
      {"\"a\\\"b\" \"c\\d\" \"\\$x\"", {"a\"b", "c\\d", "$x"}},
      {"'\\' '$x | y'", {"\\", "$x | y"}},
      {"'' \"\" a", {"", "", "a"}},
      {"a#b x~ k=v", {"a#b", "x~", "k=v"}},
  };
  for (const auto& [line, words] : cases) {
    CAPTURE(line);
    const auto split = split_shell_words(line);
    REQUIRE(split);
    CHECK(*split == words);
    // What /bin/sh makes of the same line.
    const auto shell = test::Program({"/bin/sh", "-c",
                                      std::string("printf '%s|' ") +
                                          [&] {
                                            std::string flat = line;
                                            for (char& c : flat) {
                                              c = c == '\n' ? ' ' : c;
                                            }
                                            return flat;
                                          }()})
                           .finish();
    std::string joined;
    for (const std::string& word : words) {
      joined += word + '|';
    }
    CHECK(shell.out == joined);
  }
}

TEST_CASE("what only a shell can do is refused by its character") {
  for (const char* line : {"a | b", "a; b", "a && b", "a > f", "echo $HOME", "echo \"$HOME\"",
                           "echo `id`", "ls *.c", "ls ?", "ls [a]", "(a)", "~/bin/set", "# a"}) {
    CAPTURE(line);
    const auto split = split_shell_words(line);
    REQUIRE_FALSE(split);
    CHECK(split.error().code == ErrorCode::kUsage);
    CHECK(split.error().message.find("shell") != std::string::npos);
  }
}

TEST_CASE("open quotes, a last backslash and empty lines are refused") {
  for (const char* line : {"'a", "\"a", "\"a\\\"", "a\\", "", " \t"}) {
    CAPTURE(line);
    CHECK_FALSE(split_shell_words(line).has_value());
  }
}

TEST_CASE("quoted words come back as they were") {
  const Words words = {"sudo", "a b", "", "it's", "$x", "\\", "{watts}", "--x=1,5%"};
  const auto back = split_shell_words(quote_for_shell(words));
  REQUIRE(back);
  CHECK(*back == words);
  CHECK(quote_for_shell({"sudo", "ryzenadj", "--stapm-limit=15000"}) ==
        "sudo ryzenadj --stapm-limit=15000");
}

}  // namespace
}  // namespace gputrace
