#include "cli/analysis/inference/granules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace gputrace::analysis::inference {

namespace {

constexpr int kSmallestPower = 4;  // 16 bytes
constexpr int kLargestPower = 21;  // 2 MiB
constexpr std::size_t kFewestStrides = 3;
/// A knee farther away than this from where it should be, in octaves, is another one.
constexpr double kSame = 0.5;
/// A stride that shows nothing there counts as an octave.
constexpr double kMissing = 1;
/// On average the knees must be as near as this.
constexpr double kMostMiss = 0.4;
constexpr double kSeenShare = 0.6;
/// What a stride more is worth when two explanations are as good.
constexpr double kStrideWorth = 0.06;
/// Explanations this near to the best cannot be told from it.
constexpr double kAlike = 0.1;
/// Knees within these ends of what was walked are seen.
constexpr double kFewestNodes = 6;
constexpr double kFromEnd = 1.5;

/// A knee: which stride's, which of it.
using KneeId = std::pair<std::size_t, std::size_t>;

struct Explanation {
  double granule = 0;
  double entries = 0;
  double miss = 0;
  std::size_t expected = 0;
  std::vector<KneeId> hits;
  std::vector<double> entries_of_hits;
};

class Joiner {
 public:
  explicit Joiner(std::span<const StrideKnees> strides) : strides_(strides) {
    for (const StrideKnees& stride : strides) {
      taken_.emplace_back(stride.knees.size(), false);
    }
  }

  std::optional<Granule> next() {
    const std::vector<Explanation> all = explanations();
    const auto best = std::ranges::min_element(all, {}, judged);
    if (best == all.end()) {
      return std::nullopt;
    }
    Granule granule = describe(*best);
    for (const Explanation& other : all) {
      if (judged(other) < judged(*best) + kAlike && shares_a_knee(other, *best)) {
        granule.granule_lower = std::min(granule.granule_lower, other.granule);
        granule.granule_upper = std::max(granule.granule_upper, other.granule);
      }
    }
    for (const auto& [stride, knee] : best->hits) {
      taken_[stride][knee] = true;
    }
    return granule;
  }

 private:
  static double judged(const Explanation& explanation) {
    return explanation.miss - kStrideWorth * static_cast<double>(explanation.hits.size());
  }

  static bool shares_a_knee(const Explanation& a, const Explanation& b) {
    return std::ranges::any_of(
        a.hits, [&b](const KneeId& id) { return std::ranges::find(b.hits, id) != b.hits.end(); });
  }

  [[nodiscard]] std::vector<Explanation> explanations() const {
    std::vector<Explanation> all;
    for (std::size_t stride = 0; stride < strides_.size(); ++stride) {
      for (std::size_t knee = 0; knee < strides_[stride].knees.size(); ++knee) {
        if (taken_[stride][knee]) {
          continue;
        }
        // Granules up to the smallest stride explain the same: the largest of them comes first,
        // and the others make its interval.
        for (int power = kLargestPower; power >= kSmallestPower; --power) {
          const double granule = std::ldexp(1, power);
          const double entries =
              strides_[stride].knees[knee].size / std::max(granule, strides_[stride].stride);
          if (auto explanation = explain(granule, entries)) {
            all.push_back(std::move(*explanation));
          }
        }
      }
    }
    return all;
  }

  [[nodiscard]] std::optional<Explanation> explain(double granule, double entries) const {
    Explanation explanation{.granule = granule,
                            .entries = entries,
                            .miss = 0,
                            .expected = 0,
                            .hits = {},
                            .entries_of_hits = {}};
    for (std::size_t stride = 0; stride < strides_.size(); ++stride) {
      const StrideKnees& walked = strides_[stride];
      const double bytes = std::max(granule, walked.stride);
      const double size = entries * bytes;
      if (size < std::max(walked.smallest, kFewestNodes * walked.stride) ||
          size > walked.largest / kFromEnd) {
        continue;
      }
      double nearest = kMissing;
      std::optional<std::size_t> hit;
      for (std::size_t knee = 0; knee < walked.knees.size(); ++knee) {
        const double apart = std::abs(std::log2(walked.knees[knee].size / size));
        if (!taken_[stride][knee] && apart < nearest) {
          nearest = apart;
          hit = knee;
        }
      }
      ++explanation.expected;
      explanation.miss += nearest;
      if (hit && nearest < kSame) {
        explanation.hits.emplace_back(stride, *hit);
        explanation.entries_of_hits.push_back(walked.knees[*hit].size / bytes);
      }
    }
    explanation.miss /= static_cast<double>(std::max<std::size_t>(explanation.expected, 1));
    const auto hits = static_cast<double>(explanation.hits.size());
    if (explanation.hits.size() < kFewestStrides || explanation.miss > kMostMiss ||
        hits < kSeenShare * static_cast<double>(explanation.expected)) {
      return std::nullopt;
    }
    return explanation;
  }

  [[nodiscard]] Granule describe(const Explanation& explanation) const {
    std::vector<double> entries = explanation.entries_of_hits;
    std::ranges::sort(entries);
    Granule granule;
    granule.granule = granule.granule_lower = granule.granule_upper = explanation.granule;
    granule.entries = entries[(entries.size() - 1) / 2];
    granule.entries_lower = entries.front();
    granule.entries_upper = entries.back();
    granule.smallest_stride = std::ranges::min(strides_, {}, &StrideKnees::stride).stride;
    granule.miss = explanation.miss;
    granule.seen = explanation.hits.size();
    granule.expected = explanation.expected;
    return granule;
  }

  std::span<const StrideKnees> strides_;
  std::vector<std::vector<bool>> taken_;
};

}  // namespace

std::vector<Granule> join_strides(std::span<const StrideKnees> strides) {
  std::vector<Granule> granules;
  Joiner joiner(strides);
  while (auto granule = joiner.next()) {
    granules.push_back(*granule);
  }
  std::ranges::sort(granules, {}, &Granule::capacity);
  return granules;
}

}  // namespace gputrace::analysis::inference
