#include "cli/commands/doctor/doctor_text.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "daemon/base/result.h"

namespace gputrace::commands {

TEST_CASE("rows stand in columns, wrap beside their name, and hold no control characters") {
  std::string text;
  append_row(text, Mark::kOk, "kernel", "Linux 6.12\x1b[31m");
  append_row(text, Mark::kAbout, "device",
             "one two three four five six seven eight nine ten eleven twelve thirteen fourteen");
  append_detail(text, "fix", "do it");
  append_detail(text, "costs", "");
  CHECK(text ==
        "  ok      kernel                      Linux 6.12\\x1b[31m\n"
        "          device                      one two three four five six seven eight\n"
        "                                      nine ten eleven twelve thirteen fourteen\n"
        "            fix: do it\n");
}

TEST_CASE("a message is split from the advice that follows it") {
  const SplitMessage split = split_advice("cannot open /dev/x.y: no. `sudo it`, then log in again");
  CHECK(split.reason == "cannot open /dev/x.y: no");
  CHECK(split.fix == "`sudo it`, then log in again");
  CHECK(split_advice("only a reason").fix.empty());
}

TEST_CASE("the errno of a message is found by its text") {
  CHECK(errno_of(error_from_errno(EACCES, "cannot open x").message + ". Do this") == EACCES);
  CHECK(errno_of(error_from_errno(EINVAL, "cannot read x").message) == EINVAL);
  CHECK(errno_of("it is asleep") == 0);
}

TEST_CASE("durations take the unit that fits") {
  CHECK(duration_text(900) == "0.9 us");
  CHECK(duration_text(57'300) == "57 us");
  CHECK(duration_text(1'240'000) == "1.2 ms");
}

}  // namespace gputrace::commands
