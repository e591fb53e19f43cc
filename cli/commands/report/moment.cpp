#include "cli/commands/report/moment.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include "cli/import/rfc3339.h"
#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

constexpr double kMaxAgoS = 1e9;  // 30 years

constexpr std::array<std::pair<std::string_view, double>, 17> kUnits{{
    {"s", 1},
    {"sec", 1},
    {"second", 1},
    {"seconds", 1},
    {"m", 60},
    {"min", 60},
    {"minute", 60},
    {"minutes", 60},
    {"h", 3600},
    {"hour", 3600},
    {"hours", 3600},
    {"d", 86400},
    {"day", 86400},
    {"days", 86400},
    {"w", 604800},
    {"week", 604800},
    {"weeks", 604800},
}};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    if (space != 0) {
      words.push_back(text.substr(0, space));
    }
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return words;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  int value = 0;
  if (text.size() < digits) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) {
      return std::nullopt;
    }
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char expected) {
  const bool there = !text.empty() && text.front() == expected;
  if (there) {
    text.remove_prefix(1);
  }
  return there;
}

/// "14:00", "9:30:15": seconds of the day.
std::optional<std::tm> parse_clock(std::string_view text) {
  std::tm clock{};
  const std::optional<int> hour = take_number(text, text.find(':') == 1 ? 1 : 2);
  const bool colon = take(text, ':');
  const std::optional<int> minute = take_number(text, 2);
  const std::optional<int> second = take(text, ':') ? take_number(text, 2) : std::optional(0);
  if (!hour || !colon || !minute || !second || !text.empty() || *hour > 23 || *minute > 59 ||
      *second > 59) {
    return std::nullopt;
  }
  clock.tm_hour = *hour;
  clock.tm_min = *minute;
  clock.tm_sec = *second;
  return clock;
}

/// "2026-11-30".
std::optional<std::tm> parse_date(std::string_view text) {
  std::tm date{};
  const std::optional<int> year = take_number(text, 4);
  const bool first = take(text, '-');
  const std::optional<int> month = take_number(text, 2);
  const bool second = take(text, '-');
  const std::optional<int> day = take_number(text, 2);
  if (!year || !first || !month || !second || !day || !text.empty() || *year < 1970 || *month < 1 ||
      *month > 12 || *day < 1 || *day > 31) {
    return std::nullopt;
  }
  date.tm_year = *year - 1900;
  date.tm_mon = *month - 1;
  date.tm_mday = *day;
  return date;
}

std::tm local_date(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / kNsPerSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

/// mktime(3) takes day 0 for the last of the month before, and finds out about summer time.
std::optional<std::int64_t> moment_of(const std::tm& date, int days_before, const std::tm& clock) {
  std::tm local{};
  local.tm_year = date.tm_year;
  local.tm_mon = date.tm_mon;
  local.tm_mday = date.tm_mday - days_before;
  local.tm_hour = clock.tm_hour;
  local.tm_min = clock.tm_min;
  local.tm_sec = clock.tm_sec;
  local.tm_isdst = -1;
  const std::time_t seconds = ::mktime(&local);
  const bool same_day = days_before > 0 || local.tm_mday == date.tm_mday;  // not 31 February
  return same_day ? std::optional(std::int64_t{seconds} * kNsPerSecond) : std::nullopt;
}

/// "2 h ago", "90min", "1.5 hours".
std::optional<std::int64_t> parse_ago(std::vector<std::string_view> words, std::int64_t now_ns) {
  if (words.size() > 1 && words.back() == "ago") {
    words.pop_back();
  }
  if (words.empty() || words.size() > 2 || !is_digit(words.front().front())) {
    return std::nullopt;
  }
  const std::string_view first = words.front();
  double count = 0;
  const auto [stop, error] =
      std::from_chars(first.data(), first.data() + first.size(), count, std::chars_format::fixed);
  const auto rest = first.substr(static_cast<std::size_t>(stop - first.data()));
  if (error != std::errc() || rest.empty() == (words.size() == 1)) {
    return std::nullopt;
  }
  const std::string_view unit = rest.empty() ? words.back() : rest;
  for (const auto& [name, seconds] : kUnits) {
    if (name == unit && count * seconds <= kMaxAgoS) {
      return now_ns - static_cast<std::int64_t>(count * seconds * 1e9);
    }
  }
  return std::nullopt;
}

/// "14:00", "today 14:00", "yesterday", "2026-11-30 14:00:00".
std::optional<std::int64_t> parse_local(const std::vector<std::string_view>& words,
                                        std::int64_t now_ns) {
  if (words.empty() || words.size() > 2) {
    return std::nullopt;
  }
  const std::tm today = local_date(now_ns);
  if (words.size() == 1) {
    if (const std::optional<std::tm> clock = parse_clock(words.front())) {
      const std::optional<std::int64_t> moment = moment_of(today, 0, *clock);
      return moment && *moment > now_ns ? moment_of(today, 1, *clock) : moment;
    }
  }
  const std::optional<std::tm> clock =
      words.size() == 1 ? std::optional(std::tm{}) : parse_clock(words.back());
  if (!clock) {
    return std::nullopt;
  }
  if (words.front() == "today" || words.front() == "yesterday") {
    return moment_of(today, words.front() == "yesterday" ? 1 : 0, *clock);
  }
  const std::optional<std::tm> date = parse_date(words.front());
  return date ? moment_of(*date, 0, *clock) : std::nullopt;
}

}  // namespace

Result<std::int64_t> parse_moment(std::string_view option, std::string_view text,
                                  std::int64_t now_ns) {
  const std::vector<std::string_view> words = words_of(text);
  std::optional<std::int64_t> moment = import::parse_rfc3339(text);
  if (!moment) {
    moment = parse_ago(words, now_ns);
  }
  if (!moment) {
    moment = parse_local(words, now_ns);
  }
  if (!moment) {
    return fail(ErrorCode::kUsage,
                fmt::format("{} wants a time such as '2 h ago', '14:00', 'yesterday 14:00', "
                            "'2026-11-30 14:00' or '2026-11-30T14:00:00Z', not '{}'",
                            option, text));
  }
  if (*moment >= now_ns) {
    return fail(ErrorCode::kUsage, fmt::format("{} '{}' is not in the past", option, text));
  }
  return *moment;
}

}  // namespace gputrace::commands
