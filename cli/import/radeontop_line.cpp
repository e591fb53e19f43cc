#include "cli/import/radeontop_line.h"

#include <fmt/format.h>

#include <array>

#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

// dump.c prints "%llu.%llu: " of a timeval: the number behind the point counts microseconds and is
// not padded, so .84311 is 0.084311 s.
constexpr std::uint32_t kMicrosPerSecond = 1'000'000;
/// Beyond it nanoseconds would come near the end of int64 (the year 2116).
constexpr std::uint64_t kMaxSeconds = 4'600'000'000;

constexpr std::array<std::string_view, 2> kUnits = {"mb", "ghz"};

std::optional<BadCell> parse_time(std::string_view text, std::int64_t& out) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) {
    return BadCell{1, excerpt(text) + " is not a time such as 1633822326.719547"};
  }
  const auto seconds = parse_number<std::uint64_t>(text.substr(0, point));
  if (!seconds || *seconds > kMaxSeconds) {
    return BadCell{1, excerpt(text.substr(0, point)) + " is not a number of seconds since 1970"};
  }
  const auto micros = parse_number<std::uint32_t>(text.substr(point + 1));
  if (!micros || *micros >= kMicrosPerSecond) {
    return BadCell{point + 2, excerpt(text.substr(point + 1)) + " is not a number of microseconds"};
  }
  out = static_cast<std::int64_t>(*seconds) * kNsPerSecond +
        static_cast<std::int64_t>(*micros) * 1000;
  return std::nullopt;
}

std::optional<BadCell> parse_bus(std::string_view digits, std::size_t offset, DumpLine& out) {
  std::uint8_t bus = 0;
  const auto [next, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bus, 16);
  if (error != std::errc{} || next != digits.data() + digits.size() || digits.size() != 2) {
    return BadCell{offset + 1, excerpt(digits) + " is not a PCI bus in two hexadecimal digits"};
  }
  if (out.bus) {
    return BadCell{offset + 1, "a second bus in one line"};
  }
  out.bus = bus;
  return std::nullopt;
}

/// "153.66mb", "0.875ghz". The number may be anything, "-nan" too: radeontop divides by totals that
/// a driver reports as 0, and these columns are not imported.
bool is_quantity(std::string_view text) {
  for (const std::string_view unit : kUnits) {
    if (text.ends_with(unit)) {
      return parse_number<double>(text.substr(0, text.size() - unit.size())).has_value();
    }
  }
  return false;
}

/// `text` is "NAME P%" or "NAME P% AMOUNT" and begins at `offset` of its line.
std::optional<BadCell> parse_column(std::string_view text, std::size_t offset, DumpLine& out) {
  const std::size_t blank = text.find(' ');
  const std::size_t sign = text.find('%');
  if (blank == std::string_view::npos || blank == 0 || sign == std::string_view::npos ||
      sign < blank) {
    return BadCell{offset + 1, excerpt(text) + " is not a column such as 'gpu 14.17%'"};
  }
  const std::string_view name = text.substr(0, blank);
  const std::string_view number = text.substr(blank + 1, sign - blank - 1);
  const std::size_t number_column = offset + blank + 2;
  const auto percent = parse_number<double>(number);
  if (!percent) {
    return BadCell{number_column, excerpt(number) + " is not a number"};
  }
  const std::string_view rest = text.substr(sign + 1);
  if (!rest.empty()) {
    if (rest.front() != ' ' || !is_quantity(rest.substr(1))) {
      return BadCell{offset + sign + 2,
                     excerpt(rest) + " is not an amount such as '153.66mb' or '0.875ghz'"};
    }
    out.quantity.push_back(name);
    return std::nullopt;
  }
  if (!(*percent >= 0 && *percent <= 100)) {  // refuses NaN too
    return BadCell{number_column, excerpt(number) + " is not a percentage from 0 to 100"};
  }
  for (const DumpColumn& other : out.busy) {
    if (other.name == name) {
      return BadCell{offset + 1, "a second column " + excerpt(name)};
    }
  }
  out.busy.push_back({name, *percent, offset});
  return std::nullopt;
}

}  // namespace

std::optional<BadCell> parse_dump_line(std::string_view line, DumpLine& out) {
  constexpr std::string_view kBus = "bus ";
  constexpr std::string_view kSeparator = ", ";
  // radeontop prints at most 20 columns; the limit keeps the search for doubles short.
  constexpr std::size_t kMaxColumns = 64;
  out.bus.reset();
  out.busy.clear();
  out.quantity.clear();
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  const std::size_t colon = line.find(": ");
  if (auto bad = parse_time(line.substr(0, colon), out.realtime_ns)) {
    return bad;
  }
  if (colon == std::string_view::npos) {
    return BadCell{line.size() + 1, "the line ends after its time"};
  }
  std::size_t offset = colon + 2;
  for (std::size_t columns = 0;; ++columns) {
    if (columns == kMaxColumns) {
      return BadCell{offset + 1, fmt::format("more than {} columns", kMaxColumns)};
    }
    const std::size_t end = line.find(kSeparator, offset);
    const std::string_view item = line.substr(offset, end - offset);
    auto bad = item.starts_with(kBus) ? parse_bus(item.substr(kBus.size()), offset, out)
                                      : parse_column(item, offset, out);
    if (bad) {
      return bad;
    }
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    offset = end + kSeparator.size();
  }
}

bool looks_like_dump_line(std::string_view line) {
  std::int64_t ignored = 0;
  const std::size_t colon = line.find(": ");
  return colon != std::string_view::npos && !parse_time(line.substr(0, colon), ignored);
}

}  // namespace gputrace::import
