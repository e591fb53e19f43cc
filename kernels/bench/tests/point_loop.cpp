#include "kernels/bench/tests/point_loop.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "daemon/base/time.h"
#include "kernels/bench/proven_kernel.h"

namespace gputrace::bench {

std::optional<Error> for_each_point(
    const MeasurementOptions& options, std::size_t count,
    const std::function<std::optional<Error>(std::size_t index, const MeasurementOptions& options)>&
        measure_point) {
  MonotonicClock monotonic;
  Clock& clock = options.clock != nullptr ? *options.clock : monotonic;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(options.seed);
  std::shuffle(order.begin(), order.end(), random);

  MeasurementOptions inner = options;
  inner.progress = nullptr;
  const std::int64_t start_ns = clock.now_ns();
  for (std::size_t done = 0; done < count; ++done) {
    if (options.cancelled && options.cancelled()) {
      return std::nullopt;
    }
    const std::optional<Error> error = measure_point(order[done], inner);
    if (error && device_is_lost(*error)) {
      return error;
    }
    if (options.progress) {
      const double per_point_s =
          static_cast<double>(clock.now_ns() - start_ns) * 1e-9 / static_cast<double>(done + 1);
      options.progress(done + 1, count, per_point_s * static_cast<double>(count - done - 1));
    }
  }
  return std::nullopt;
}

void finish_test(analysis::TestResult& test, const std::optional<Error>& lost) {
  for (analysis::BenchSeries& series : test.series) {
    std::erase_if(series.points, [](const analysis::BenchPoint& point) {
      return !point.median && point.status == analysis::TestStatus::kOk;
    });
  }
  std::erase_if(test.series,
                [](const analysis::BenchSeries& series) { return series.points.empty(); });
  if (lost) {
    test.status = analysis::TestStatus::kFailed;
    test.why = lost->message;
  }
  conclude(test);
}

}  // namespace gputrace::bench
