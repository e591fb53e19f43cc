#include "cli/analysis/inference/non_negative.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gputrace::analysis::inference {

namespace {

/// A column that others make up, as a share of its own square, says nothing of its own.
constexpr double kLeastPivot = 1e-9;

using Parts = std::array<double, kMostParts>;

/// By Cholesky's factors, of the parts that are `used`; the others stay 0.
Parts solve_used(const NormalEquations& equations, std::array<bool, kMostParts>& used) {
  std::array<std::size_t, kMostParts> index{};
  std::size_t count = 0;
  std::array<Parts, kMostParts> factor{};
  Parts forward{};
  for (std::size_t a = 0; a < equations.parts; ++a) {
    if (!used.at(a)) {
      continue;
    }
    Parts row{};
    double pivot = equations.gram[a][a];
    double rest = equations.target[a];
    for (std::size_t i = 0; i < count; ++i) {
      double sum = equations.gram[a][index[i]];
      for (std::size_t j = 0; j < i; ++j) {
        sum -= row[j] * factor[i][j];
      }
      row[i] = sum / factor[i][i];
      pivot -= row[i] * row[i];
      rest -= row[i] * forward[i];
    }
    if (!(pivot > kLeastPivot * equations.gram[a][a])) {
      used[a] = false;
      continue;
    }
    row[count] = std::sqrt(pivot);
    forward[count] = rest / row[count];
    factor[count] = row;
    index[count] = a;
    ++count;
  }
  Parts parts{};
  for (std::size_t i = count; i-- > 0;) {
    double sum = forward[i];
    for (std::size_t j = i + 1; j < count; ++j) {
      sum -= factor[j][i] * parts[index[j]];
    }
    parts[index[i]] = sum / factor[i][i];
  }
  return parts;
}

}  // namespace

std::array<double, kMostParts> solve_non_negative(const NormalEquations& equations) {
  std::array<bool, kMostParts> used{};
  used.fill(true);
  while (true) {
    Parts parts = solve_used(equations, used);
    std::size_t worst = equations.parts;
    double least = 0;
    for (std::size_t a = 0; a < equations.parts; ++a) {
      if (parts.at(a) < least) {
        least = parts.at(a);
        worst = a;
      }
    }
    if (worst == equations.parts) {
      return parts;
    }
    used.at(worst) = false;
  }
}

FixedParts::FixedParts(const NormalEquations& equations) : parts_(equations.parts) {
  for (std::size_t a = 0; a < parts_ && is_full_; ++a) {
    double pivot = equations.gram.at(a).at(a);
    double rest = equations.target.at(a);
    for (std::size_t i = 0; i < a; ++i) {
      double sum = equations.gram.at(a).at(i);
      for (std::size_t j = 0; j < i; ++j) {
        sum -= factor_.at(a).at(j) * factor_.at(i).at(j);
      }
      const double element = sum / factor_.at(i).at(i);
      factor_.at(a).at(i) = element;
      pivot -= element * element;
      rest -= element * forward_.at(i);
    }
    is_full_ = pivot > kLeastPivot * equations.gram.at(a).at(a);
    factor_.at(a).at(a) = std::sqrt(std::max(pivot, 0.0));
    forward_.at(a) = is_full_ ? rest / factor_.at(a).at(a) : 0;
    explained_ += forward_.at(a) * forward_.at(a);
  }
}

double FixedParts::explained_with(const std::array<double, kMostParts>& row, double target) const {
  if (!is_full_) {
    return std::numeric_limits<double>::infinity();
  }
  std::array<double, kMostParts> elements{};
  double pivot = row.at(parts_);
  double rest = target;
  for (std::size_t i = 0; i < parts_; ++i) {
    double sum = row.at(i);
    for (std::size_t j = 0; j < i; ++j) {
      sum -= elements.at(j) * factor_.at(i).at(j);
    }
    elements.at(i) = sum / factor_.at(i).at(i);
    pivot -= elements.at(i) * elements.at(i);
    rest -= elements.at(i) * forward_.at(i);
  }
  if (!(pivot > kLeastPivot * row.at(parts_))) {
    return std::numeric_limits<double>::infinity();
  }
  return explained_ + rest * rest / pivot;
}

}  // namespace gputrace::analysis::inference
