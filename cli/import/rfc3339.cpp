#include "cli/import/rfc3339.h"

#include <chrono>

#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

/// Takes characters off the front of a text; after the first misfit everything fails.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return ok_ && text_.empty(); }

  bool accept(std::string_view any_of) {
    const bool found = !text_.empty() && any_of.find(text_.front()) != std::string_view::npos;
    if (found) {
      text_.remove_prefix(1);
    }
    return found;
  }
  void expect(std::string_view any_of) { ok_ = accept(any_of) && ok_; }

  /// Exactly `count` digits whose value is at most `maximum`.
  int digits(int count, int maximum) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      value = value * 10 + digit();
    }
    ok_ = ok_ && value <= maximum;
    return value;
  }
  /// Any number of decimals, at least one, in nanoseconds.
  std::int64_t fraction_ns() {
    std::int64_t scale = kNsPerSecond / 10;
    std::int64_t value = digit() * scale;
    while (at_digit()) {
      scale /= 10;
      value += digit() * scale;
    }
    return value;
  }

 private:
  [[nodiscard]] bool at_digit() const {
    return !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
  }
  int digit() {
    if (!at_digit()) {
      ok_ = false;
      return 0;
    }
    const int value = text_.front() - '0';
    text_.remove_prefix(1);
    return value;
  }

  std::string_view text_;
  bool ok_ = true;
};

std::int64_t offset_minutes(Cursor& cursor) {
  if (cursor.accept("Zz")) {
    return 0;
  }
  const bool west = cursor.accept("-");
  if (!west) {
    cursor.expect("+");
  }
  const int hours = cursor.digits(2, 23);
  cursor.expect(":");
  const int minutes = hours * 60 + cursor.digits(2, 59);
  return west ? -minutes : minutes;
}

}  // namespace

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  Cursor cursor(text);
  const int year = cursor.digits(4, 2100);
  cursor.expect("-");
  const int month = cursor.digits(2, 12);
  cursor.expect("-");
  const int day = cursor.digits(2, 31);
  cursor.expect("Tt ");
  const int hour = cursor.digits(2, 23);
  cursor.expect(":");
  const int minute = cursor.digits(2, 59);
  cursor.expect(":");
  const int second = cursor.digits(2, 60);
  const std::int64_t fraction = cursor.accept(".") ? cursor.fraction_ns() : 0;
  const std::int64_t offset = offset_minutes(cursor);
  const std::chrono::year_month_day date(std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)});
  if (!cursor.at_end() || year < 1970 || !date.ok()) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * kNsPerSecond + fraction;
}

}  // namespace gputrace::import
