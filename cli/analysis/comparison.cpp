#include "cli/analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/analysis/student.h"

namespace gputrace::analysis {
namespace {

constexpr double kLevel = 0.05;
constexpr double kUpper = 1 - kLevel / 2;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// One thing in all runs of one side.
using Figures = std::vector<Figure>;

struct Side {
  double mean = 0;
  double variance = 0;  ///< of the mean
  double degrees = kInfinite;
};

/// Half an interval, as a standard error of the normal distribution.
double error_of(const Interval& interval) {
  return (interval.upper - interval.lower) / 2 / t_quantile(kUpper, kInfinite);
}

double mean_of(const Figures& figures) {
  double sum = 0;
  for (const Figure& figure : figures) {
    sum += figure.value;
  }
  return sum / static_cast<double>(figures.size());
}

/// Variance of single runs about their mean: two or three repeats may agree by luck, so it is never
/// below what the runs say of themselves.
double spread_of(const Figures& figures) {
  const double mean = mean_of(figures);
  double squares = 0;
  double own = 0;
  for (const Figure& figure : figures) {
    squares += (figure.value - mean) * (figure.value - mean);
    own += figure.interval ? std::pow(error_of(*figure.interval), 2) : 0;
  }
  return std::max(squares / static_cast<double>(figures.size() - 1),
                  own / static_cast<double>(figures.size()));
}

Side side_of(const Figures& figures, const Figures& other) {
  const bool repeated = figures.size() > 1;
  const Figures& spread = repeated ? figures : other;
  return {.mean = mean_of(figures),
          .variance = spread_of(spread) / static_cast<double>(figures.size()),
          .degrees = static_cast<double>(spread.size() - 1)};
}

/// Welch and Satterthwaite; of one side alone where both have its spread.
double degrees_of(const Side& a, const Side& b, bool shared_spread) {
  const double sum = a.variance + b.variance;
  if (shared_spread || sum <= 0) {
    return std::min(a.degrees, b.degrees);
  }
  return sum * sum / (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees);
}

struct Judged {
  Difference difference;
  double p_value = 1;  ///< of no difference; only where there is an interval
};

/// `error` of a figure is its standard error.
struct Measured {
  double value = 0;
  double error = 0;
};

void set_relative(Difference& row, const Measured& a, const Measured& b, double quantile) {
  if (!(a.value > 0) || !(b.value > 0)) {
    return;
  }
  const double ratio = b.value / a.value;
  row.relative = ratio - 1;
  // The delta method on the logarithm of the ratio.
  const double half = quantile * std::hypot(a.error / a.value, b.error / b.value);
  row.relative_interval = Interval{ratio * std::exp(-half) - 1, ratio * std::exp(half) - 1};
}

double two_sided(double t, double degrees) {
  return 2 * t_cdf(-std::abs(t), degrees);
}

void judge_single(Judged& judged, const Figure& a, const Figure& b) {
  Difference& row = judged.difference;
  if (!a.interval || !b.interval) {
    row.why = "one recording of each says nothing of how much this varies: repeat both";
    return;
  }
  const double difference = b.value - a.value;
  const double below = std::hypot(b.value - b.interval->lower, a.interval->upper - a.value);
  const double above = std::hypot(b.interval->upper - b.value, a.value - a.interval->lower);
  row.interval = Interval{difference - below, difference + above};
  const double quantile = t_quantile(kUpper, kInfinite);
  const double towards_zero = difference > 0 ? below : above;
  if (towards_zero > 0) {
    judged.p_value = two_sided(difference / towards_zero * quantile, kInfinite);
  } else {
    judged.p_value = difference == 0 ? 1 : 0;
  }
  set_relative(row, {a.value, error_of(*a.interval)}, {b.value, error_of(*b.interval)}, quantile);
}

void judge_repeats(Judged& judged, const Figures& a, const Figures& b) {
  Difference& row = judged.difference;
  const Side left = side_of(a, b);
  const Side right = side_of(b, a);
  const double degrees = degrees_of(left, right, a.size() == 1 || b.size() == 1);
  const double error = std::sqrt(left.variance + right.variance);
  const double quantile = t_quantile(kUpper, degrees);
  const double difference = right.mean - left.mean;
  row.interval = Interval{difference - quantile * error, difference + quantile * error};
  if (error > 0) {
    judged.p_value = two_sided(difference / error, degrees);
  } else {
    judged.p_value = difference == 0 ? 1 : 0;
  }
  set_relative(row, {left.mean, std::sqrt(left.variance)}, {right.mean, std::sqrt(right.variance)},
               quantile);
}

/// What a row is about; the rest is not known yet.
Difference row_of(std::string name, std::string register_name, std::string source,
                  std::string unit) {
  Difference row;
  row.name = std::move(name);
  row.register_name = std::move(register_name);
  row.source = std::move(source);
  row.unit = std::move(unit);
  return row;
}

Judged judge(Difference row, const Figures& a, const Figures& b) {
  if (!a.empty()) {
    row.a = mean_of(a);
  }
  if (!b.empty()) {
    row.b = mean_of(b);
  }
  Judged judged{.difference = std::move(row)};
  if (a.empty() || b.empty()) {
    judged.difference.why = a.empty() ? "not in A" : "not in B";
    return judged;
  }
  judged.difference.difference = mean_of(b) - mean_of(a);
  if (a.size() == 1 && b.size() == 1) {
    judge_single(judged, a.front(), b.front());
  } else {
    judge_repeats(judged, a, b);
  }
  return judged;
}

/// Holm's step-down over one family: the smallest p is held against 5 % / m, the next against
/// 5 % / (m - 1), and after the first that fails all are within noise.
std::vector<Difference> decide(std::vector<Judged> family) {
  std::vector<Judged*> order;
  for (Judged& judged : family) {
    if (judged.difference.interval) {
      order.push_back(&judged);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Judged* x, const Judged* y) { return x->p_value < y->p_value; });
  bool real = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    real = real && order[i]->p_value <= kLevel / static_cast<double>(order.size() - i);
    order[i]->difference.reality = real ? Reality::kReal : Reality::kWithinNoise;
  }
  std::vector<Difference> out;
  out.reserve(family.size());
  for (Judged& judged : family) {
    out.push_back(std::move(judged.difference));
  }
  return out;
}

Figure in_points(const Figure& share) {
  Figure points{.value = 100 * share.value};
  if (share.interval) {
    points.interval = Interval{100 * share.interval->lower, 100 * share.interval->upper};
  }
  return points;
}

Figures units_of(std::span<const ComparedRun> runs, const UnitKey& key) {
  Figures figures;
  for (const ComparedRun& run : runs) {
    const auto found = std::find_if(run.units.begin(), run.units.end(),
                                    [&](const ComparedUnit& unit) { return unit.key == key; });
    if (found != run.units.end()) {
      figures.push_back(in_points(found->busy));
    }
  }
  return figures;
}

bool same_quantity(const ComparedQuantity& x, const ComparedQuantity& y) {
  return x.name == y.name && x.source == y.source && x.unit == y.unit;
}

Figures quantities_of(std::span<const ComparedRun> runs, const ComparedQuantity& wanted) {
  Figures figures;
  for (const ComparedRun& run : runs) {
    const auto found =
        std::find_if(run.quantities.begin(), run.quantities.end(),
                     [&](const ComparedQuantity& other) { return same_quantity(other, wanted); });
    if (found != run.quantities.end()) {
      figures.push_back(found->figure);
    }
  }
  return figures;
}

Figures shares_of(std::span<const ComparedRun> runs, Bottleneck bottleneck) {
  Figures figures;
  for (const ComparedRun& run : runs) {
    if (!run.class_shares.empty()) {
      const auto found = run.class_shares.find(bottleneck);
      figures.push_back({.value = found == run.class_shares.end() ? 0 : 100 * found->second});
    }
  }
  return figures;
}

/// Keys of both sides in the order in which they are met, each once.
template <class Item, class Same>
std::vector<Item> all_of(std::span<const ComparedRun> a, std::span<const ComparedRun> b,
                         std::vector<Item> ComparedRun::* list, const Same& same) {
  std::vector<Item> all;
  for (const std::span<const ComparedRun>& side : {a, b}) {
    for (const ComparedRun& run : side) {
      for (const Item& item : run.*list) {
        if (std::none_of(all.begin(), all.end(),
                         [&](const Item& known) { return same(known, item); })) {
          all.push_back(item);
        }
      }
    }
  }
  return all;
}

std::vector<Difference> compare_classes(std::span<const ComparedRun> a,
                                        std::span<const ComparedRun> b) {
  std::map<Bottleneck, bool> met;
  for (const std::span<const ComparedRun>& side : {a, b}) {
    for (const ComparedRun& run : side) {
      for (const auto& [bottleneck, share] : run.class_shares) {
        met[bottleneck] = met[bottleneck] || share > 0;
      }
    }
  }
  std::vector<Judged> family;
  for (const auto& [bottleneck, ever] : met) {
    if (ever) {
      family.push_back(judge(row_of(std::string(to_string(bottleneck)), "", "", "pp"),
                             shares_of(a, bottleneck), shares_of(b, bottleneck)));
    }
  }
  return decide(std::move(family));
}

}  // namespace

Comparison compare(std::span<const ComparedRun> a, std::span<const ComparedRun> b) {
  Comparison comparison;
  comparison.from_repeats = a.size() > 1 || b.size() > 1;
  std::vector<Judged> units;
  for (const ComparedUnit& unit :
       all_of(a, b, &ComparedRun::units,
              [](const ComparedUnit& x, const ComparedUnit& y) { return x.key == y.key; })) {
    units.push_back(judge(row_of(unit.key.name, unit.key.register_name, "", "pp"),
                          units_of(a, unit.key), units_of(b, unit.key)));
  }
  comparison.units = decide(std::move(units));
  std::vector<Judged> quantities;
  for (const ComparedQuantity& quantity : all_of(a, b, &ComparedRun::quantities, same_quantity)) {
    quantities.push_back(judge(row_of(quantity.name, "", quantity.source, quantity.unit),
                               quantities_of(a, quantity), quantities_of(b, quantity)));
  }
  comparison.quantities = decide(std::move(quantities));
  comparison.classes = compare_classes(a, b);
  return comparison;
}

}  // namespace gputrace::analysis
