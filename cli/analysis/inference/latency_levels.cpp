#include "cli/analysis/inference/latency_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/hit_share.h"
#include "cli/analysis/inference/level_fit.h"

namespace gputrace::analysis::inference {

namespace {

/// Twice the logarithm of a likelihood ratio: with less, noise could have made the level.
constexpr double kSureGain = 20;
/// What is "sure" or "likely" is known to an octave.
constexpr double kWidest = 1;
/// What is "sure" is known to this factor on both sides by the curve alone, and to the second one
/// where hops are the only other witness.
constexpr double kSureWithin = 1.5;
constexpr double kSureWithinOfTwo = 1.2;
/// Witnesses whose best sizes are farther apart than this, in octaves, do not confirm each other.
constexpr double kWitnessesApart = 0.5;
/// For a level to be "sure" two other witnesses must be nearer to each other than this: one may
/// have seen a neighbour.
constexpr double kOthersApart = 0.3;
/// And hops alone must be as near to the curve.
constexpr double kOtherApart = 0.12;
/// Where working sets are farther apart than this factor, nothing is "sure".
constexpr double kFarApart = 1.7;
/// Points that scatter by more about the fit were disturbed, or have a shape that is none of ours.
constexpr double kMostScatter = 0.08;
constexpr std::size_t kFewestBehind = 2;
constexpr std::size_t kAllLevels = 16;
/// A latency is "likely" when it is known to this share.
constexpr double kLatencyWidth = 0.2;

constexpr std::string_view kHops = "share of hops";

constexpr std::string_view kOneChain = "1 chain";

std::string_view main_series(const TestResult& path) {
  const bool has = std::ranges::any_of(
      path.series, [](const BenchSeries& series) { return series.name == kOneChain; });
  return has || path.series.empty() ? kOneChain : std::string_view(path.series.front().name);
}

Curve inverse(Curve curve) {
  for (CurvePoint& point : curve) {
    point.y = 1 / point.y;
  }
  return curve;
}

/// Of rates by working set: a level ends where they fall.
void append_bandwidth(const TestResult& test, std::string_view series, std::size_t most,
                      std::vector<Witness>& witnesses) {
  const LevelFit fit = fit_levels(inverse(usable_curve(test, series)));
  for (std::size_t i = 0; i < std::min(most, fit.levels.size()); ++i) {
    const FittedLevel& level = fit.levels[i];
    witnesses.push_back(
        {fmt::format("{}, {}", test.id, series), {level.size, level.lower, level.upper}});
  }
}

/// Which of the witnesses lies nearest to the size, among those of one kind that confirm it.
std::optional<Witness> nearest(std::span<const Witness> witnesses, const Reading& size,
                               bool by_hops) {
  std::optional<Witness> found;
  double least = kWitnessesApart;
  for (const Witness& witness : witnesses) {
    const double apart = std::abs(std::log2(witness.size.value / size.value));
    if ((witness.name == kHops) == by_hops && overlap(witness.size, size) &&
        octaves(witness.size) <= kWidest && apart <= least) {
      least = apart;
      found = witness;
    }
  }
  return found;
}

/// Shares of hops are known without noise: their size stands.
void narrow(Reading& size, const Reading& by) {
  const double lower = std::max(size.lower, by.lower);
  const double upper = std::min(size.upper, by.upper);
  size.value = by.value;
  size.lower = std::min(lower, size.value);
  size.upper = std::max(upper, size.value);
}

struct Judged {
  Reading size;
  std::string_view confidence = kGuess;
  std::string by;
  bool confirmed = false;  ///< by a witness that no TLB is one of
};

/// Whether sizes lie near enough to each other for the shape of a knee to be seen.
bool is_dense(const Curve& curve) {
  return curve.back().x <
         curve.front().x * std::pow(kFarApart, static_cast<double>(curve.size() - 1));
}

Judged judge(const FittedLevel& level, const LevelFit& fit, const Curve& curve, bool is_ok,
             std::span<const Witness> witnesses, std::string_view series) {
  Judged judged;
  judged.size = {level.size, level.lower, level.upper};
  judged.by = fmt::format("knee of {}", series);
  const auto hops = nearest(witnesses, judged.size, true);
  const auto bandwidth = nearest(witnesses, judged.size, false);
  for (const auto& witness : {hops, bandwidth}) {
    if (witness) {
      judged.by += fmt::format("; {} {}", witness->name, bytes_text(witness->size.value));
    }
  }
  judged.confirmed = bandwidth.has_value();
  if (hops) {
    narrow(judged.size, hops->size);
  }
  const bool strong = level.gain > kSureGain && level.points_behind >= kFewestBehind && is_ok &&
                      fit.scatter <= kMostScatter && octaves(judged.size) <= kWidest;
  const bool has_bandwidth =
      std::ranges::any_of(witnesses, [](const Witness& witness) { return witness.name != kHops; });
  // Bandwidth is read by its knee as latency is, and where sets fill by chance both may be wrong
  // alike: hops must agree, and bandwidth too where it was measured.
  const auto octaves_apart = [](double a, double b) { return std::abs(std::log2(a / b)); };
  bool agreed = false;
  if (hops && bandwidth) {
    agreed = octaves_apart(hops->size.value, bandwidth->size.value) <= kOthersApart;
  } else if (hops && !has_bandwidth) {
    agreed = octaves_apart(hops->size.value, level.size) <= kOtherApart;
  }
  const double within = bandwidth ? kSureWithin : kSureWithinOfTwo;
  const bool narrow_enough =
      judged.size.value <= within * level.lower && level.upper <= within * judged.size.value;
  if (strong) {
    judged.confidence = agreed && narrow_enough && is_dense(curve) ? kSure : kLikely;
  }
  if (const auto nominal = nominal_size(judged.size)) {
    judged.size.value = *nominal;
    judged.by += fmt::format("; the only usual size in {} .. {}", bytes_text(judged.size.lower),
                             bytes_text(judged.size.upper));
  }
  return judged;
}

std::string_view confidence_of(const Reading& latency, bool is_ok) {
  return is_ok && latency.upper - latency.lower <= kLatencyWidth * latency.value ? kLikely : kGuess;
}

/// Local memory is no cache: one latency, whatever is walked.
void read_local(TestResult& path, const Curve& curve) {
  std::vector<double> all;
  for (const CurvePoint& point : curve) {
    all.push_back(point.y);
  }
  std::ranges::sort(all);
  path.derived.push_back(derived_value("local.latency",
                                       {all[(all.size() - 1) / 2], all.front(), all.back()}, "ns",
                                       kLikely, "the middle of its sizes"));
}

}  // namespace

std::vector<Witness> other_witnesses(const BenchRun& run) {
  std::vector<Witness> witnesses;
  for (const TestResult& test : run.tests) {
    if (test.id == "latency.hops") {
      for (const ServedLevel& level : levels_by_share(test)) {
        witnesses.push_back({std::string(kHops), {level.size, level.lower, level.upper}});
      }
    }
    if (test.id.starts_with("bandwidth.")) {
      // A region for each group: what several groups share is used up sooner than its x says.
      append_bandwidth(test, "own", 1, witnesses);
      append_bandwidth(test, "shared", kAllLevels, witnesses);
    }
    if (test.id == "roofline.levels") {
      for (const DerivedValue& value : test.derived) {
        if (value.what.ends_with(".size") && value.lower && value.upper && *value.lower > 0) {
          witnesses.push_back(
              {test.id, {std::sqrt(*value.lower * *value.upper), *value.lower, *value.upper}});
        }
      }
    }
  }
  return witnesses;
}

void read_hops(TestResult& hops) {
  std::size_t number = 0;
  for (const ServedLevel& level : levels_by_share(hops)) {
    const Reading size{level.size, level.lower, level.upper};
    hops.derived.push_back(derived_value(
        fmt::format("level.{}.size", ++number), size, "B",
        octaves(size) <= kWidest ? kLikely : kGuess,
        fmt::format("share of hops that take about {:.0f} clocks or less", level.clocks)));
  }
}

std::vector<LevelRead> read_path(TestResult& path, std::span<const Witness> witnesses,
                                 std::span<const Reading> tlb_reaches) {
  std::vector<LevelRead> levels;
  const std::string series(main_series(path));
  const Curve curve = usable_curve(path, series);
  if (curve.empty()) {
    return levels;
  }
  if (path.id == "latency.local") {
    read_local(path, curve);
    return levels;
  }
  const LevelFit fit = fit_levels(curve);
  if (fit.last_cost <= 0) {
    return levels;
  }
  const bool is_ok = path.status == TestStatus::kOk;
  std::size_t tlbs = 0;
  double last_size = curve.front().x;
  for (const FittedLevel& level : fit.levels) {
    Judged judged = judge(level, fit, curve, is_ok, witnesses, series);
    const bool is_tlb =
        !judged.confirmed && std::ranges::any_of(tlb_reaches, [&judged](const Reading& reach) {
          return overlap(reach, judged.size);
        });
    last_size = judged.size.upper;
    if (is_tlb) {
      path.derived.push_back(derived_value(fmt::format("tlb.{}.reach", ++tlbs), judged.size, "B",
                                           judged.confidence,
                                           judged.by + "; strides show pages there"));
      continue;
    }
    levels.push_back({judged.size});
    const std::size_t number = levels.size();
    if (!judged.confirmed && tlb_reaches.empty()) {
      judged.by += "; a cache or the reach of a TLB";
    }
    path.derived.push_back(derived_value(fmt::format("level.{}.size", number), judged.size, "B",
                                         judged.confidence, judged.by));
    const Reading latency{level.cost, level.cost_lower, level.cost_upper};
    path.derived.push_back(derived_value(fmt::format("level.{}.latency", number), latency, "ns",
                                         confidence_of(latency, is_ok), "the plateau before it"));
  }
  const Reading last{fit.last_cost, fit.last_lower, fit.last_upper};
  if (levels.empty()) {
    path.derived.push_back(
        derived_value("level.1.latency", last, "ns", confidence_of(last, is_ok),
                      fmt::format("no level ends between {} and {}", bytes_text(curve.front().x),
                                  bytes_text(curve.back().x))));
    return levels;
  }
  const bool far = curve.back().x >= 2 * last_size;
  path.derived.push_back(
      derived_value("memory.latency", last, "ns", far ? confidence_of(last, is_ok) : kGuess,
                    fmt::format("what no level holds, up to {}", bytes_text(curve.back().x))));
  return levels;
}

}  // namespace gputrace::analysis::inference
