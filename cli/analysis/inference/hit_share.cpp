#include "cli/analysis/inference/hit_share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/share_fit.h"

namespace gputrace::analysis::inference {

namespace {

constexpr int kBinsPerOctave = 24;
constexpr double kLowestOctave = 0;
constexpr double kHighestOctave = 20;  ///< the clock of RDNA has 20 bits
/// Of the clocks that it counts: no histogram that tells levels apart has wider ones.
constexpr double kWidestStep = 0.1;
/// A level's hops scatter by some percent: what is narrower than two bins is no peak.
constexpr int kSmoothing = 2;
/// Between two peaks the histogram must fall to this share of the lower one.
constexpr double kValley = 0.5;
/// Of all hops; less are refreshes and interrupts.
constexpr double kLeastShare = 0.003;
/// From one size to the next, a level's bytes may grow by as much and still be those of a cache.
constexpr double kStillGrows = 1.1;
/// Sets that fill unevenly keep a cache from holding its size; how much of it was seen, at most.
constexpr double kUnevenSets = 1.8;
constexpr double kOverread = 0.9;
/// What no shape explains better is not read by shapes.
constexpr double kMostShareError = 0.1;
/// Of large sets a single hop is more than a small cache holds.
constexpr double kLeastServed = 0.15;
constexpr std::size_t kFewestSets = 4;

using Bins = std::vector<double>;

constexpr std::size_t kBins =
    static_cast<std::size_t>((kHighestOctave - kLowestOctave) * kBinsPerOctave);

struct Histogram {
  double bytes = 0;
  Bins share;
};

double bin_of(double clocks) {
  return (std::log2(std::max(clocks, 1.0)) - kLowestOctave) * kBinsPerOctave;
}

/// Where on the clocks' axis a share was counted.
struct Step {
  double from = 0;
  double to = 0;
};

/// Clocks are counted in steps: a share is spread over its step, so that steps make no peaks.
void enter(const Step& step, double share, Bins& bins) {
  const double from = bin_of(step.from);
  const double to = std::max(bin_of(step.to), from + 1e-6);
  for (auto bin = static_cast<std::size_t>(from); bin < kBins && static_cast<double>(bin) < to;
       ++bin) {
    const double low = std::max(from, static_cast<double>(bin));
    const double high = std::min(to, static_cast<double>(bin) + 1);
    bins[bin] += share * (high - low) / (to - from);
  }
}

/// Half way to the neighbours, of all clocks that any series has.
Step step_around(double clocks, const std::vector<double>& all) {
  const auto at = std::ranges::lower_bound(all, clocks);
  const double most = kWidestStep * clocks / 2;
  const double before = at == all.begin() ? most : (clocks - *(at - 1)) / 2;
  const double behind = at == all.end() || at + 1 == all.end() ? most : (*(at + 1) - clocks) / 2;
  return {clocks - std::min(before, most), clocks + std::min(behind, most)};
}

std::vector<Histogram> read_histograms(const TestResult& hops) {
  std::vector<std::pair<double, Curve>> sets;
  std::vector<double> clocks;
  for (const BenchSeries& series : hops.series) {
    const double bytes = bytes_of_name(series.name);
    Curve curve = usable_curve(series);
    if (bytes > 0 && !curve.empty()) {
      for (const BenchPoint& point : series.points) {
        clocks.push_back(point.x);
      }
      sets.emplace_back(bytes, std::move(curve));
    }
  }
  std::ranges::sort(clocks);
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  std::vector<Histogram> all;
  for (const auto& [bytes, curve] : sets) {
    Histogram histogram{bytes, Bins(kBins, 0.0)};
    double sum = 0;
    for (const CurvePoint& point : curve) {
      sum += point.y;
    }
    for (const CurvePoint& point : curve) {
      enter(step_around(point.x, clocks), point.y / sum, histogram.share);
    }
    all.push_back(std::move(histogram));
  }
  std::ranges::sort(all, {}, &Histogram::bytes);
  return all;
}

Bins smooth(const Bins& bins) {
  Bins result(bins.size(), 0.0);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    double weights = 0;
    for (int by = -2 * kSmoothing; by <= 2 * kSmoothing; ++by) {
      const auto at = static_cast<std::ptrdiff_t>(i) + by;
      if (at >= 0 && at < static_cast<std::ptrdiff_t>(bins.size())) {
        const double distance = double{1} * by / kSmoothing;
        const double weight = std::exp(-distance * distance / 2);
        result[i] += weight * bins[static_cast<std::size_t>(at)];
        weights += weight;
      }
    }
    result[i] /= weights;
  }
  return result;
}

struct Peak {
  std::size_t top = 0;
  std::size_t end = 0;  ///< the valley behind it
};

/// Peaks with their valleys, those apart by less than kValley taken together.
std::vector<Peak> find_peaks(const Bins& bins) {
  std::vector<Peak> peaks;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double before = i == 0 ? 0 : bins[i - 1];
    const double behind = i + 1 == bins.size() ? 0 : bins[i + 1];
    if (bins[i] > before && bins[i] >= behind) {
      peaks.push_back({i, bins.size()});
    }
  }
  const auto valley_between = [&](const Peak& a, const Peak& b) {
    return static_cast<std::size_t>(
        std::min_element(bins.begin() + static_cast<std::ptrdiff_t>(a.top),
                         bins.begin() + static_cast<std::ptrdiff_t>(b.top)) -
        bins.begin());
  };
  for (std::size_t i = 0; i + 1 < peaks.size();) {
    peaks[i].end = valley_between(peaks[i], peaks[i + 1]);
    const double lower = std::min(bins[peaks[i].top], bins[peaks[i + 1].top]);
    if (bins[peaks[i].end] <= kValley * lower) {
      ++i;
      continue;
    }
    const std::size_t smaller = bins[peaks[i].top] < bins[peaks[i + 1].top] ? i : i + 1;
    peaks.erase(peaks.begin() + static_cast<std::ptrdiff_t>(smaller));
    i = i > 0 ? i - 1 : 0;
  }
  if (!peaks.empty()) {
    peaks.back().end = bins.size();
  }
  return peaks;
}

double sum_of(const Bins& bins, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) {
    sum += bins[i];
  }
  return sum;
}

/// The size that the missing shares say; where no shape is like them, what is held at most.
ServedLevel level_of(std::span<const double> bytes, std::span<const double> served,
                     double most_held) {
  std::vector<double> missed;
  for (const double share : served) {
    missed.push_back(1 - share);
  }
  const ShareFit fit = fit_missed_share(bytes, missed);
  ServedLevel level;
  level.size = most_held;
  level.lower = kOverread * most_held;
  level.upper = kUnevenSets * most_held;
  if (fit.error <= kMostShareError) {
    level.size = fit.size.value;
    level.lower = fit.size.lower;
    level.upper = fit.size.upper;
  }
  return level;
}

}  // namespace

std::vector<ServedLevel> levels_by_share(const TestResult& hops) {
  std::vector<ServedLevel> levels;
  const std::vector<Histogram> histograms = read_histograms(hops);
  if (histograms.size() < kFewestSets) {
    return levels;
  }
  // Of each size the most that any bin has: a peak counts that few sizes show.
  Bins together(kBins, 0.0);
  Bins all(kBins, 0.0);
  for (const Histogram& histogram : histograms) {
    const Bins smoothed = smooth(histogram.share);
    for (std::size_t i = 0; i < kBins; ++i) {
      together[i] = std::max(together[i], smoothed[i]);
      all[i] += histogram.share[i] / static_cast<double>(histograms.size());
    }
  }
  std::vector<double> bytes;
  bytes.reserve(histograms.size());
  for (const Histogram& histogram : histograms) {
    bytes.push_back(histogram.bytes);
  }
  std::size_t begin = 0;
  for (const Peak& peak : find_peaks(together)) {
    const double share = sum_of(all, begin, peak.end);
    begin = peak.end;
    if (share < kLeastShare || peak.end == kBins) {
      continue;
    }
    std::vector<double> held;
    std::vector<double> served;
    for (const Histogram& histogram : histograms) {
      served.push_back(sum_of(histogram.share, 0, peak.end));
      held.push_back(served.back() < kLeastServed ? 0 : histogram.bytes * served.back());
    }
    const auto most =
        static_cast<std::size_t>(std::max_element(held.begin(), held.end()) - held.begin());
    const bool grows = most + 1 == held.size() && held[most] > kStillGrows * held[most - 1];
    if (held[most] <= 0 || grows) {
      continue;
    }
    ServedLevel level = level_of(bytes, served, held[most]);
    level.clocks =
        std::exp2(kLowestOctave + (static_cast<double>(peak.top) + 0.5) / kBinsPerOctave);
    levels.push_back(level);
  }
  return levels;
}

}  // namespace gputrace::analysis::inference
