#include "cli/analysis/inference/additive_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/analysis/inference/non_negative.h"
#include "daemon/base/result.h"

namespace gputrace::analysis::inference {

namespace {

/// Student's t with few degrees of freedom: one disturbed point in twenty moves nothing.
constexpr double kDegrees = 4;
/// What is known of errors before the curve is seen: about 2 %, worth that many points. Less
/// would make levels of what shapes that are not quite ours leave over.
constexpr double kUsualScatter = 0.02;
constexpr double kUsualWeight = 6;
constexpr int kPasses = 5;
/// A cache that ends this far before the first size shows in what still fits by chance.
constexpr double kOctavesBefore = 0.5;
constexpr double kSmall = 1e-12;

double weighted_product(const double* a, const double* b, std::span<const double> weight) {
  double sum = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    sum += weight[i] * a[i] * b[i];
  }
  return sum;
}

double weighted_sum(const double* a, std::span<const double> weight) {
  double sum = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    sum += weight[i] * a[i];
  }
  return sum;
}

NormalEquations equations_of(const std::vector<const double*>& columns,
                             std::span<const double> weight) {
  NormalEquations equations;
  equations.parts = columns.size();
  for (std::size_t a = 0; a < columns.size(); ++a) {
    equations.target.at(a) = weighted_sum(columns[a], weight);
    for (std::size_t b = 0; b <= a; ++b) {
      equations.gram.at(a).at(b) = weighted_product(columns[a], columns[b], weight);
    }
  }
  return equations;
}

/// The last row of the equations, for one more column. `weighted`: `parts` columns times weight.
void enter_products(const double* column, std::span<const double> weight,
                    const std::vector<double>& weighted, std::size_t parts,
                    NormalEquations& equations) {
  const std::size_t n = weight.size();
  auto& row = equations.gram.at(parts);
  double sum = 0;
  double square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double product = weight[i] * column[i];
    sum += product;
    square += product * column[i];
  }
  equations.target.at(parts) = sum;
  row.at(parts) = square;
  for (std::size_t a = 0; a < parts; ++a) {
    const double* const other = &weighted[a * n];
    double product = 0;
    for (std::size_t i = 0; i < n; ++i) {
      product += other[i] * column[i];
    }
    row.at(a) = product;
  }
}

}  // namespace

AdditiveModel::AdditiveModel(const Curve& curve) : curve_(curve) {
  GPUTRACE_CHECK(curve.size() >= 2);
  first_octave_ = std::log2(curve.front().x) - kOctavesBefore;
  places_ = static_cast<int>((std::log2(curve.back().x) - first_octave_) * kPlacesPerOctave) + 1;
  base_.reserve(curve.size());
  for (const CurvePoint& point : curve) {
    base_.push_back(1 / point.y);
  }
  std::vector<double> octaves;
  for (const CurvePoint& point : curve) {
    octaves.push_back(std::log2(point.x));
  }
  columns_.reserve(static_cast<std::size_t>(places_) * kMissShapes.size() * curve.size());
  for (int place = 0; place < places_; ++place) {
    const double octave = first_octave_ + double{1} * place / kPlacesPerOctave;
    for (const MissShape shape : kMissShapes) {
      for (std::size_t i = 0; i < curve.size(); ++i) {
        columns_.push_back(miss_share_of_octaves(shape, octaves[i] - octave) * base_[i]);
      }
    }
  }
}

double AdditiveModel::size_at(int place) const {
  return std::exp2(first_octave_ + double{1} * place / kPlacesPerOctave);
}

const double* AdditiveModel::column(const Knee& knee) const {
  const std::size_t index = static_cast<std::size_t>(knee.place) * kMissShapes.size() +
                            static_cast<std::size_t>(knee.shape);
  return &columns_[index * curve_.size()];
}

Solution AdditiveModel::solve(std::span<const Knee> knees) const {
  const std::vector<double> equal(curve_.size(), 1.0);
  return solve(knees, equal);
}

Solution AdditiveModel::solve(std::span<const Knee> knees, std::span<const double> start) const {
  const std::size_t n = curve_.size();
  std::vector<const double*> columns{base_.data()};
  for (const Knee& knee : knees) {
    columns.push_back(column(knee));
  }
  GPUTRACE_CHECK(columns.size() <= kMostParts);
  Solution solution;
  solution.weight.assign(start.begin(), start.end());
  std::vector<double> error(n);
  double variance = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto parts = solve_non_negative(equations_of(columns, solution.weight));
    solution.parts.assign(parts.begin(),
                          parts.begin() + static_cast<std::ptrdiff_t>(columns.size()));
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double fitted = 0;
      for (std::size_t a = 0; a < columns.size(); ++a) {
        fitted += columns[a][i] * solution.parts[a];
      }
      error[i] = 1 - fitted;
      squares += solution.weight[i] * error[i] * error[i];
    }
    variance = (squares + kUsualWeight * kUsualScatter * kUsualScatter) /
               (static_cast<double>(n) + kUsualWeight);
    for (std::size_t i = 0; i < n; ++i) {
      solution.weight[i] = (kDegrees + 1) / (kDegrees + error[i] * error[i] / variance);
    }
  }
  solution.scatter = std::sqrt(variance);
  solution.score = (static_cast<double>(n) + kUsualWeight) * std::log(variance) +
                   kUsualWeight * kUsualScatter * kUsualScatter / variance;
  for (const double each : error) {
    solution.score += (kDegrees + 1) * std::log1p(each * each / (kDegrees * variance));
  }
  return solution;
}

std::vector<Knee> AdditiveModel::rank(std::vector<Knee> knees, std::size_t which, int first,
                                      int last, std::span<const double> weight,
                                      std::size_t best) const {
  // The knee that moves comes last, so that the equations of the others stay.
  std::swap(knees[which], knees.back());
  knees.pop_back();
  std::vector<const double*> columns{base_.data()};
  for (const Knee& knee : knees) {
    columns.push_back(column(knee));
  }
  const std::size_t moving = columns.size();
  GPUTRACE_CHECK(moving < kMostParts);
  NormalEquations equations = equations_of(columns, weight);
  const FixedParts fixed(equations);
  // Weighted once, for all that follows.
  std::vector<double> weighted(moving * weight.size());
  for (std::size_t a = 0; a < moving; ++a) {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      weighted[a * weight.size() + i] = weight[i] * columns[a][i];
    }
  }
  equations.parts = moving + 1;
  std::vector<std::pair<double, Knee>> found;
  double bar = -std::numeric_limits<double>::infinity();
  for (int place = std::max(first, 0); place <= std::min(last, places_ - 1); ++place) {
    for (const MissShape shape : kMissShapes) {
      const Knee knee{place, shape};
      const double* const moved = column(knee);
      auto& row = equations.gram.at(moving);
      enter_products(moved, weight, weighted, moving, equations);
      if (fixed.explained_with(row, equations.target.at(moving)) <= bar) {
        continue;
      }
      const auto parts = solve_non_negative(equations);
      double explained = 0;  // the rest of the squares is what is left of them
      for (std::size_t a = 0; a <= moving; ++a) {
        explained += parts.at(a) * equations.target.at(a);
      }
      if (explained <= bar) {
        continue;
      }
      const auto at = std::ranges::find_if(
          found, [explained](const auto& each) { return each.first < explained; });
      found.insert(at, {explained, knee});
      if (found.size() > best) {
        found.pop_back();
      }
      if (found.size() == best) {
        bar = found.back().first;
      }
    }
  }
  std::vector<Knee> result;
  result.reserve(found.size());
  for (const auto& each : found) {
    result.push_back(each.second);
  }
  return result;
}

std::vector<double> AdditiveModel::cost_errors(std::span<const Knee> knees,
                                               const Solution& solution) const {
  const std::size_t n = curve_.size();
  std::vector<double> errors;
  for (std::size_t k = 0; k <= knees.size(); ++k) {
    const double* const from = k == 0 ? base_.data() : column(knees[k - 1]);
    const double* const to = k == knees.size() ? nullptr : column(knees[k]);
    // Costs are sums of parts, so a point's share of cost k is the difference of two columns.
    double information = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double share = from[i] - (to == nullptr ? 0 : to[i]);
      information += solution.weight[i] * share * share;
    }
    errors.push_back(solution.scatter / std::sqrt(std::max(information, kSmall)));
  }
  return errors;
}

}  // namespace gputrace::analysis::inference
