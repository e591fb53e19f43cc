#include "cli/analysis/bench_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "cli/analysis/bench_changes.h"
#include "cli/analysis/bench_spread.h"

namespace gputrace::analysis {
namespace {

constexpr std::string_view kCores = "cores";
constexpr std::string_view kGuess = "a guess";
constexpr double kFamilyError = 0.05;
constexpr std::size_t kFewestForScatter = 4;
/// Of a standard error: what holds 95 % with the degrees of freedom of a single bench.
constexpr double kErrors95 = 3.182;

using Tests = std::vector<const TestResult*>;

/// A row, and what its ratio is made of.
struct Row {
  BenchRatio ratio;
  ComparedFigures figures;
};

bool is_positive(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0;
}

bool is_time(std::string_view unit) {
  constexpr std::array<std::string_view, 3> kTimes{"ns", "us", "ms"};
  return std::ranges::any_of(kTimes, [unit](std::string_view time) {
    return unit == time || (unit.starts_with(time) && unit[time.size()] == ' ');
  });
}

bool is_clocks(std::string_view unit) {
  return unit == "clk" || unit.starts_with("clk ");
}

bool is_rate(std::string_view unit) {
  return unit.find("/s") != std::string_view::npos ||
         unit.find("FLOPS") != std::string_view::npos ||
         unit.find("LUPs") != std::string_view::npos || unit.ends_with("OPS");
}

std::optional<double> log_cores(const BenchRun& a, const BenchRun& b) {
  const std::optional<double> cores_a = cores_of(a);
  const std::optional<double> cores_b = cores_of(b);
  return cores_a && cores_b ? std::optional(std::log(*cores_b / *cores_a)) : std::nullopt;
}

std::optional<double> log_clock(const ComparedFigures& figures) {
  double sum = 0;
  for (const auto& [side, sign] : {std::pair(&figures.a, -1.0), std::pair(&figures.b, 1.0)}) {
    for (const LogFigure& figure : *side) {
      if (!figure.log_clock) {
        return std::nullopt;
      }
      sum += sign * *figure.log_clock / static_cast<double>(side->size());
    }
  }
  return sum;
}

/// The geometric mean; of one figure itself, without the last bits that a logarithm costs.
double value_of(std::span<const LogFigure> figures) {
  const double value = std::exp(mean_log(figures));
  const double whole = std::round(value);
  return std::abs(value - whole) < 1e-12 * value ? whole : value;
}

Row row_of(const TestResult& test, std::string name, std::string unit, ComparedFigures figures) {
  Row row;
  row.ratio.test = test.id;
  row.ratio.name = std::move(name);
  row.ratio.axis_unit = test.axis_unit;
  row.ratio.less_is_better = is_time(unit) || is_clocks(unit);
  row.ratio.is_rate = is_rate(unit);
  row.ratio.unit = std::move(unit);
  row.ratio.points = 1;
  row.ratio.a = value_of(figures.a);
  row.ratio.b = value_of(figures.b);
  row.figures = std::move(figures);
  return row;
}

/// Of the mean of several ratios, by how much they differ.
LogError scatter_of(const std::vector<ComparedFigures>& points) {
  std::vector<double> ratios;
  ratios.reserve(points.size());
  for (const ComparedFigures& point : points) {
    ratios.push_back(mean_log(point.b) - mean_log(point.a));
  }
  const auto n = static_cast<double>(ratios.size());
  const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) / n;
  LogError error;
  if (ratios.size() >= kFewestForScatter) {
    double squares = 0;
    for (const double ratio : ratios) {
      squares += (ratio - mean) * (ratio - mean);
    }
    error.below = error.above = std::sqrt(squares / (n - 1) / n);
    return error;
  }
  // Of few ratios all that any of them says: their scatter would not be known.
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LogFigure& a = points[i].a.front();
    const LogFigure& b = points[i].b.front();
    const LogError none;
    const double below = std::hypot(b.error.value_or(none).below, a.error.value_or(none).above);
    const double above = std::hypot(b.error.value_or(none).above, a.error.value_or(none).below);
    error.below = std::max(error.below, (mean - ratios[i]) / kErrors95 + below);
    error.above = std::max(error.above, (ratios[i] - mean) / kErrors95 + above);
  }
  return error;
}

using Benches = std::vector<const BenchSeries*>;

/// Of the tests that have it.
Benches series_of(const Tests& tests, std::string_view name) {
  Benches found;
  for (const TestResult* test : tests) {
    const auto series = std::ranges::find(test->series, name, &BenchSeries::name);
    if (series != test->series.end()) {
      found.push_back(&*series);
    }
  }
  return found;
}

/// Empty unless all benches have a figure there.
std::vector<LogFigure> figures_at(const Benches& benches, double x) {
  std::vector<LogFigure> figures;
  for (const BenchSeries* series : benches) {
    for (const BenchPoint& point : series->points) {
      const std::optional<LogFigure> figure = point.x == x ? figure_of(point) : std::nullopt;
      if (figure) {
        figures.push_back(*figure);
        break;
      }
    }
  }
  return figures.size() == benches.size() ? figures : std::vector<LogFigure>();
}

/// Of each bench the mean over the points.
std::vector<LogFigure> means_of(const std::vector<ComparedFigures>& points,
                                std::vector<LogFigure> ComparedFigures::* side,
                                std::size_t benches) {
  std::vector<LogFigure> means;
  for (std::size_t bench = 0; bench < benches; ++bench) {
    std::vector<LogFigure> of_bench;
    of_bench.reserve(points.size());
    for (const ComparedFigures& point : points) {
      of_bench.push_back((point.*side)[bench]);
    }
    means.push_back(mean_of(of_bench));
  }
  return means;
}

void compare_series(const TestResult& test, const std::string& name, const Benches& a,
                    const Benches& b, std::vector<Row>& series, std::vector<Row>& points) {
  std::vector<ComparedFigures> figures;
  std::vector<Row> rows;
  for (const BenchPoint& point : a.front()->points) {
    ComparedFigures both{figures_at(a, point.x), figures_at(b, point.x)};
    if (both.a.empty() || both.b.empty()) {
      continue;
    }
    rows.push_back(row_of(test, name, test.unit, both));
    rows.back().ratio.x = point.x;
    figures.push_back(std::move(both));
  }
  if (figures.empty()) {
    return;
  }
  ComparedFigures means{means_of(figures, &ComparedFigures::a, a.size()),
                        means_of(figures, &ComparedFigures::b, b.size())};
  if (figures.size() > 1) {
    means.least = scatter_of(figures);
  }
  series.push_back(row_of(test, name, test.unit, std::move(means)));
  series.back().ratio.points = figures.size();
  if (rows.size() > 1) {
    std::ranges::move(rows, std::back_inserter(points));
  }
}

struct SameValues {
  std::vector<LogFigure> figures;
  bool guessed = false;  ///< one of them is
};

SameValues values_of(const Tests& tests, const DerivedValue& like) {
  SameValues same;
  for (const TestResult* test : tests) {
    for (const DerivedValue& value : test->derived) {
      const bool is_same = value.what == like.what && value.unit == like.unit;
      if (const auto figure = is_same ? figure_of(value) : std::nullopt) {
        same.figures.push_back(*figure);
        same.guessed = same.guessed || value.confidence == kGuess;
        break;
      }
    }
  }
  return same;
}

void compare_derived(const Tests& a, const Tests& b, std::vector<Row>& derived) {
  for (const DerivedValue& value : a.front()->derived) {
    SameValues of_a = values_of(a, value);
    SameValues of_b = values_of(b, value);
    if (value.what == kCores || of_a.figures.empty() || of_b.figures.empty()) {
      continue;
    }
    const bool guessed = of_a.guessed || of_b.guessed;
    ComparedFigures figures{std::move(of_a.figures), std::move(of_b.figures)};
    // An interval that is a guess holds the truth less often than it says. Repeats need none.
    if (guessed) {
      figures.a.front().error = std::nullopt;
    }
    derived.push_back(row_of(*a.front(), value.what, value.unit, std::move(figures)));
    derived.back().ratio.why = guessed ? "it is a guess" : "it has no interval";
  }
}

void enter(const RatioEstimate& estimate, const std::optional<double>& cores, Row& row) {
  BenchRatio& ratio = row.ratio;
  ratio.ratio = std::exp(estimate.log);
  ratio.interval = estimate.interval;
  if (ratio.interval) {
    ratio.why.clear();
  } else if (ratio.why.empty()) {
    ratio.why = "the spread of its runs is not known";
  }
  const std::optional<double> clock = log_clock(row.figures);
  if (clock && (ratio.is_rate || is_time(ratio.unit))) {
    ratio.per_clock = std::exp(ratio.is_rate ? estimate.log - *clock : estimate.log + *clock);
  }
  if (cores && ratio.is_rate) {
    ratio.per_core = std::exp(estimate.log - *cores);
  }
}

std::vector<BenchRatio> judged(std::vector<Row> rows, const std::optional<double>& cores) {
  std::vector<ComparedFigures> family;
  family.reserve(rows.size());
  for (const Row& row : rows) {
    family.push_back(row.figures);
  }
  const std::vector<RatioEstimate> estimates = estimate_ratios(family);
  std::vector<std::pair<double, BenchRatio*>> by_chance;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    enter(estimates[i], cores, rows[i]);
    if (rows[i].ratio.interval) {
      by_chance.emplace_back(estimates[i].p, &rows[i].ratio);
    }
  }
  std::ranges::sort(by_chance, {}, &std::pair<double, BenchRatio*>::first);
  bool real = true;
  for (std::size_t i = 0; i < by_chance.size(); ++i) {
    real = real && by_chance[i].first <= kFamilyError / static_cast<double>(by_chance.size() - i);
    by_chance[i].second->reality = real ? Reality::kReal : Reality::kWithinNoise;
  }
  std::vector<BenchRatio> ratios;
  ratios.reserve(rows.size());
  for (Row& row : rows) {
    ratios.push_back(std::move(row.ratio));
  }
  return ratios;
}

/// Of each bench that has it and whose test did not fail.
Tests tests_of(std::span<const BenchRun> runs, std::string_view id) {
  Tests tests;
  for (const BenchRun& run : runs) {
    const auto found = std::ranges::find(run.tests, id, &TestResult::id);
    if (found != run.tests.end() && found->status != TestStatus::kFailed) {
      tests.push_back(&*found);
    }
  }
  return tests;
}

bool has_figures(const TestResult& test) {
  const auto any = [](const BenchSeries& series) {
    return std::ranges::any_of(
        series.points, [](const BenchPoint& point) { return figure_of(point).has_value(); });
  };
  return !test.derived.empty() || std::ranges::any_of(test.series, any);
}

/// Tests of a side that have figures in no bench of the other.
std::vector<std::string> missing_in(std::span<const BenchRun> runs,
                                    std::span<const BenchRun> others) {
  std::vector<std::string> missing;
  for (const BenchRun& run : runs) {
    for (const TestResult& test : run.tests) {
      const Tests same = tests_of(others, test.id);
      const bool is_there =
          std::ranges::any_of(same, [](const TestResult* other) { return has_figures(*other); });
      if (has_figures(test) && !is_there && std::ranges::find(missing, test.id) == missing.end()) {
        missing.push_back(test.id);
      }
    }
  }
  return missing;
}

}  // namespace

std::optional<double> cores_of(const BenchRun& run) {
  for (const TestResult& test : run.tests) {
    for (const DerivedValue& value : test.derived) {
      if (value.what == kCores && is_positive(value.value)) {
        return value.value;
      }
    }
  }
  return std::nullopt;
}

BenchComparison compare_benches(std::span<const BenchRun> a, std::span<const BenchRun> b) {
  BenchComparison comparison;
  if (a.empty() || b.empty()) {
    return comparison;
  }
  comparison.changes = changes_between(a.front(), b.front());
  comparison.cautions = cautions_between(a, b);
  std::vector<Row> series;
  std::vector<Row> derived;
  std::vector<Row> points;
  for (const TestResult& test : a.front().tests) {
    const Tests of_a = tests_of(a, test.id);
    Tests of_b = tests_of(b, test.id);
    if (of_a.empty() || of_b.empty()) {
      continue;
    }
    compare_derived(of_a, of_b, derived);
    std::erase_if(of_b, [&test](const TestResult* other) { return other->unit != test.unit; });
    for (const BenchSeries& each : of_a.front()->series) {
      const Benches same = series_of(of_b, each.name);
      if (!same.empty()) {
        compare_series(test, each.name, series_of(of_a, each.name), same, series, points);
      }
    }
  }
  const std::optional<double> cores = log_cores(a.front(), b.front());
  comparison.series = judged(std::move(series), cores);
  comparison.derived = judged(std::move(derived), cores);
  comparison.points = judged(std::move(points), cores);
  comparison.only_in_a = missing_in(a, b);
  comparison.only_in_b = missing_in(b, a);
  return comparison;
}

}  // namespace gputrace::analysis
