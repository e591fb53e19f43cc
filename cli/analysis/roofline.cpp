#include "cli/analysis/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/analysis/roofline_limits.h"

namespace gputrace::analysis {
namespace {

constexpr std::string_view kMainPeak = "peak.fp32";
/// The sweep reads as much as it writes, so that a copy is what its memory can do at best.
constexpr std::array<std::string_view, 4> kMainBandwidth{"dram.copy", "dram.triad", "dram.read",
                                                         "dram.write"};

bool is_published(const TestResult& test) {
  return test.status == TestStatus::kOk;
}

bool is_positive(double value) {
  return std::isfinite(value) && value > 0;
}

std::optional<double> positive(const std::optional<double>& value) {
  return value && is_positive(*value) ? value : std::nullopt;
}

/// "fp32" for "peak.fp32", "level 1 read" for "level.1.read", "DRAM copy" for "dram.copy".
std::string ceiling_name(std::string_view what) {
  std::string name;
  if (what.starts_with("dram.")) {
    name = "DRAM " + std::string(what.substr(5));
  } else if (what.starts_with("peak.")) {
    name = what.substr(5);
  } else {
    name = what;
  }
  std::replace(name.begin(), name.end(), '.', ' ');
  return name;
}

/// "peak.fp32.wave32" has a part behind that of "peak.fp32".
bool is_variant_of(std::string_view what, std::string_view of) {
  return what.size() > of.size() && what.starts_with(of) && what[of.size()] == '.';
}

struct Named {
  std::string what;
  Ceiling ceiling;
};

std::vector<Named> ceilings(const BenchRun& run, bool bandwidth) {
  std::vector<Named> found;
  for (const TestResult& test : run.tests) {
    if (!is_published(test)) {
      continue;
    }
    for (const DerivedValue& value : test.derived) {
      const bool wanted = bandwidth ? value.unit == "GB/s" && (value.what.starts_with("dram.") ||
                                                               value.what.starts_with("level."))
                                    : value.what.starts_with("peak.");
      if (wanted && is_positive(value.value)) {
        found.push_back({value.what,
                         {ceiling_name(value.what), value.value, positive(value.lower),
                          positive(value.upper), value.unit}});
      }
    }
  }
  return found;
}

void move_to_front(std::vector<Named>& all, std::string_view what) {
  const auto at = std::find_if(all.begin(), all.end(),
                               [what](const Named& named) { return named.what == what; });
  if (at != all.end()) {
    std::rotate(all.begin(), at, at + 1);
  }
}

std::vector<Ceiling> without_names(const std::vector<Named>& all) {
  std::vector<Ceiling> result;
  result.reserve(all.size());
  for (const Named& named : all) {
    result.push_back(named.ceiling);
  }
  return result;
}

std::vector<Ceiling> compute_ceilings(const BenchRun& run) {
  std::vector<Named> all = ceilings(run, false);
  const std::vector<Named> known = all;
  std::erase_if(all, [&known](const Named& named) {
    return std::any_of(known.begin(), known.end(), [&named](const Named& other) {
      return is_variant_of(named.what, other.what);
    });
  });
  move_to_front(all, kMainPeak);
  return without_names(all);
}

std::vector<Ceiling> bandwidth_ceilings(const BenchRun& run) {
  std::vector<Named> all = ceilings(run, true);
  for (auto what = kMainBandwidth.rbegin(); what != kMainBandwidth.rend(); ++what) {
    move_to_front(all, *what);
  }
  return without_names(all);
}

std::vector<RooflinePoint> sweep_points(const BenchRun& run) {
  std::vector<RooflinePoint> points;
  for (const TestResult& test : run.tests) {
    if (test.id != "roofline.sweep" || test.status == TestStatus::kFailed) {
      continue;
    }
    for (const BenchSeries& series : test.series) {
      for (const BenchPoint& point : series.points) {
        if (point.median && is_positive(*point.median) && is_positive(point.x) &&
            point.status != TestStatus::kFailed) {
          points.push_back(
              {series.name, point.x, *point.median, positive(point.p5), positive(point.p95),
               test.status == TestStatus::kSuspect || point.status == TestStatus::kSuspect});
        }
      }
    }
  }
  return points;
}

}  // namespace

Roofline make_roofline(const BenchRun& run) {
  Roofline roofline{compute_ceilings(run), bandwidth_ceilings(run), {}, sweep_points(run), {}};
  for (std::size_t b = 0; b < roofline.bandwidth.size(); ++b) {
    for (std::size_t c = 0; c < roofline.compute.size(); ++c) {
      const Ceiling& compute = roofline.compute[c];
      const Ceiling& bandwidth = roofline.bandwidth[b];
      if (compute.unit != "GFLOPS") {
        continue;  // a ridge in operations of integers would be read as one of FLOPs
      }
      Ridge ridge{c, b, compute.value / bandwidth.value, std::nullopt, std::nullopt};
      if (compute.lower && compute.upper && bandwidth.lower && bandwidth.upper) {
        ridge.lower = *compute.lower / *bandwidth.upper;
        ridge.upper = *compute.upper / *bandwidth.lower;
      }
      roofline.ridges.push_back(ridge);
    }
  }
  add_workload_points(run, roofline);
  add_concurrency_roofs(run, roofline);
  return roofline;
}

double attainable(const Ceiling& compute, const Ceiling& bandwidth, double intensity) {
  return std::min(compute.value, bandwidth.value * intensity);
}

}  // namespace gputrace::analysis
