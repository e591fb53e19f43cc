#include "tests/support/inference_score.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/analysis/inference.h"

namespace gputrace::test {

namespace {

using analysis::DerivedValue;

double apart(double a, double b) {
  return std::abs(std::log2(a / b));
}

/// Sizes as read: of caches, and of TLBs by their reach.
std::vector<DerivedValue> sizes_of(const analysis::TestResult& test) {
  std::vector<DerivedValue> sizes;
  for (const DerivedValue& value : test.derived) {
    if (value.what.ends_with(".size") || value.what.ends_with(".reach")) {
      sizes.push_back(value);
    }
  }
  return sizes;
}

struct Match {
  std::size_t truth;
  std::size_t read;
};

/// Each truth with one reading at most, the nearest pairs first, none farther apart than that.
std::vector<Match> match(const std::vector<double>& truths, const std::vector<DerivedValue>& read,
                         double most_octaves) {
  std::vector<std::pair<double, Match>> all;
  for (std::size_t t = 0; t < truths.size(); ++t) {
    for (std::size_t r = 0; r < read.size(); ++r) {
      all.push_back({apart(truths[t], read[r].value), {t, r}});
    }
  }
  std::ranges::sort(all, {}, [](const auto& pair) { return pair.first; });
  std::vector<bool> used_truth(truths.size());
  std::vector<bool> used_read(read.size());
  std::vector<Match> matches;
  for (const auto& [octaves, pair] : all) {
    if (octaves <= most_octaves && !used_truth[pair.truth] && !used_read[pair.read]) {
      used_truth[pair.truth] = used_read[pair.read] = true;
      matches.push_back(pair);
    }
  }
  return matches;
}

double nearest(const std::vector<double>& truths, double size) {
  double least = 99;
  for (const double truth : truths) {
    least = std::min(least, apart(truth, size));
  }
  return least;
}

}  // namespace

void InferenceScore::add(const HierarchyCase& what, const MeasuredHierarchy& measured,
                         const NoiseOf& noise, bool others, std::uint64_t seed) {
  analysis::BenchRun run;
  run.tests.push_back(latency_result(measured, noise, seed));
  if (others) {
    run.tests.push_back(hops_result(measured, noise, seed + 1));
    run.tests.push_back(bandwidth_result(measured, noise, seed + 2));
  }
  analysis::infer(run);

  std::vector<double> truths;
  std::vector<double> of_caches;
  for (const SimulatedCache& cache : what.hierarchy.caches) {
    truths.push_back(cache.bytes);
    of_caches.push_back(cache.bytes);
  }
  for (const SimulatedCache& tlb : what.hierarchy.tlbs) {
    truths.push_back(tlb.bytes);
  }
  const std::vector<DerivedValue> read = sizes_of(run.tests[0]);
  const std::vector<Match> matches = match(truths, read, 1);
  levels += truths.size();
  within_2 += matches.size();
  false_levels += read.size() - matches.size();
  for (const auto& [t, r] : matches) {
    within_1_25 += apart(truths[t], read[r].value) <= std::log2(1.25) ? 1 : 0;
    inside +=
        truths[t] >= read[r].lower.value_or(0) && truths[t] <= read[r].upper.value_or(0) ? 1 : 0;
  }
  for (const DerivedValue& value : read) {
    const double octaves = nearest(truths, value.value);
    if (value.confidence == "sure") {
      ++sure;
      wrong_sure += octaves > std::log2(1.5) ? 1 : 0;
    } else if (value.confidence == "likely") {
      ++likely;
      wrong_likely += octaves > 1 ? 1 : 0;
    }
  }
  if (others) {
    const std::vector<DerivedValue> by_hops = sizes_of(run.tests[1]);
    caches += of_caches.size();
    for (const auto& [t, r] : match(of_caches, by_hops, 1.5)) {
      ++hop_levels;
      const double ratio = by_hops[r].value / of_caches[t];
      hop_within += ratio >= 0.7 && ratio <= 1.35 ? 1 : 0;
    }
  }
}

}  // namespace gputrace::test
