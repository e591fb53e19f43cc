#include "tests/support/hierarchy_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace gputrace::test {

namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kSmallestSet = 4 * kKiB;
constexpr std::uint64_t kNode = 64;
constexpr double kClocksPerNs = 2.5;
constexpr double kClocksPerBin = 4;

using Random = std::mt19937_64;

double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Uniform in the logarithm.
double octaves_between(Random& random, double low, double high) {
  return low * std::pow(high / low, between(random, 0, 1));
}

template <class T, std::size_t kAll>
T one_of(Random& random, const std::array<T, kAll>& all) {
  return all.at(random() % kAll);
}

bool chance(Random& random, double share) {
  return between(random, 0, 1) < share;
}

struct Kind {
  std::uint32_t ways;
  Replacement replacement;
  bool hashed;
};

SimulatedCache cache_of(double bytes, std::uint32_t line, const Kind& kind, bool physical,
                        double added_ns, double gbps) {
  const double whole = std::max(1.0, std::round(bytes / line / kind.ways)) * line * kind.ways;
  return {.bytes = whole,
          .line = line,
          .ways = kind.ways,
          .replacement = kind.replacement,
          .hashed = kind.hashed,
          .physical = physical,
          .added_ns = added_ns,
          .gbps = gbps};
}

SimulatedCache tlb_of(std::uint32_t entries, std::uint64_t page, std::uint32_t ways, bool hashed,
                      double added_ns) {
  return {.bytes = double{1} * entries * static_cast<double>(page),
          .line = static_cast<std::uint32_t>(page),
          .ways = ways,
          .replacement = Replacement::kLru,
          .hashed = hashed,
          .physical = false,
          .added_ns = added_ns};
}

}  // namespace

std::vector<HierarchyCase> training_hierarchies(std::size_t count) {
  Random random(11);
  constexpr std::array<double, 3> kFirst{16, 32, 128};
  constexpr std::array<double, 3> kSecond{256, 512, 1024};
  constexpr std::array<double, 2> kThird{4096, 8192};
  constexpr std::array<Kind, 4> kKinds{{{16, Replacement::kLru, true},
                                        {8, Replacement::kLru, true},
                                        {16, Replacement::kRandom, true},
                                        {16, Replacement::kLru, false}}};
  std::vector<HierarchyCase> cases;
  for (std::size_t i = 0; i < count; ++i) {
    HierarchyCase one;
    one.name = fmt::format("training {}", i);
    SimulatedHierarchy& h = one.hierarchy;
    h.base_ns = 30;
    h.page = random() % 2 == 0 ? 4096 : 65536;
    const std::size_t levels = 1 + random() % 3;
    const std::array<double, 3> sizes{one_of(random, kFirst), one_of(random, kSecond),
                                      one_of(random, kThird)};
    double gbps = 2000;
    for (std::size_t level = 0; level < levels; ++level) {
      const Kind kind = level == 0 ? Kind{16, Replacement::kLru, false} : one_of(random, kKinds);
      const double added = level + 1 == levels ? 180 : (level == 0 ? 20 : 50);
      h.caches.push_back(cache_of(sizes.at(level) * kKiB, 128, kind, level > 0, added, gbps));
      gbps /= 2.5;
    }
    h.memory_gbps = gbps;
    if (random() % 3 == 0) {
      const std::uint32_t entries = h.page == 4096 ? 4096 : 256;
      h.tlbs.push_back(tlb_of(entries, h.page, 8, true, 150));
    }
    one.largest = 64 * kMiB;
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<HierarchyCase> judging_hierarchies(std::size_t count, double largest,
                                               std::uint64_t seed) {
  Random random(seed);
  constexpr std::array<std::uint32_t, 5> kWays{2, 4, 8, 12, 32};
  constexpr std::array<std::uint32_t, 2> kLines{64, 128};
  constexpr std::array<std::uint64_t, 3> kPages{4096, 16384, 65536};
  std::vector<HierarchyCase> cases;
  for (std::size_t i = 0; i < count; ++i) {
    HierarchyCase one;
    SimulatedHierarchy& h = one.hierarchy;
    one.largest = largest;
    h.base_ns = between(random, 15, 60);
    h.page = one_of(random, kPages);
    const std::size_t levels = 1 + random() % 4;
    double bytes = octaves_between(random, 10 * kKiB, 150 * kKiB);
    double gbps = between(random, 800, 3000);
    const std::uint32_t line = one_of(random, kLines);
    for (std::size_t level = 0; level < levels && bytes < largest / 3.5; ++level) {
      Kind kind{one_of(random, kWays), Replacement::kLru, chance(random, level == 0 ? 0.2 : 0.7)};
      if (chance(random, level == 0 ? 0.15 : 0.35)) {
        kind.replacement = Replacement::kRandom;
      } else if (chance(random, 0.25)) {
        kind = {chance(random, 0.5) ? 8U : 16U, Replacement::kTreeLru, kind.hashed};
      }
      h.caches.push_back(cache_of(bytes, line, kind, level > 0 && chance(random, 0.8), 0, gbps));
      bytes *= chance(random, 0.12) ? between(random, 2, 3) : octaves_between(random, 3.5, 24);
      gbps /= between(random, 1.5, 4);
    }
    h.memory_gbps = gbps;
    double cost = h.base_ns;
    for (std::size_t level = 0; level < h.caches.size(); ++level) {
      const bool to_memory = level + 1 == h.caches.size();
      h.caches[level].added_ns = cost * between(random, to_memory ? 0.6 : 0.25, to_memory ? 2 : 1);
      cost += h.caches[level].added_ns;
    }
    if (chance(random, 0.4)) {
      // Its reach lies inside what is walked.
      const double reach = octaves_between(random, 512 * kKiB, largest / 4);
      const auto entries = static_cast<std::uint32_t>(
          std::max(8.0, std::round(reach / static_cast<double>(h.page) / 8) * 8));
      h.tlbs.push_back(
          tlb_of(entries, h.page, 8, chance(random, 0.5), cost * between(random, 0.15, 0.8)));
    }
    one.name = fmt::format("judged {}", i);
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<HierarchyCase> sold_hierarchies(std::size_t count, double largest, std::uint64_t seed) {
  Random random(seed);
  constexpr std::array<double, 6> kFirst{16, 32, 64, 128, 192, 256};
  constexpr std::array<double, 4> kThird{1024, 2048, 4096, 6144};
  constexpr std::array<std::uint32_t, 3> kWays{4, 8, 16};
  constexpr std::array<std::uint64_t, 3> kPages{4096, 65536, 2 * 1024 * 1024};
  std::vector<HierarchyCase> cases;
  for (std::size_t i = 0; i < count; ++i) {
    HierarchyCase one;
    one.name = fmt::format("sold {}", i);
    one.largest = largest;
    SimulatedHierarchy& h = one.hierarchy;
    h.base_ns = between(random, 25, 45);
    h.page = one_of(random, kPages);
    const std::uint32_t line = chance(random, 0.6) ? 128 : 64;
    double gbps = between(random, 1500, 3000);
    const auto add = [&](double kib, const Kind& kind, bool physical, double added_ns) {
      h.caches.push_back(cache_of(kib * kKiB, line, kind, physical, added_ns, gbps));
      gbps /= between(random, 1.8, 3);
    };
    const auto lru = [&](double hashed) {
      return Kind{one_of(random, kWays), Replacement::kLru, chance(random, hashed)};
    };
    const double first = one_of(random, kFirst);
    add(first, lru(0.3), false, between(random, 15, 30));
    if (chance(random, 0.5)) {
      add(first <= 64 ? 256 : 1024, lru(0.5), true, between(random, 30, 50));
    }
    const double third = one_of(random, kThird) * (first > 64 && h.caches.size() > 1 ? 2 : 1);
    const bool last = chance(random, 0.6) || third * kKiB > largest / 16;
    add(third, lru(0.6), true, last ? between(random, 150, 250) : between(random, 60, 90));
    if (!last) {
      const Kind side{16, chance(random, 0.5) ? Replacement::kRandom : Replacement::kLru, true};
      add(third * (chance(random, 0.5) ? 4 : 8), side, true, between(random, 80, 140));
    }
    h.memory_gbps = gbps;
    if (chance(random, 0.4)) {
      // From a reach of a quarter of the largest set down.
      const double reach = largest / std::exp2(2.0 + static_cast<double>(random() % 3));
      const auto entries =
          static_cast<std::uint32_t>(std::max(8.0, reach / static_cast<double>(h.page)));
      h.tlbs.push_back(tlb_of(entries, h.page, 8, true, between(random, 60, 300)));
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

MeasuredHierarchy measure_hierarchy(const HierarchyCase& what, double per_octave,
                                    std::uint64_t seed) {
  MeasuredHierarchy measured;
  for (int i = 0;; ++i) {
    const double exact = kSmallestSet * std::exp2(i / per_octave);
    if (exact > what.largest * 1.001) {
      return measured;
    }
    const double bytes = std::round(exact / kNode) * kNode;
    measured.bytes.push_back(bytes);
    measured.walks.push_back(walk(what.hierarchy, bytes, kNode, Walk::kCycle, seed + 1));
    measured.gbps.push_back(bandwidth(what.hierarchy, bytes, seed + 1));
  }
}

namespace {

class NoisyPoints {
 public:
  NoisyPoints(const NoiseOf& noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  analysis::BenchPoint point(double x, double y) {
    const double outlier = between(random_, 0, 1) < noise_.outliers ? 1.25 : 1;
    analysis::BenchPoint result;
    result.x = x;
    result.median = y * std::max(0.5, 1 + noise_.relative * normal_(random_)) * outlier;
    result.samples = 20;
    return result;
  }

  double normal() { return normal_(random_); }

 private:
  NoiseOf noise_;
  Random random_;
  std::normal_distribution<double> normal_;
};

}  // namespace

analysis::TestResult latency_result(const MeasuredHierarchy& measured, const NoiseOf& noise,
                                    std::uint64_t seed) {
  NoisyPoints noisy(noise, seed);
  analysis::TestResult test;
  test.id = "latency.vector";
  test.unit = "ns a hop";
  test.axis = "working set";
  test.axis_unit = "B";
  test.series.push_back({"1 chain", {}});
  for (std::size_t i = 0; i < measured.bytes.size(); ++i) {
    test.series[0].points.push_back(noisy.point(measured.bytes[i], measured.walks[i].mean_ns));
  }
  return test;
}

analysis::TestResult hops_result(const MeasuredHierarchy& measured, const NoiseOf& noise,
                                 std::uint64_t seed) {
  NoisyPoints noisy(noise, seed);
  analysis::TestResult test;
  test.id = "latency.hops";
  test.unit = "share of hops";
  test.axis = "clocks";
  for (std::size_t i = 0; i < measured.bytes.size(); ++i) {
    std::map<int, double> bins;
    const std::vector<double>& all = measured.walks[i].ns;
    for (const double ns : all) {
      // Each hop has its own jitter; most of it is the clock's.
      const double clocks = ns * kClocksPerNs * (1 + 0.02 * noisy.normal()) + 2 * noisy.normal();
      bins[static_cast<int>(clocks / kClocksPerBin)] += 1.0 / static_cast<double>(all.size());
    }
    analysis::BenchSeries series{fmt::format("{} B", measured.bytes[i]), {}};
    for (const auto& [bin, share] : bins) {
      analysis::BenchPoint point;
      point.x = (bin + 0.5) * kClocksPerBin;
      point.median = share;
      series.points.push_back(point);
    }
    test.series.push_back(std::move(series));
  }
  return test;
}

analysis::TestResult bandwidth_result(const MeasuredHierarchy& measured, const NoiseOf& noise,
                                      std::uint64_t seed) {
  NoisyPoints noisy(noise, seed);
  analysis::TestResult test;
  test.id = "bandwidth.read";
  test.unit = "GB/s";
  test.axis = "working set";
  test.axis_unit = "B";
  test.series.push_back({"shared", {}});
  for (std::size_t i = 0; i < measured.bytes.size(); ++i) {
    analysis::BenchPoint point = noisy.point(measured.bytes[i], 1 / measured.gbps[i]);
    point.median = 1 / point.median.value_or(1);
    test.series[0].points.push_back(point);
  }
  return test;
}

}  // namespace gputrace::test
