#include "cli/commands/bench/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "cli/report/terminal_text.h"

namespace gputrace::commands {

namespace {

/// Seconds say too much of what is an estimate from here on.
constexpr double kInMinutesFromS = 120;
constexpr std::size_t kUsualColumns = 80;

std::string time_text(double seconds) {
  return seconds < kInMinutesFromS ? fmt::format("about {:.0f} s left", std::ceil(seconds))
                                   : fmt::format("about {:.0f} min left", std::ceil(seconds / 60));
}

/// One column less than the terminal has: a line that is full may wrap, and CR goes back one row.
std::size_t usable_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : kUsualColumns) - 1;
}

}  // namespace

std::string progress_text(const RunningTest& test, std::size_t done, std::size_t of,
                          double seconds_left) {
  std::string text = "gputrace: ";
  text += test.name;
  if (test.of > 1) {
    text += fmt::format(" ({} of {})", test.number, test.of);
  }
  std::string separator = test.name.empty() ? "" : ", ";
  if (done < of) {
    text += fmt::format("{}{} of {} points", separator, done, of);
    separator = ", ";
  }
  if (std::isfinite(seconds_left) && seconds_left >= 0) {
    text += separator + time_text(seconds_left);
  }
  return text;
}

ProgressLine::ProgressLine() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::begin_test(RunningTest test, double seconds_left) {
  test_ = std::move(test);
  print(progress_text(test_, 0, 0, seconds_left));
}

void ProgressLine::show(std::size_t done, std::size_t of, double seconds_left) {
  if (done >= of && test_.name.empty()) {
    clear();
    return;
  }
  print(progress_text(test_, done, of, seconds_left));
}

void ProgressLine::print(std::string_view text) {
  if (!on_terminal_) {
    return;
  }
  // Beginning of the line, text, erase what an earlier one left (ECMA-48: CR, EL).
  fmt::print(stderr, "\r{}\x1b[K", report::clip(text, usable_columns()));
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
