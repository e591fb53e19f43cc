#include "kernels/bench/tests/point_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "daemon/base/time.h"
#include "kernels/bench/proven_kernel.h"

namespace gputrace::bench {

PointLoop for_each_point(
    const MeasurementOptions& options, std::span<const unsigned> ranks,
    const std::function<std::optional<Error>(std::size_t index, const MeasurementOptions& options)>&
        measure_point) {
  MonotonicClock monotonic;
  Clock& clock = options.clock != nullptr ? *options.clock : monotonic;
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(options.seed);
  std::shuffle(order.begin(), order.end(), random);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });

  MeasurementOptions inner = options;
  inner.progress = nullptr;
  const std::int64_t start_ns = clock.now_ns();
  PointLoop loop{.lost = std::nullopt, .left_out = 0, .points = ranks.size()};
  for (std::size_t done = 0; done < order.size(); ++done) {
    if (options.cancelled && options.cancelled()) {
      return loop;
    }
    const std::int64_t now_ns = clock.now_ns();
    if (ranks[order[done]] > 0 && options.share_end_ns && now_ns >= *options.share_end_ns) {
      loop.left_out = order.size() - done;
      break;
    }
    loop.lost = measure_point(order[done], inner);
    if (loop.lost && device_is_lost(*loop.lost)) {
      return loop;
    }
    loop.lost.reset();
    if (options.progress) {
      const double per_point_s =
          static_cast<double>(clock.now_ns() - start_ns) * 1e-9 / static_cast<double>(done + 1);
      double left_s = per_point_s * static_cast<double>(order.size() - done - 1);
      if (options.share_end_ns) {
        left_s = std::min(
            left_s,
            std::max(0.0, static_cast<double>(*options.share_end_ns - clock.now_ns()) * 1e-9));
      }
      options.progress(done + 1, order.size(), left_s);
    }
  }
  if (loop.left_out > 0 && options.progress) {
    options.progress(order.size(), order.size(), 0);
  }
  return loop;
}

void say_left_out(analysis::TestResult& test, std::size_t left_out, std::size_t points) {
  if (left_out == 0) {
    return;
  }
  if (test.status == analysis::TestStatus::kOk && test.series.empty()) {
    test.status = analysis::TestStatus::kSkipped;
  }
  test.why += fmt::format("{}{} of {} points left out: the test's share of the time was spent",
                          test.why.empty() ? "" : "; ", left_out, points);
}

void finish_test(analysis::TestResult& test, const PointLoop& loop) {
  for (analysis::BenchSeries& series : test.series) {
    std::erase_if(series.points, [](const analysis::BenchPoint& point) {
      return !point.median && point.status == analysis::TestStatus::kOk;
    });
  }
  std::erase_if(test.series,
                [](const analysis::BenchSeries& series) { return series.points.empty(); });
  if (loop.lost) {
    test.status = analysis::TestStatus::kFailed;
    test.why = loop.lost->message;
  }
  conclude(test);
  say_left_out(test, loop.left_out, loop.points);
}

}  // namespace gputrace::bench
