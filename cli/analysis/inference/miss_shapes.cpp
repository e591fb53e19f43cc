#include "cli/analysis/inference/miss_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gputrace::analysis::inference {

namespace {

/// Tables reach from ratios of 2^kLowest to 2^kHighest.
constexpr double kLowest = -4;
constexpr double kHighest = 5;
constexpr int kStepsPerOctave = 32;
constexpr int kIterations = 200;
constexpr double kConverged = 1e-5;

/// Ways of a cache whose knee counts as sharp: set by set one line too many, until all have it.
constexpr double kSharpWays = 16;

/// In a cycle all lines of a set miss as soon as there is one more than it has ways.
double sharp(double ratio) {
  const double full = (ratio - 1) * kSharpWays;  // share of sets with a line too many
  return std::clamp(full * (kSharpWays + 1) / (kSharpWays * ratio), 0.0, 1.0);
}

/// A line is still there if none of the misses since its last use took its way. There are as many
/// as miss in one cycle: a fixed point, of which the smaller one is reached.
double random_hits(double lines, double survival_of_one) {
  double hits = 0;
  for (int i = 0; i < kIterations; ++i) {
    const double before = hits;
    hits = std::pow(survival_of_one, lines * (1 - hits));
    if (hits - before < kConverged) {
      break;
    }
  }
  return hits;
}

template <class MissOfSet>
double over_poisson_sets(double ways, double ratio, MissOfSet miss) {
  const double mean = ways * ratio;
  double missed = 0;
  double all = 0;
  const double last = mean + 6 * std::sqrt(mean) + 12;
  const double log_mean = std::log(mean);
  double log_weight = -mean;
  for (int count = 1; count < last; ++count) {
    const double lines = count;
    log_weight += log_mean - std::log(lines);
    if (lines < mean - 6 * std::sqrt(mean)) {
      continue;
    }
    const double weight = lines * std::exp(log_weight);
    all += weight;
    missed += weight * miss(lines);
  }
  return all > 0 ? missed / all : 0;
}

double lru_poisson(double ways, double ratio) {
  return over_poisson_sets(ways, ratio, [ways](double lines) { return lines > ways ? 1.0 : 0.0; });
}

/// A share u of the walk lies between the two visits of a line, and the rest before the next. In it
/// come 1 - (1 - u)^2 of the lines: it is a hit if no more than fit.
double pair_misses(double ratio) {
  return ratio <= 1 ? 0 : std::sqrt(1 - 1 / ratio);
}

double lru_poisson_pairs(double ways, double ratio) {
  return over_poisson_sets(ways, ratio, [ways](double lines) { return pair_misses(lines / ways); });
}

/// As random_hits(), with gaps of all lengths; `loss` is minus the logarithm of the survival of one
/// miss.
double random_pair_hits(double lines, double loss) {
  double hits = 0;
  for (int i = 0; i < kIterations; ++i) {
    const double before = hits;
    const double lost = std::max(2 * (1 - hits) * lines * loss, kConverged);
    hits = -std::expm1(-lost) / lost;
    if (hits - before < kConverged) {
      break;
    }
  }
  return hits;
}

double random_poisson(double ways, double ratio) {
  return over_poisson_sets(ways, ratio, [ways](double lines) {
    return lines <= ways ? 0 : 1 - random_hits(lines, 1 - 1 / ways);
  });
}

double random_poisson_pairs(double ways, double ratio) {
  return over_poisson_sets(ways, ratio, [ways](double lines) {
    return lines <= ways ? 0 : 1 - random_pair_hits(lines, -std::log1p(-1 / ways));
  });
}

double exact_share(MissShape shape, double ratio) {
  switch (shape) {
    case MissShape::kSharp:
      return sharp(ratio);
    case MissShape::kSharpPairs:
      return pair_misses(ratio);
    case MissShape::kPoisson16:
      return lru_poisson(16, ratio);
    case MissShape::kPoisson16Pairs:
      return lru_poisson_pairs(16, ratio);
    case MissShape::kPoisson8:
      return lru_poisson(8, ratio);
    case MissShape::kPoisson8Pairs:
      return lru_poisson_pairs(8, ratio);
    case MissShape::kPoisson4:
      return lru_poisson(4, ratio);
    case MissShape::kPoisson4Pairs:
      return lru_poisson_pairs(4, ratio);
    case MissShape::kRandom:
      return ratio <= 1 ? 0 : 1 - random_hits(ratio, std::exp(-1.0));
    case MissShape::kRandomPairs:
      return ratio <= 1 ? 0 : 1 - random_pair_hits(ratio, 1);
    case MissShape::kRandomPoisson:
      return random_poisson(8, ratio);
    case MissShape::kRandomPoissonPairs:
      return random_poisson_pairs(8, ratio);
    case MissShape::kPoisson2:
      return lru_poisson(2, ratio);
    case MissShape::kPoisson2Pairs:
      return lru_poisson_pairs(2, ratio);
    case MissShape::kRandomPoisson4:
      return random_poisson(4, ratio);
    case MissShape::kRandomPoisson4Pairs:
      return random_poisson_pairs(4, ratio);
    case MissShape::kRandomPoisson2:
      return random_poisson(2, ratio);
    case MissShape::kRandomPoisson2Pairs:
      return random_poisson_pairs(2, ratio);
    case MissShape::kProportional:
      break;
  }
  return ratio <= 1 ? 0 : 1 - 1 / ratio;
}

std::vector<double> make_table(MissShape shape) {
  std::vector<double> table;
  const auto steps = static_cast<int>((kHighest - kLowest) * kStepsPerOctave);
  table.reserve(static_cast<std::size_t>(steps) + 1);
  for (int i = 0; i <= steps; ++i) {
    table.push_back(exact_share(shape, std::exp2(kLowest + double{1} * i / kStepsPerOctave)));
  }
  return table;
}

const std::vector<double>& table_of(MissShape shape) {
  static const std::array<std::vector<double>, kAllMissShapes.size()> kTables = [] {
    std::array<std::vector<double>, kAllMissShapes.size()> tables;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      tables.at(i) = make_table(kAllMissShapes.at(i));
    }
    return tables;
  }();
  return kTables.at(static_cast<std::size_t>(shape));
}

}  // namespace

double miss_share_of_octaves(MissShape shape, double octaves) {
  const double place = (octaves - kLowest) * kStepsPerOctave;
  const std::vector<double>& table = table_of(shape);
  if (place <= 0) {
    return 0;
  }
  const auto index = static_cast<std::size_t>(place);
  if (index + 1 >= table.size()) {
    return 1 - (1 - table.back()) * std::exp2(kHighest - octaves);
  }
  const double part = place - std::floor(place);
  return table[index] * (1 - part) + table[index + 1] * part;
}

}  // namespace gputrace::analysis::inference
