#include "cli/commands/doctor/doctor_text.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "cli/report/terminal_text.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kNameColumn = 10;
constexpr std::size_t kWordsColumn = 38;
constexpr std::size_t kDetailColumn = 12;

void append_wrapped(std::string& text, std::string_view words, std::size_t indent) {
  for (const std::string& line : report::wrap(words, kWidth, indent)) {
    text += line + "\n";
  }
}

}  // namespace

std::string_view word_of(Mark mark) {
  switch (mark) {
    case Mark::kOk:
      return "ok";
    case Mark::kLimited:
      return "limited";
    case Mark::kNo:
      return "no";
    case Mark::kNone:
      return "none";
    case Mark::kAsleep:
      return "asleep";
    case Mark::kBroken:
      return "broken";
    case Mark::kAbout:
      break;
  }
  return "";
}

Mark mark_of(os::SourceState state) {
  switch (state) {
    case os::SourceState::kWorks:
      return Mark::kOk;
    case os::SourceState::kAbsent:
      return Mark::kNone;
    case os::SourceState::kRefused:
      return Mark::kNo;
    case os::SourceState::kBroken:
      return Mark::kBroken;
    case os::SourceState::kAsleep:
      break;
  }
  return Mark::kAsleep;
}

void append_row(std::string& text, Mark mark, std::string_view name, std::string_view words) {
  append_wrapped(text,
                 fmt::format("  {:<{}}{:<{}}{}", word_of(mark), kNameColumn - 2,
                             report::escape_for_terminal(name, false) + " ",
                             kWordsColumn - kNameColumn, report::escape_for_terminal(words, false)),
                 kWordsColumn);
}

void append_detail(std::string& text, std::string_view label, std::string_view words) {
  if (!words.empty()) {
    append_wrapped(text,
                   fmt::format("{:{}}{}: {}", "", kDetailColumn, label,
                               report::escape_for_terminal(words, false)),
                   kDetailColumn + 2);
  }
}

void append_line(std::string& text, std::string_view words, std::size_t indent) {
  append_wrapped(text, words, indent);
}

std::string duration_text(std::int64_t ns) {
  const auto us = static_cast<double>(ns) / 1000;
  if (us >= 1000) {
    return fmt::format("{:.1f} ms", us / 1000);
  }
  return us >= 10 ? fmt::format("{:.0f} us", us) : fmt::format("{:.1f} us", us);
}

SplitMessage split_advice(std::string_view message) {
  const std::size_t end = message.find(". ");
  if (end == std::string_view::npos) {
    return {std::string(message), ""};
  }
  return {std::string(message.substr(0, end)), std::string(message.substr(end + 2))};
}

int errno_of(std::string_view message) {
  constexpr std::array kKnown{EPERM,  EACCES, ENOENT, ENODEV, ENXIO, EIO,        EBUSY, EINVAL,
                              EFAULT, ENOTTY, EMFILE, ENOMEM, ETIME, EOPNOTSUPP, ENOSYS};
  for (const int number : kKnown) {
    if (message.find(error_from_errno(number, "").message) != std::string_view::npos) {
      return number;
    }
  }
  return 0;
}

}  // namespace gputrace::commands
