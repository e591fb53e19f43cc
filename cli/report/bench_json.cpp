#include "cli/report/bench_json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/analysis/roofline.h"
#include "cli/report/stimulus_json.h"

namespace gputrace::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::BenchPoint;
using analysis::BenchRun;
using analysis::BenchSeries;
using analysis::CountCheck;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json number_or_null(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json(nullptr);
}

Json time_or_null(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Passed or failed; null = not done.
Json proof_json(Proof proof) {
  switch (proof) {
    case Proof::kPassed:
      return "passed";
    case Proof::kFailed:
      return "failed";
    case Proof::kNotDone:
      break;
  }
  return nullptr;
}

/// The values that any series has a point at, in ascending order.
std::vector<double> axis_of(const TestResult& test) {
  std::vector<double> values;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      if (std::isfinite(point.x)) {
        values.push_back(point.x);
      }
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Points in the order of the axis; null where the series has none.
std::vector<const BenchPoint*> along(const std::vector<double>& axis, const BenchSeries& series) {
  std::vector<const BenchPoint*> points(axis.size(), nullptr);
  for (const BenchPoint& point : series.points) {
    const auto place = std::lower_bound(axis.begin(), axis.end(), point.x);
    if (place != axis.end() && *place == point.x) {
      points[static_cast<std::size_t>(place - axis.begin())] = &point;
    }
  }
  return points;
}

template <class Value>
Json column(const std::vector<const BenchPoint*>& points, Value value) {
  Json list = Json::array();
  for (const BenchPoint* point : points) {
    list.push_back(point == nullptr ? Json(nullptr) : Json(value(*point)));
  }
  return list;
}

/// The runs behind the weakest of the points that were measured.
Json fewest_samples(const BenchSeries& series) {
  Json fewest = nullptr;
  for (const BenchPoint& point : series.points) {
    if (point.median && (fewest.is_null() || point.samples < fewest.get<std::uint32_t>())) {
      fewest = point.samples;
    }
  }
  return fewest;
}

Json series_json(const BenchSeries& series, const std::vector<double>& axis) {
  const auto points = along(axis, series);
  const auto number = [&](auto member) {
    return column(points, [&](const BenchPoint& point) { return number_or_null(point.*member); });
  };
  const auto time = [&](auto member) {
    return column(points, [&](const BenchPoint& point) { return time_or_null(point.*member); });
  };
  Json json{{"name", series.name},
            {"median", number(&BenchPoint::median)},
            {"lo", number(&BenchPoint::p5)},
            {"hi", number(&BenchPoint::p95)},
            {"n", fewest_samples(series)}};
  json["samples"] = column(points, [](const BenchPoint& point) {
    return point.median ? Json(point.samples) : Json(nullptr);
  });
  json["status"] =
      column(points, [](const BenchPoint& point) { return Json(status_name(point.status)); });
  json["why"] = column(points, [](const BenchPoint& point) { return text_or_null(point.why); });
  json["drift"] = column(points, [](const BenchPoint& point) {
    return point.median ? Json(point.drifts) : Json(nullptr);
  });
  json["code_bytes"] = number(&BenchPoint::code_bytes);
  json["vgprs"] = number(&BenchPoint::vgprs);
  json["waves"] = number(&BenchPoint::waves_per_simd);
  json["clock_before_mhz"] = number(&BenchPoint::clock_before_mhz);
  json["clock_after_mhz"] = number(&BenchPoint::clock_after_mhz);
  json["power_w"] = number(&BenchPoint::power_w);
  json["t0_ns"] = time(&BenchPoint::start_ns);
  json["t1_ns"] = time(&BenchPoint::end_ns);
  return json;
}

Json count_json(const CountCheck& count) {
  return {{"formula", count.operation},
          {"per_trip", number_or_null(count.formula)},
          {"isa", number_or_null(count.isa)},
          {"source", count.kernel}};
}

/// The count to look at first: one that does not agree, else the first.
Json main_count(const std::vector<CountCheck>& counts) {
  if (counts.empty()) {
    return nullptr;
  }
  const auto differs = std::find_if(counts.begin(), counts.end(), [](const CountCheck& count) {
    return count.isa && *count.isa != count.formula;
  });
  return count_json(differs == counts.end() ? counts.front() : *differs);
}

Json derived_json(const analysis::DerivedValue& derived) {
  return {{"what", derived.what},
          {"value", number_or_null(derived.value)},
          {"lo", number_or_null(derived.lower)},
          {"hi", number_or_null(derived.upper)},
          {"unit", text_or_null(derived.unit)},
          {"confidence", text_or_null(derived.confidence)},
          {"by", text_or_null(derived.by)}};
}

Json test_json(const TestResult& test) {
  const std::vector<double> axis = axis_of(test);
  Json json{{"id", test.id},
            {"status", status_name(test.status)},
            {"why", text_or_null(test.why)},
            {"unit", text_or_null(test.unit)},
            {"axis",
             {{"name", text_or_null(test.axis)},
              {"unit", text_or_null(test.axis_unit)},
              {"values", axis}}},
            {"series", Json::array()},
            {"count", main_count(test.counts)},
            {"counts", Json::array()},
            {"proof",
             {{"result", proof_json(test.result)},
              {"isa", proof_json(test.isa)},
              {"rate", proof_json(test.rate)}}},
            {"derived", Json::array()},
            {"t0_ns", time_or_null(test.start_ns)},
            {"t1_ns", time_or_null(test.end_ns)}};
  for (const BenchSeries& series : test.series) {
    json["series"].push_back(series_json(series, axis));
  }
  for (const CountCheck& count : test.counts) {
    json["counts"].push_back(count_json(count));
  }
  for (const analysis::DerivedValue& derived : test.derived) {
    json["derived"].push_back(derived_json(derived));
  }
  return json;
}

Json device_json(const analysis::BenchDevice& device) {
  return {{"name", device.name},
          {"pci", device.pci ? Json(*device.pci) : Json(nullptr)},
          {"driver", text_or_null(device.driver)},
          {"driver_info", text_or_null(device.driver_info)},
          {"subgroups", device.subgroup_sizes},
          {"simulated", device.simulated}};
}

}  // namespace

std::string_view status_name(TestStatus status) {
  switch (status) {
    case TestStatus::kOk:
      return "ok";
    case TestStatus::kSkipped:
      return "skipped";
    case TestStatus::kSuspect:
      return "suspect";
    case TestStatus::kFailed:
      break;
  }
  return "failed";
}

std::string render_bench_json(const BenchRun& run, JsonLayout layout,
                              const analysis::StimulusMatrix* matrix) {
  Json json{{"schema", "gputrace.bench/1"},
            {"device", device_json(run.device)},
            {"env",
             {{"clock_mhz", number_or_null(run.clock_mhz)},
              {"power_w", number_or_null(run.power_w)},
              {"temp_c", number_or_null(run.temperature_c)}}},
            {"started_at", text_or_null(run.started_at)},
            {"quick", run.quick},
            {"cancelled", run.cancelled},
            {"tests", Json::array()}};
  for (const TestResult& test : run.tests) {
    json["tests"].push_back(test_json(test));
  }
  json["warnings"] = analysis::make_roofline(run).warnings;
  json["stimulus_matrix"] = matrix != nullptr ? Json::parse(stimulus_json(*matrix)) : Json(nullptr);
  const int indent = layout == JsonLayout::kIndented ? 2 : -1;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gputrace::report
