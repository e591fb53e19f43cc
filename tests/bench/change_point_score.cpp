#include <fmt/format.h>

#include "daemon/base/time.h"
#include "tests/bench/bench_change_point.h"

namespace gputrace::bench {

double now_s() {
  return static_cast<double>(process_cpu_time_ns()) * 1e-9;
}

std::vector<double> found_in(const analysis::GridSource& source) {
  const auto points = find_change_points(source);
  GPUTRACE_CHECK(points.has_value());
  std::vector<double> times;
  times.reserve(points->size());
  for (const analysis::ChangePoint& point : *points) {
    times.push_back(point.at_s);
  }
  return times;
}

void Score::add(const std::vector<double>& truth, std::vector<double> found, double reach_s) {
  boundaries += truth.size();
  for (const double at : truth) {
    const auto nearest = std::min_element(found.begin(), found.end(), [&](double a, double b) {
      return std::abs(a - at) < std::abs(b - at);
    });
    if (nearest == found.end() || std::abs(*nearest - at) > reach_s) {
      ++missed;
      continue;
    }
    errors_s.push_back(std::abs(*nearest - at));
    found.erase(nearest);
  }
  extra += found.size();
}

double Score::quantile_ms(double q) {
  if (errors_s.empty()) {
    return 0;
  }
  std::sort(errors_s.begin(), errors_s.end());
  return 1000 * errors_s[static_cast<std::size_t>(q * static_cast<double>(errors_s.size() - 1))];
}

void Score::print(const std::string& name) {
  fmt::print(
      "{:<48} {:>4} changes: missed {:>3}, false {:>3}; ms median {:.1f}, 95 % {:.1f}, "
      "max {:.1f}\n",
      name, boundaries, missed, extra, quantile_ms(0.5), quantile_ms(0.95), quantile_ms(1));
}

}  // namespace gputrace::bench
