#include "cli/analysis/inference/level_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "cli/analysis/inference/additive_model.h"

namespace gputrace::analysis::inference {

namespace {

constexpr std::size_t kFewestPoints = 5;
constexpr std::size_t kMostLevels = 6;
/// A level is described by its size, its cost and its shape.
constexpr std::size_t kPointsPerLevel = 3;
/// What a level must gain, in units of the logarithm of the number of points.
constexpr double kLevelCost = 4;
/// Less than this share of the cost before it is no level: a drift, or a shape that is not ours.
constexpr double kLeastAdded = 0.04;
/// The last points alone may be disturbed ones: a level behind which there are no more than these
/// must gain more. One point is enough only where points lie far apart, since no other would show
/// the level.
constexpr std::size_t kFewBehind = 2;
constexpr double kGainOfFew = 30;
constexpr double kFarApart = 1.7;
/// Two knees nearer than this (a factor of 1.5) are one level whose shape is not quite ours.
constexpr int kApart = 7;
constexpr std::size_t kScanned = 10;
constexpr std::size_t kStarts = 2;
constexpr std::size_t kLookAhead = 2;
constexpr int kSplit = 9;  ///< places
constexpr std::size_t kRefined = 3;
constexpr int kRefineReach = 9;  ///< places
constexpr int kRefineRounds = 3;
/// Where the interval is as wide as that, in octaves, all of it is as likely: its middle stands for
/// it.
constexpr double kFlatOctaves = 0.45;
/// How far a profile looks to both sides, in steps of two places.
constexpr int kProfileStep = 2;
constexpr int kProfileSteps = 9;
/// Chi-squared of one parameter at 95 % is 3.84; shapes that are not quite ours need more.
constexpr double kProfileGain = 12;

struct Fitted {
  std::vector<Knee> knees;
  Solution solution;
};

class Search {
 public:
  explicit Search(const Curve& curve) : model_(curve) {}

  [[nodiscard]] Fitted run() const {
    Fitted best{{}, model_.solve({})};
    const std::size_t most = std::min(kMostLevels, (model_.points() - 2) / kPointsPerLevel);
    Fitted ahead = best;
    // Two levels may explain together what neither does alone.
    while (ahead.knees.size() < std::min(most, best.knees.size() + kLookAhead)) {
      ahead = with_one_more(ahead);
      if (judged(ahead) < judged(best)) {
        best = ahead;
      }
    }
    prune(best);
    return best;
  }

  [[nodiscard]] const AdditiveModel& model() const { return model_; }

  /// Moves the knee to where the curve is likeliest, the others as they are.
  [[nodiscard]] bool move_one(Fitted& fitted, std::size_t which, int first, int last,
                              std::size_t tried) const {
    bool moved = false;
    std::vector<Knee> trial = fitted.knees;
    for (const Knee& knee :
         model_.rank(fitted.knees, which, first, last, fitted.solution.weight, tried)) {
      trial[which] = knee;
      Solution solution = model_.solve(trial, fitted.solution.weight);
      if (solution.score < fitted.solution.score - kLeastGain) {
        fitted = {trial, std::move(solution)};
        moved = true;
      }
    }
    return moved;
  }

 private:
  static constexpr double kLeastGain = 1e-3;

  /// With the price of the levels.
  [[nodiscard]] double judged(const Fitted& fitted) const {
    return fitted.solution.score + kLevelCost * std::log(static_cast<double>(model_.points())) *
                                       static_cast<double>(fitted.knees.size());
  }

  /// The best of a new knee and of one of the knees taken for two.
  [[nodiscard]] Fitted with_one_more(const Fitted& before) const {
    std::vector<Fitted> all = with_new_knee(before);
    for (std::size_t i = 0; i < before.knees.size(); ++i) {
      std::vector<Knee> knees = before.knees;
      const int place = knees[i].place;
      knees[i].place = std::max(place - kSplit, 0);
      knees.push_back({std::min(place + kSplit, model_.places() - 1), knees[i].shape});
      all.push_back({knees, model_.solve(knees)});
    }
    Fitted best;
    for (Fitted& each : all) {
      refine(each);
      if (best.knees.empty() || each.solution.score < best.solution.score) {
        best = std::move(each);
      }
    }
    return best;
  }

  /// A few starts, of the likeliest places, far from each other.
  [[nodiscard]] std::vector<Fitted> with_new_knee(const Fitted& before) const {
    std::vector<Knee> trial = before.knees;
    trial.push_back({});
    // Equal weights: to the fit without it a new level looks like points gone wrong.
    const std::vector<double> equal(model_.points(), 1.0);
    std::vector<Fitted> found;
    for (const Knee& knee :
         model_.rank(trial, trial.size() - 1, 0, model_.places() - 1, equal, kScanned)) {
      trial.back() = knee;
      found.push_back({trial, model_.solve(trial, equal)});
    }
    std::ranges::sort(found, {}, [](const Fitted& fitted) { return fitted.solution.score; });
    std::vector<Fitted> starts;
    for (Fitted& each : found) {
      const bool is_new = std::ranges::none_of(starts, [&each](const Fitted& other) {
        return std::abs(each.knees.back().place - other.knees.back().place) < kApart;
      });
      if (is_new && starts.size() < kStarts) {
        starts.push_back(std::move(each));
      }
    }
    return starts;
  }

  void refine(Fitted& fitted) const {
    for (int round = 0; round < kRefineRounds; ++round) {
      bool moved = false;
      for (std::size_t i = 0; i < fitted.knees.size(); ++i) {
        const int place = fitted.knees[i].place;
        moved |= move_one(fitted, i, place - kRefineReach, place + kRefineReach, kRefined);
      }
      if (!moved) {
        return;
      }
    }
  }

  [[nodiscard]] Fitted without(const Fitted& fitted, std::size_t which) const {
    Fitted fewer;
    fewer.knees = fitted.knees;
    fewer.knees.erase(fewer.knees.begin() + static_cast<std::ptrdiff_t>(which));
    fewer.solution = model_.solve(fewer.knees);
    return fewer;
  }

  /// Whether a few points at the end, which may be disturbed, are all that shows the knee.
  [[nodiscard]] bool stands_on_few(const Fitted& fitted, const Fitted& without_it,
                                   std::size_t which) const {
    const double size = model_.size_at(fitted.knees[which].place);
    const Curve& curve = model_.curve();
    if (curve[curve.size() - 1 - kFewBehind].x >= size) {
      return false;
    }
    const bool one = curve[curve.size() - kFewBehind].x < size;
    return without_it.solution.score - fitted.solution.score < kGainOfFew ||
           (one && curve.back().x < kFarApart * curve[curve.size() - kFewBehind].x);
  }

  /// Leaves out the one of two knees that is missed less; whether there were two so near.
  [[nodiscard]] bool merge_near(Fitted& fitted) const {
    for (std::size_t i = 0; i + 1 < fitted.knees.size(); ++i) {
      if (fitted.knees[i + 1].place - fitted.knees[i].place > kApart) {
        continue;
      }
      Fitted first = without(fitted, i);
      Fitted second = without(fitted, i + 1);
      refine(first);
      refine(second);
      fitted = first.solution.score < second.solution.score ? std::move(first) : std::move(second);
      return true;
    }
    return false;
  }

  void prune(Fitted& fitted) const {
    for (bool again = true; again;) {
      again = false;
      std::ranges::sort(fitted.knees, {}, &Knee::place);
      fitted.solution = model_.solve(fitted.knees);
      if (merge_near(fitted)) {
        again = true;
        continue;
      }
      double cost = fitted.solution.parts[0];
      for (std::size_t i = 0; i < fitted.knees.size() && !again; ++i) {
        const double added = fitted.solution.parts[i + 1];
        Fitted fewer = without(fitted, i);
        const bool weak = added < kLeastAdded * cost || stands_on_few(fitted, fewer, i);
        refine(fewer);
        if (weak || judged(fewer) <= judged(fitted)) {
          fitted = std::move(fewer);
          again = true;
        }
        cost += added;
      }
    }
  }

  AdditiveModel model_;
};

/// Costs of all levels and of what lies behind them, with the widest intervals met.
struct Costs {
  std::vector<double> at;
  std::vector<double> lower;
  std::vector<double> upper;

  void widen(const std::vector<double>& parts) {
    double cost = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      cost += parts[i];
      lower[i] = std::min(lower[i], cost);
      upper[i] = std::max(upper[i], cost);
    }
  }
};

Costs costs_of(const AdditiveModel& model, std::span<const Knee> knees, const Solution& solution) {
  constexpr double kErrors = 2;
  Costs costs;
  const std::vector<double> errors = model.cost_errors(knees, solution);
  double cost = 0;
  for (std::size_t i = 0; i < solution.parts.size(); ++i) {
    cost += solution.parts[i];
    costs.at.push_back(cost);
    costs.lower.push_back(std::max(0.0, cost - kErrors * errors[i]));
    costs.upper.push_back(cost + kErrors * errors[i]);
  }
  return costs;
}

/// The sizes of one knee that the curve does not rule out, whatever its shape and its neighbours.
void profile(const Search& search, const Fitted& best, std::size_t which, FittedLevel& level,
             Costs& costs) {
  const AdditiveModel& model = search.model();
  const int found = best.knees[which].place;
  int lowest = found;
  int highest = found;
  for (const int direction : {-1, 1}) {
    for (int step = 1; step <= kProfileSteps; ++step) {
      const int place = found + direction * step * kProfileStep;
      if (place < 0 || place >= model.places()) {
        break;
      }
      Fitted held = best;
      held.solution.score = std::numeric_limits<double>::infinity();
      if (!search.move_one(held, which, place, place, 2)) {
        break;
      }
      for (std::size_t i = which == 0 ? 0 : which - 1; i <= which + 1 && i < held.knees.size();
           ++i) {
        if (i != which && held.solution.score - best.solution.score > kProfileGain) {
          const int at = held.knees[i].place;
          (void)search.move_one(held, i, at - kRefineReach, at + kRefineReach, 2);
        }
      }
      if (held.solution.score - best.solution.score > kProfileGain) {
        break;
      }
      (direction < 0 ? lowest : highest) = place;
      costs.widen(held.solution.parts);
    }
  }
  const double half_step = std::exp2(double{1} * kProfileStep / 2 / kPlacesPerOctave);
  level.lower = model.size_at(lowest) / half_step;
  level.upper = model.size_at(highest) * half_step;
}

}  // namespace

LevelFit fit_levels(const Curve& curve) {
  LevelFit fit;
  if (curve.size() < kFewestPoints) {
    return fit;
  }
  const Search search(curve);
  const AdditiveModel& model = search.model();
  const Fitted best = search.run();
  Costs costs = costs_of(model, best.knees, best.solution);
  for (std::size_t i = 0; i < best.knees.size(); ++i) {
    FittedLevel level;
    level.size = model.size_at(best.knees[i].place);
    level.shape = best.knees[i].shape;
    level.added = best.solution.parts[i + 1];
    level.points_behind = static_cast<std::size_t>(std::ranges::count_if(
        curve, [&](const CurvePoint& point) { return point.x > level.size; }));
    std::vector<Knee> without = best.knees;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    level.gain = model.solve(without).score - best.solution.score;
    profile(search, best, i, level, costs);
    if (std::log2(level.upper / level.lower) >= kFlatOctaves) {
      level.size = std::sqrt(level.size * std::sqrt(level.lower * level.upper));
    }
    fit.levels.push_back(level);
  }
  for (std::size_t i = 0; i < fit.levels.size(); ++i) {
    fit.levels[i].cost = costs.at[i];
    fit.levels[i].cost_lower = costs.lower[i];
    fit.levels[i].cost_upper = costs.upper[i];
  }
  fit.last_cost = costs.at.back();
  fit.last_lower = costs.lower.back();
  fit.last_upper = costs.upper.back();
  fit.scatter = best.solution.scatter;
  return fit;
}

}  // namespace gputrace::analysis::inference
