#include "regdb/metrics_tables.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "daemon/base/result.h"

namespace gputrace::regdb {
namespace {

using Words = std::vector<std::string_view>;

Words split_words(std::string_view line) {
  Words words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(begin);
    const std::size_t length = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

/// All that follows the first `count` words.
std::string_view rest_after(std::string_view line, std::size_t count) {
  for (; count > 0; --count) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line.remove_prefix(std::min(line.find(' '), line.size()));
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  GPUTRACE_CHECK(error == std::errc{} && end == text.data() + text.size());
  return value;
}

GcVersion version(std::string_view text) {
  const auto parsed = parse_gc_version(text);
  GPUTRACE_CHECK(parsed.has_value());
  return *parsed;
}

/// "2.x" or "2.1": the major number.
std::uint8_t format_of(std::string_view text) {
  return static_cast<std::uint8_t>(number(text.substr(0, text.find('.'))));
}

/// Absent of "2.x".
std::optional<std::uint8_t> content_of(std::string_view text) {
  const std::string_view content = text.substr(text.find('.') + 1);
  return content == "x" ? std::nullopt : std::optional(static_cast<std::uint8_t>(number(content)));
}

void set_unit(MetricsField& field, std::string_view text) {
  struct Unit {
    std::string_view raw;
    double scale;
    std::string_view value;
  };
  static constexpr std::array<Unit, 23> kUnits{{
      {"C", 1, "C"},
      {"W", 1, "W"},
      {"mW", 0.001, "W"},
      {"J/65536", 1.0 / 65536, "J"},
      {"%", 1, "%"},
      {"MHz", 1, "MHz"},
      {"centi-percent", 0.01, "%"},
      {"mV", 0.001, "V"},
      {"mA", 0.001, "A"},
      {"RPM", 1, "RPM"},
      {"MB/s", 1e6, "bytes/s"},
      {"KiB", 1024, "bytes"},
      {"bits", 1, "bits"},
      {"count", 1, "count"},
      {"%sum", 1, "%sum"},
      {"ns", 1, "ns"},
      {"10ns", 10, "ns"},
      {"us", 1, "us"},
      {"GB/s", 1, "GB/s"},
      {"Gbps", 1, "Gbit/s"},
      {"0.1GT/s", 0.1, "GT/s"},
      {"lanes", 1, "lanes"},
      {"flag", 1, "flag"},
  }};
  field.zero_is_absent = text.ends_with('!');
  field.unit = text.substr(0, text.size() - (field.zero_is_absent ? 1 : 0));
  for (const Unit& unit : kUnits) {
    if (unit.raw == field.unit) {
      field.scale = unit.scale;
      field.value_unit = unit.value;
      return;
    }
  }
  if (field.unit == "raw") {
    field.value_unit = "raw";
    return;
  }
  GPUTRACE_CHECK(field.unit == "activity" || field.unit == "power" || field.unit == "temperature");
}

/// OFFSET TYPE NAME UNIT SERIES [MEANING]
MetricsField parse_field(std::string_view line, const Words& words) {
  GPUTRACE_CHECK(words.size() >= 5);
  MetricsField field;
  field.offset = number(words[0]);
  const std::size_t times = words[1].find('x');
  field.width = number(words[1].substr(1, times == std::string_view::npos ? times : times - 1)) / 8;
  field.count = times == std::string_view::npos ? 1 : number(words[1].substr(times + 1));
  field.name = words[2];
  set_unit(field, words[3]);
  field.sensor = words[4] == "-" ? std::string_view() : words[4];
  field.meaning = rest_after(line, 5);
  return field;
}

/// "any", or two versions; moves `at` behind them.
GcRange parse_range(const Words& words, std::size_t& at) {
  if (words.at(at) == "any") {
    ++at;
    return {};
  }
  const GcRange range{version(words.at(at)), version(words.at(at + 1))};
  at += 2;
  return range;
}

ThrottleGroup parse_group(std::string_view text) {
  for (const ThrottleGroup group : {ThrottleGroup::kPower, ThrottleGroup::kCurrent,
                                    ThrottleGroup::kTemperature, ThrottleGroup::kOther}) {
    if (text == to_string(group)) {
      return group;
    }
  }
  GPUTRACE_CHECK(false);
  return ThrottleGroup::kOther;
}

void parse_line(std::string_view line, MetricsTables& tables) {
  const Words words = split_words(line);
  const std::string_view keyword = words.front();
  if (keyword == "table") {
    MetricsLayout& layout = tables.layouts.emplace_back();
    layout.format = format_of(words.at(1));
    layout.content = content_of(words.at(1)).value_or(0);
  } else if (keyword == "size") {
    tables.layouts.back().size = number(words.at(1));
  } else if (keyword == "unit") {
    UnitRule& rule = tables.units.emplace_back();
    rule.quantity = words.at(1);
    rule.format = format_of(words.at(2));
    rule.content = content_of(words.at(2));
    std::size_t at = 3;
    rule.range = parse_range(words, at);
    rule.unit = words.at(at);
    rule.why = rest_after(line, at + 1);
  } else if (keyword == "unrecorded") {
    UnrecordedRule& rule = tables.unrecorded.emplace_back();
    rule.format = format_of(words.at(1));
    std::size_t at = 2;
    rule.range = parse_range(words, at);
    rule.field = words.at(at);
    rule.why = rest_after(line, at + 1);
  } else if (keyword == "list") {
    ThrottleList& list = tables.throttle.emplace_back();
    for (std::size_t at = 1; at < words.size() && words[at] != "independent";) {
      list.ranges.push_back(parse_range(words, at));
    }
  } else if (!tables.throttle.empty()) {
    GPUTRACE_CHECK(words.size() == 3);
    tables.throttle.back().bits.push_back({.bit = static_cast<unsigned>(number(words[0])),
                                           .name = std::string(words[1]),
                                           .group = parse_group(words[2])});
  } else {
    tables.layouts.back().fields.push_back(parse_field(line, words));
  }
}

MetricsTables parse_all() {
  MetricsTables all;
  for (const auto& [name, text] : embedded_metrics_files()) {
    MetricsTables file;  // so that one file's lines cannot end up in another's table
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t length = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, length);
      rest.remove_prefix(std::min(length + 1, rest.size()));
      if (!line.empty() && line.front() != '#') {
        parse_line(line, file);
      }
    }
    const auto move_into = [](auto& from, auto& to) {
      std::move(from.begin(), from.end(), std::back_inserter(to));
    };
    move_into(file.layouts, all.layouts);
    move_into(file.units, all.units);
    move_into(file.unrecorded, all.unrecorded);
    move_into(file.throttle, all.throttle);
  }
  return all;
}

}  // namespace

bool GcRange::contains(const std::optional<GcVersion>& gc) const {
  return !first || (gc && *first <= *gc && gc <= last);
}

const MetricsTables& metrics_tables() {
  static const MetricsTables kTables = parse_all();
  return kTables;
}

}  // namespace gputrace::regdb
