#include "kernels/bench/tests/c2c/c2c_clusters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace gputrace::bench {

namespace {

constexpr std::size_t kMostClusters = 3;
/// One cluster more must leave this part of the scatter at most: of an even spread the second
/// leaves a quarter, of a bell a third, and the third less of either.
constexpr double kExplained = 6;
/// Between the medians of neighbours.
constexpr double kApart = 0.05;
/// Of all pairs, the least in a cluster, and in number.
constexpr double kLeastShare = 0.01;
constexpr std::size_t kLeastPairs = 3;

/// Sums of logarithms, for the scatter of any stretch of a sorted list.
class Scatter {
 public:
  explicit Scatter(std::span<const double> ns) : sums_(ns.size() + 1), squares_(ns.size() + 1) {
    for (std::size_t i = 0; i < ns.size(); ++i) {
      const double value = std::log(ns[i] / ns[0]);
      sums_[i + 1] = sums_[i] + value;
      squares_[i + 1] = squares_[i] + value * value;
    }
  }
  /// Of [first, last).
  [[nodiscard]] double of(std::size_t first, std::size_t last) const {
    const double sum = sums_[last] - sums_[first];
    return std::max(
        squares_[last] - squares_[first] - sum * sum / static_cast<double>(last - first), 0.0);
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

struct Split {
  double scatter = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> ends;  ///< of each cluster, one behind its last
};

/// The first `count` values in that many clusters of at least `least` each.
Split best_split(const Scatter& scatter, std::size_t count, std::size_t clusters,
                 std::size_t least) {
  if (clusters == 1) {
    return {.scatter = scatter.of(0, count), .ends = {count}};
  }
  Split best;
  for (std::size_t end = (clusters - 1) * least; end + least <= count; ++end) {
    Split rest = best_split(scatter, end, clusters - 1, least);
    const double sum = rest.scatter + scatter.of(end, count);
    if (sum < best.scatter) {
      best = {.scatter = sum, .ends = std::move(rest.ends)};
      best.ends.push_back(count);
    }
  }
  return best;
}

std::vector<TimeCluster> clusters_of(std::span<const double> ns, const Split& split) {
  std::vector<TimeCluster> clusters;
  std::size_t first = 0;
  for (const std::size_t end : split.ends) {
    clusters.push_back({.name = {},
                        .least_ns = ns[first],
                        .median_ns = ns[first + (end - first - 1) / 2],
                        .most_ns = ns[end - 1],
                        .pairs = end - first});
    first = end;
  }
  return clusters;
}

bool are_apart(const std::vector<TimeCluster>& clusters) {
  for (std::size_t i = 0; i + 1 < clusters.size(); ++i) {
    if (clusters[i + 1].median_ns < clusters[i].median_ns * (1 + kApart) ||
        !(clusters[i + 1].least_ns > clusters[i].most_ns)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<TimeCluster> cluster_times(std::vector<double> ns) {
  std::erase_if(ns, [](double value) { return !(value > 0) || !std::isfinite(value); });
  if (ns.size() < kFewestPairs) {
    return {};
  }
  std::sort(ns.begin(), ns.end());
  const Scatter scatter(ns);
  const auto least =
      std::max(kLeastPairs, static_cast<std::size_t>(kLeastShare * static_cast<double>(ns.size())));
  Split chosen = best_split(scatter, ns.size(), 1, least);
  double before = chosen.scatter;
  for (std::size_t clusters = 2; clusters <= kMostClusters; ++clusters) {
    Split more = best_split(scatter, ns.size(), clusters, least);
    const bool explains =
        std::isfinite(more.scatter) && before > 0 && more.scatter * kExplained <= before;
    before = more.scatter;
    if (explains && are_apart(clusters_of(ns, more))) {
      chosen = std::move(more);
    }
  }
  std::vector<TimeCluster> clusters = clusters_of(ns, chosen);
  constexpr std::array<std::string_view, 3> kThree{"same core", "same array", "far"};
  constexpr std::array<std::string_view, 2> kTwo{"near", "far"};
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters.size() == 1) {
      clusters[i].name = "all";
    } else {
      clusters[i].name = clusters.size() == 2 ? kTwo.at(i) : kThree.at(i);
    }
  }
  return clusters;
}

}  // namespace gputrace::bench
