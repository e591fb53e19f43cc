// Pairs of cores by how long a word takes between them: those of one core, of one array, and far
// ones, as far as times tell them apart.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace gputrace::bench {

struct TimeCluster {
  std::string_view name;  ///< "same core", "same array", "far"; of two "near", "far"; else "all"
  double least_ns = 0;
  double median_ns = 0;
  double most_ns = 0;
  std::size_t pairs = 0;
};

/// Pairs below which nothing is told apart.
inline constexpr std::size_t kFewestPairs = 8;

/// The times of pairs, in any order and above 0, in up to three clusters, the fastest first. One
/// more cluster must explain most of what scatters, and be more than a few pairs that something
/// disturbed. Empty for fewer than kFewestPairs.
[[nodiscard]] std::vector<TimeCluster> cluster_times(std::vector<double> ns);

}  // namespace gputrace::bench
