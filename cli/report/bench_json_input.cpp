#include "cli/report/bench_json_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/bench_json.h"

namespace gputrace::report {
namespace {

using Json = nlohmann::json;
using analysis::BenchPoint;
using analysis::BenchRun;
using analysis::BenchSeries;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

/// No test has so many; a file of anybody's may say so.
constexpr std::size_t kMostPoints = 100'000;

/// Thrown and caught in this file alone, as the library's own exceptions are.
struct WrongType {
  std::string what;
};

const Json& at(const Json& json, const char* key) {
  static const Json kNothing;
  if (!json.is_object()) {
    throw WrongType{fmt::format("what holds '{}' is no object", key)};
  }
  const auto found = json.find(key);
  return found == json.end() ? kNothing : *found;
}

std::string text_at(const Json& json, const char* key) {
  const Json& value = at(json, key);
  if (value.is_null()) {
    return "";
  }
  if (!value.is_string()) {
    throw WrongType{fmt::format("'{}' is no text", key)};
  }
  return value.get<std::string>();
}

bool flag_at(const Json& json, const char* key) {
  const Json& value = at(json, key);
  if (!value.is_null() && !value.is_boolean()) {
    throw WrongType{fmt::format("'{}' is neither true nor false", key)};
  }
  return value.is_boolean() && value.get<bool>();
}

std::optional<double> number_of(const Json& value, const char* key) {
  if (value.is_null()) {
    return std::nullopt;
  }
  if (!value.is_number()) {
    throw WrongType{fmt::format("'{}' is no number", key)};
  }
  return value.get<double>();
}

std::optional<double> number_at(const Json& json, const char* key) {
  return number_of(at(json, key), key);
}

std::optional<std::int64_t> time_of(const Json& value, const char* key) {
  if (value.is_null()) {
    return std::nullopt;
  }
  if (!value.is_number_integer()) {
    throw WrongType{fmt::format("'{}' is no whole number", key)};
  }
  return value.get<std::int64_t>();
}

/// Empty where there is none.
const Json& list_at(const Json& json, const char* key) {
  static const Json kEmpty = Json::array();
  const Json& value = at(json, key);
  if (value.is_null()) {
    return kEmpty;
  }
  if (!value.is_array() || value.size() > kMostPoints) {
    throw WrongType{fmt::format("'{}' is no list, or far too long", key)};
  }
  return value;
}

TestStatus status_of(const std::string& name) {
  for (const TestStatus status :
       {TestStatus::kOk, TestStatus::kSkipped, TestStatus::kSuspect, TestStatus::kFailed}) {
    if (status_name(status) == name) {
      return status;
    }
  }
  throw WrongType{fmt::format("'{}' is no status", name)};
}

Proof proof_at(const Json& json, const char* key) {
  const std::string word = text_at(json, key);
  if (!word.empty() && word != "passed" && word != "failed") {
    throw WrongType{fmt::format("'{}' is no outcome of a proof", word)};
  }
  return word.empty() ? Proof::kNotDone : word == "passed" ? Proof::kPassed : Proof::kFailed;
}

/// Element `i` of the list of that name; null where the list is shorter or missing.
const Json& element(const Json& series, const char* key, std::size_t i) {
  static const Json kNothing;
  const Json& list = list_at(series, key);
  return i < list.size() ? list[i] : kNothing;
}

std::optional<BenchPoint> read_point(const Json& series, std::size_t i, double x) {
  const Json& status = element(series, "status", i);
  if (status.is_null()) {
    return std::nullopt;  // the series has no point there
  }
  if (!status.is_string()) {
    throw WrongType{"'status' of a point is no text"};
  }
  BenchPoint point;
  point.x = x;
  point.status = status_of(status.get<std::string>());
  const Json& why = element(series, "why", i);
  point.why = why.is_string() ? why.get<std::string>() : "";
  const Json& drift = element(series, "drift", i);
  point.drifts = drift.is_boolean() && drift.get<bool>();
  const std::optional<double> samples = number_of(element(series, "samples", i), "samples");
  point.samples =
      samples && *samples > 0 && *samples < 1e9 ? static_cast<std::uint32_t>(*samples) : 0;
  constexpr std::array<std::pair<const char*, std::optional<double> BenchPoint::*>, 9> kNumbers{{
      {"median", &BenchPoint::median},
      {"lo", &BenchPoint::p5},
      {"hi", &BenchPoint::p95},
      {"code_bytes", &BenchPoint::code_bytes},
      {"vgprs", &BenchPoint::vgprs},
      {"waves", &BenchPoint::waves_per_simd},
      {"clock_before_mhz", &BenchPoint::clock_before_mhz},
      {"clock_after_mhz", &BenchPoint::clock_after_mhz},
      {"power_w", &BenchPoint::power_w},
  }};
  for (const auto& [key, member] : kNumbers) {
    point.*member = number_of(element(series, key, i), key);
  }
  point.start_ns = time_of(element(series, "t0_ns", i), "t0_ns");
  point.end_ns = time_of(element(series, "t1_ns", i), "t1_ns");
  return point;
}

std::vector<double> read_places(const Json& axis) {
  std::vector<double> places;
  std::set<double> seen;
  for (const Json& value : list_at(axis, "values")) {
    const std::optional<double> x = number_of(value, "values");
    if (!x) {
      throw WrongType{"the axis has a place without a number"};
    }
    if (!seen.insert(*x).second) {
      throw WrongType{"the axis has a place twice"};
    }
    places.push_back(*x);
  }
  return places;
}

/// No longer than its own list: a file of many places and many empty series is read in time.
BenchSeries read_series(const Json& json, const std::vector<double>& places) {
  BenchSeries series;
  series.name = text_at(json, "name");
  const std::size_t count = std::min(places.size(), list_at(json, "status").size());
  for (std::size_t i = 0; i < count; ++i) {
    if (auto point = read_point(json, i, places[i])) {
      series.points.push_back(std::move(*point));
    }
  }
  return series;
}

analysis::CountCheck read_count(const Json& json) {
  return {text_at(json, "source"), text_at(json, "formula"),
          number_at(json, "per_trip").value_or(0), number_at(json, "isa")};
}

analysis::DerivedValue read_derived(const Json& json) {
  return {text_at(json, "what"), number_at(json, "value").value_or(std::nan("")),
          number_at(json, "lo"), number_at(json, "hi"),
          text_at(json, "unit"), text_at(json, "confidence"),
          text_at(json, "by")};
}

TestResult read_test(const Json& json) {
  TestResult test;
  test.id = text_at(json, "id");
  test.status = status_of(text_at(json, "status"));
  test.why = text_at(json, "why");
  test.unit = text_at(json, "unit");
  if (const Json& axis = at(json, "axis"); !axis.is_null()) {
    test.axis = text_at(axis, "name");
    test.axis_unit = text_at(axis, "unit");
    const std::vector<double> places = read_places(axis);
    for (const Json& series : list_at(json, "series")) {
      test.series.push_back(read_series(series, places));
    }
  }
  for (const Json& count : list_at(json, "counts")) {
    test.counts.push_back(read_count(count));
  }
  if (const Json& proof = at(json, "proof"); !proof.is_null()) {
    test.result = proof_at(proof, "result");
    test.isa = proof_at(proof, "isa");
    test.rate = proof_at(proof, "rate");
  }
  for (const Json& derived : list_at(json, "derived")) {
    test.derived.push_back(read_derived(derived));
  }
  test.start_ns = time_of(at(json, "t0_ns"), "t0_ns");
  test.end_ns = time_of(at(json, "t1_ns"), "t1_ns");
  return test;
}

BenchRun read_run(const Json& json) {
  if (text_at(json, "schema") != "gputrace.bench/1") {
    throw WrongType{"its schema is not gputrace.bench/1"};
  }
  BenchRun run;
  const Json& device = at(json, "device");
  run.device.name = text_at(device, "name");
  const std::string pci = text_at(device, "pci");
  run.device.pci = pci.empty() ? std::nullopt : std::optional(pci);
  run.device.driver = text_at(device, "driver");
  run.device.driver_info = text_at(device, "driver_info");
  for (const Json& size : list_at(device, "subgroups")) {
    const double lanes = number_of(size, "subgroups").value_or(0);
    if (lanes >= 1 && lanes <= 4096) {
      run.device.subgroup_sizes.push_back(static_cast<std::uint32_t>(lanes));
    }
  }
  run.device.simulated = flag_at(device, "simulated");
  if (const Json& env = at(json, "env"); !env.is_null()) {
    run.clock_mhz = number_at(env, "clock_mhz");
    run.power_w = number_at(env, "power_w");
    run.temperature_c = number_at(env, "temp_c");
  }
  run.started_at = text_at(json, "started_at");
  run.quick = flag_at(json, "quick");
  run.cancelled = flag_at(json, "cancelled");
  for (const Json& test : list_at(json, "tests")) {
    run.tests.push_back(read_test(test));
  }
  return run;
}

/// `report --json` of a file with several runs has one document a line.
std::string_view first_document(std::string_view text) {
  const std::size_t end = text.find('\n');
  const bool one_line = end != std::string_view::npos && end > 0 && text[end - 1] == '}' &&
                        text.starts_with('{') && Json::accept(text.substr(0, end));
  return one_line ? text.substr(0, end) : text;
}

}  // namespace

Result<analysis::BenchRun> parse_bench_json(std::string_view text) {
  try {
    return read_run(Json::parse(first_document(text)));
  } catch (const WrongType& wrong) {
    return fail(ErrorCode::kCorrupt, wrong.what);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

}  // namespace gputrace::report
