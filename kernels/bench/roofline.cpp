#include "kernels/bench/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "kernels/bench/cases/article.h"
#include "kernels/bench/cases/bandwidth.h"
#include "kernels/bench/cases/peak.h"
#include "kernels/bench/cases/sweep.h"
#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/roofline_levels.h"
#include "kernels/bench/roofline_part.h"

namespace gputrace::bench {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

namespace {

constexpr std::array kArithmetics = {Arithmetic::kFp32,    Arithmetic::kFp16Packed,
                                     Arithmetic::kFp64,    Arithmetic::kInt32,
                                     Arithmetic::kInt8Dot, Arithmetic::kMatrix};
constexpr std::array kStreams = {Stream::kRead, Stream::kWrite, Stream::kCopy, Stream::kTriad};
/// So many groups run on a GPU that their loads and stores take a part of a shorter run.
constexpr double kPeakRunNs = 16e6;
/// Half steps around the ridge that a first pass finds.
constexpr std::size_t kExpectedHalfSteps = 5;

TestResult test_of(std::string id, std::string unit, std::string axis, std::string axis_unit) {
  TestResult test;
  test.id = std::move(id);
  test.unit = std::move(unit);
  test.axis = std::move(axis);
  test.axis_unit = std::move(axis_unit);
  return test;
}

bool is_of_integers(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kInt32 || arithmetic == Arithmetic::kInt8Dot;
}

/// "wave32".
std::string wave_name(std::uint32_t subgroup_size) {
  return fmt::format("wave{}", subgroup_size);
}

const analysis::DerivedValue* find_derived(const std::vector<TestResult>& tests,
                                           std::string_view what) {
  for (const TestResult& test : tests) {
    const auto found = std::ranges::find(test.derived, what, &analysis::DerivedValue::what);
    if (found != test.derived.end() && test.status == TestStatus::kOk) {
      return &*found;
    }
  }
  return nullptr;
}

class Roofline {
 public:
  Roofline(TestContext& context, const RooflineRequest& request)
      : context_(context),
        request_(request),
        facts_(context.runner.facts()),
        progress_(context, expected_points()) {
    progress_.additions = test_of("roofline.additions", "GOP/s", "time", "");
  }

  std::vector<TestResult> run() {
    if (request_.article) {
      run_article();
    } else {
      run_peaks();
      run_bandwidth();
    }
    if (!request_.article && !request_.ceilings_only) {
      run_levels();
      run_sweep();
    }
    conclude(progress_.additions);
    if (!progress_.additions.series.empty()) {
      tests_.push_back(std::move(progress_.additions));
    }
    return std::move(tests_);
  }

 private:
  [[nodiscard]] std::size_t expected_points() const {
    if (request_.article) {
      return 2 * article_fmas().size();
    }
    const std::size_t sizes = std::max<std::size_t>(facts_.subgroup_sizes.size(), 1);
    if (request_.ceilings_only) {
      return sizes + 1;
    }
    return sizes * kArithmetics.size() + kStreams.size() +
           working_sets(facts_, context_.quick).size() + sweep_trips(std::nullopt).size() +
           kExpectedHalfSteps;
  }

  /// Adds the tests to the results, but those without a point, and concludes them.
  void measure(std::vector<RooflineKernel> kernels, const std::vector<RooflinePoint>& points,
               std::vector<TestResult> tests) {
    measure_points(progress_, std::move(kernels), points, tests);
    for (TestResult& test : tests) {
      conclude(test);
      if (!test.series.empty() || test.status != TestStatus::kOk) {
        tests_.push_back(std::move(test));
      }
    }
  }

  void run_peaks() {
    std::vector<RooflineKernel> kernels;
    std::vector<RooflinePoint> points;
    std::vector<TestResult> tests;
    for (const Arithmetic arithmetic : kArithmetics) {
      if (request_.ceilings_only && arithmetic != Arithmetic::kFp32) {
        continue;
      }
      tests.push_back(test_of(fmt::format("roofline.peak.{}", name_of(arithmetic)),
                              is_of_integers(arithmetic) ? "GOP/s" : "GFLOPS", "subgroup size",
                              "threads"));
      std::vector<std::optional<std::uint32_t>> sizes(facts_.subgroup_sizes.begin(),
                                                      facts_.subgroup_sizes.end());
      if (sizes.empty()) {
        sizes.emplace_back(std::nullopt);
      }
      for (const auto& size : sizes) {
        kernels.push_back({.sized = peak_case(facts_, arithmetic, size)});
        points.push_back({.kernel = kernels.size() - 1,
                          .label = kernels.back().sized.kernel.id,
                          .test = tests.size() - 1,
                          .series = size ? wave_name(*size) : "driver's choice",
                          .x = static_cast<double>(size.value_or(facts_.subgroup_size))});
      }
    }
    const std::size_t first = tests_.size();
    progress_.least_run_ns = facts_.is_cpu ? 0 : kPeakRunNs;
    measure(std::move(kernels), points, std::move(tests));
    progress_.least_run_ns = 0;
    for (std::size_t i = first; i < tests_.size(); ++i) {
      derive_peaks(tests_[i]);
    }
  }

  static void derive_peaks(TestResult& test) {
    const std::string what = test.id.substr(std::string_view("roofline.").size());
    if (const BenchPoint* best = best_point(test); best != nullptr) {
      test.derived.push_back(ceiling_of(*best, what, test.unit,
                                        test.series.size() > 1 ? "the faster subgroup size" : ""));
    }
    for (const BenchSeries& series : test.series) {
      for (const BenchPoint& point : series.points) {
        if (test.series.size() > 1 && point.median && point.status == TestStatus::kOk) {
          test.derived.push_back(ceiling_of(point, what + "." + series.name, test.unit, ""));
        }
      }
    }
  }

  void run_bandwidth() {
    const std::uint64_t bytes = dram_bytes(facts_, context_.quick);
    std::vector<RooflineKernel> kernels;
    std::vector<RooflinePoint> points;
    for (const Stream stream : kStreams) {
      if (request_.ceilings_only && stream != Stream::kCopy) {
        continue;
      }
      kernels.push_back({.sized = dram_case(facts_, stream, bytes),
                         .bytes = bytes,
                         .smaller = [this, stream](std::uint64_t less) {
                           return dram_case(facts_, stream, less);
                         }});
      points.push_back({.kernel = kernels.size() - 1,
                        .label = kernels.back().sized.kernel.id,
                        .work = memory_work,
                        .series = std::string(name_of(stream)),
                        .x_is_bytes = true});
    }
    measure(std::move(kernels), points,
            {test_of("roofline.bandwidth", "GB/s", "bytes of a buffer", "B")});
    derive_bandwidth();
  }

  void derive_bandwidth() {
    if (tests_.empty() || tests_.back().id != "roofline.bandwidth") {
      return;
    }
    TestResult& test = tests_.back();
    for (const BenchSeries& series : test.series) {
      for (const BenchPoint& point : series.points) {
        if (point.median && point.status == TestStatus::kOk) {
          test.derived.push_back(ceiling_of(point, "dram." + series.name, test.unit, ""));
        }
      }
    }
  }

  void run_levels() {
    std::vector<RooflineKernel> kernels;
    std::vector<RooflinePoint> points;
    for (const std::uint64_t bytes : working_sets(facts_, context_.quick)) {
      kernels.push_back({.sized = cache_case(facts_, Stream::kRead, {.bytes = bytes})});
      points.push_back({.kernel = kernels.size() - 1,
                        .label = kernels.back().sized.kernel.id,
                        .work = memory_work,
                        .series = "read",
                        .x = static_cast<double>(bytes)});
    }
    measure(std::move(kernels), points, {test_of("roofline.levels", "GB/s", "working set", "B")});
    derive_levels();
  }

  void derive_levels() {
    if (tests_.empty() || tests_.back().id != "roofline.levels") {
      return;
    }
    TestResult& test = tests_.back();
    std::vector<CurvePoint> curve;
    std::vector<const BenchPoint*> measured;
    for (const BenchPoint& point : test.series.front().points) {
      if (point.median && point.status == TestStatus::kOk) {
        curve.push_back({.bytes = point.x,
                         .gb_per_s = *point.median,
                         .lower = point.p5.value_or(*point.median),
                         .upper = point.p95.value_or(*point.median)});
        measured.push_back(&point);
      }
    }
    std::size_t number = 0;
    for (const Plateau& level : find_levels(curve)) {
      const std::string what = fmt::format("level.{}", ++number);
      const std::size_t sizes = level.last - level.first + 1;
      const std::string by = fmt::format("{} sizes with the same rate", sizes);
      test.derived.push_back(ceiling_of(*measured[level.median], what, test.unit, by));
      analysis::DerivedValue size;
      size.what = what + ".size";
      size.value = curve[level.last].bytes;
      size.lower = curve[level.last].bytes;
      size.upper = curve[level.last + 1].bytes;
      size.unit = "B";
      size.confidence = sizes > 2 ? "likely" : "a guess";
      size.by = "the largest size before the drop, and the first after it";
      test.derived.push_back(std::move(size));
    }
  }

  void run_sweep() {
    std::vector<TestResult> tests{
        test_of("roofline.sweep", "GFLOPS", "arithmetic intensity", "FLOP/B")};
    const auto coarse = sweep_trips(std::nullopt);
    measure_sweep(coarse, tests);
    if (const auto ridges = expected_ridges(tests.front()); ridges && !progress_.cancelled()) {
      std::vector<std::uint32_t> half_steps;
      for (const std::uint32_t trips : sweep_trips(ridges)) {
        if (std::ranges::find(coarse, trips) == coarse.end()) {
          half_steps.push_back(trips);
        }
      }
      progress_.expect(static_cast<std::ptrdiff_t>(half_steps.size()) -
                       static_cast<std::ptrdiff_t>(kExpectedHalfSteps));
      measure_sweep(half_steps, tests);
    }
    for (BenchSeries& series : tests.front().series) {
      std::ranges::sort(series.points, {}, &BenchPoint::x);
    }
    conclude(tests.front());
    if (!tests.front().series.empty()) {
      tests_.push_back(std::move(tests.front()));
    }
  }

  /// All points run the kernel of the lowest intensity, which has the largest buffers: the code is
  /// the same, and so many buffers would not fit.
  void measure_sweep(const std::vector<std::uint32_t>& trips, std::vector<TestResult>& tests) {
    if (trips.empty()) {
      return;
    }
    const std::uint64_t bytes = sweep_bytes(facts_, context_.quick);
    const auto lowest = static_cast<std::uint32_t>(kSweepLowest / kSweepStep);
    std::vector<RooflineKernel> kernels{{.sized = sweep_case(facts_, lowest, bytes),
                                         .bytes = bytes,
                                         .smaller = [this, lowest](std::uint64_t less) {
                                           return sweep_case(facts_, lowest, less);
                                         }}};
    std::vector<RooflinePoint> points;
    for (const std::uint32_t count : trips) {
      const SizedCase sized = sweep_case(facts_, count, bytes);
      points.push_back({.trips = count,
                        .groups = sized.launch.groups,
                        .label = sized.kernel.id,
                        .series = "sweep",
                        .x = count * kSweepStep});
    }
    measure_points(progress_, std::move(kernels), points, tests);
  }

  /// Where the sweep itself bends, and where its ceilings meet.
  [[nodiscard]] std::optional<std::pair<double, double>> expected_ridges(
      const TestResult& sweep) const {
    double most_gflops = 0;
    double most_gb_per_s = 0;
    for (const BenchSeries& series : sweep.series) {
      for (const BenchPoint& point : series.points) {
        most_gflops = std::max(most_gflops, point.median.value_or(0));
        most_gb_per_s = std::max(most_gb_per_s, point.median.value_or(0) / point.x);
      }
    }
    if (!(most_gflops > 0)) {
      return std::nullopt;
    }
    std::pair ridges{most_gflops / most_gb_per_s, most_gflops / most_gb_per_s};
    const auto* peak = find_derived(tests_, "peak.fp32");
    const auto* copy = find_derived(tests_, "dram.copy");
    if (peak != nullptr && copy != nullptr) {
      ridges.first = std::min(ridges.first, peak->value / copy->value);
      ridges.second = std::max(ridges.second, peak->value / copy->value);
    }
    return ridges;
  }

  void run_article();

  TestContext& context_;
  RooflineRequest request_;
  vulkan::DeviceFacts facts_;
  RooflineProgress progress_;
  std::vector<TestResult> tests_;
};

constexpr const char* kByItsCode = "counted by its code";
constexpr const char* kAsTheArticle = "as the article counts";

void Roofline::run_article() {
  const std::uint64_t bytes = sweep_bytes(facts_, context_.quick);
  std::vector<RooflineKernel> kernels;
  std::vector<RooflinePoint> points;
  std::vector<TestResult> tests;
  std::vector<ArticleCase> cases;
  for (const std::uint32_t chains : {1U, 4U}) {
    tests.push_back(test_of(fmt::format("roofline.article.chains{}", chains), "GFLOPS",
                            "arithmetic intensity", "FLOP/B"));
    for (const std::uint32_t fmas : article_fmas()) {
      const ArticleCase shape = article_case(facts_, fmas, chains, bytes);
      const KernelCase& kernel = shape.sized.kernel;
      points.push_back({.kernel = kernels.size(),
                        .label = kernel.id,
                        .test = tests.size() - 1,
                        .series = kByItsCode,
                        .x = arithmetic_work(kernel, shape.sized.launch) /
                             memory_work(kernel, shape.sized.launch)});
      kernels.push_back({.sized = shape.sized,
                         .bytes = bytes,
                         .smaller = [this, fmas, chains](std::uint64_t less) {
                           return article_case(facts_, fmas, chains, less).sized;
                         }});
      cases.push_back(shape);
    }
  }
  const std::size_t first = tests_.size();
  measure(std::move(kernels), points, std::move(tests));
  // The same times by the other count.
  for (std::size_t i = first; i < tests_.size(); ++i) {
    BenchSeries article{.name = kAsTheArticle, .points = {}};
    for (std::size_t p = 0; p < points.size(); ++p) {
      for (const BenchPoint& point : tests_[i].series.front().points) {
        const bool same =
            tests_[i].id.ends_with(fmt::format("{}", cases[p].chains)) && point.x == points[p].x;
        if (!same) {
          continue;
        }
        const double share = cases[p].label_flops / cases[p].sized.kernel.flops_once;
        BenchPoint other = point;
        other.x = cases[p].label_intensity;
        for (auto* figure : {&other.median, &other.p5, &other.p95}) {
          *figure = figure->has_value() ? std::optional(figure->value_or(0) * share) : std::nullopt;
        }
        article.points.push_back(std::move(other));
      }
    }
    tests_[i].series.push_back(std::move(article));
  }
}

}  // namespace

std::vector<TestResult> run_roofline(TestContext& context, const RooflineRequest& request) {
  return Roofline(context, request).run();
}

}  // namespace gputrace::bench
