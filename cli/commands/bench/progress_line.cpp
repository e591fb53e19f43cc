#include "cli/commands/bench/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace gputrace::commands {

ProgressLine::ProgressLine() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::size_t done, std::size_t of, double seconds_left) {
  if (!on_terminal_) {
    return;
  }
  const bool known = std::isfinite(seconds_left) && seconds_left >= 0;
  // Beginning of the line, text, erase what an earlier one left (ECMA-48: CR, EL).
  fmt::print(
      stderr, "\rgputrace: {} of {} points{}\x1b[K", done, of,
      known && done < of ? fmt::format(", about {:.0f} s left", std::ceil(seconds_left)) : "");
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
    shown_ = false;
  }
}

}  // namespace gputrace::commands
