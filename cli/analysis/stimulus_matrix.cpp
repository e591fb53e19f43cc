#include "cli/analysis/stimulus_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "cli/analysis/stimulus_matrix/terms.h"

namespace gputrace::analysis {

namespace {

/// [A] of the first and last level of caches, for runs in which none was found.
constexpr std::array<double, 2> kAssumedLevels{32.0 * 1024, 2.0 * 1024 * 1024};
/// A GPU that hardly works says little about its units.
constexpr double kLeastActive = 0.1;
/// Of the time in which the GPU works: below it in all points a unit is silent.
constexpr double kSilent = 0.01;
/// Units differ when they do so by more than this, or by three times what sampling allows.
constexpr double kSeparated = 0.02;
constexpr double kSeparatedErrors = 3;
constexpr std::size_t kFolds = 10;
constexpr int kMostRounds = 2000;
constexpr double kConverged = 1e-9;

using Matrix = std::vector<std::vector<double>>;

/// Busy of the time in which the GPU works, with the standard error of sampling.
struct Share {
  double value = 0;
  double error = 0;
};

struct Row {
  std::vector<double> terms;
  std::map<std::string, Share> units;  ///< by name
};

double sampling_error(const BusyUnit& unit) {
  constexpr double kWidthInErrors = 2 * 1.96;
  return unit.ci95 ? (unit.ci95->upper - unit.ci95->lower) / kWidthInErrors : 0;
}

/// Absent where the GPU did not work.
std::optional<Row> make_row(const StimulatedPoint& point, std::span<const double> levels,
                            std::map<std::string, UnitKey>& keys) {
  const auto active = std::ranges::find_if(
      point.units, [](const BusyUnit& unit) { return unit.key.name == "GUI_ACTIVE"; });
  if (active == point.units.end() || active->busy < kLeastActive) {
    return std::nullopt;
  }
  Row row;
  row.terms = term_row(point, levels);
  for (const BusyUnit& unit : point.units) {
    if (&unit == &*active) {
      continue;
    }
    // The whole GPU's register comes first; copies of shader engines say the same.
    const auto [key, is_new] = keys.try_emplace(unit.key.name, unit.key);
    if (!is_new && key->second != unit.key) {
      continue;
    }
    row.units[unit.key.name] = {std::min(1.0, unit.busy / active->busy),
                                sampling_error(unit) / active->busy};
  }
  return row;
}

/// x >= 0 that minimises |A x - b|^2, from A^T A and A^T b.
std::vector<double> non_negative(const Matrix& gram, const std::vector<double>& moments) {
  std::vector<double> x(moments.size(), 0.0);
  for (int round = 0; round < kMostRounds; ++round) {
    double moved = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (!(gram[j][j] > 0)) {
        continue;
      }
      const double gradient =
          std::inner_product(gram[j].begin(), gram[j].end(), x.begin(), -moments[j]);
      const double next = std::max(0.0, x[j] - gradient / gram[j][j]);
      moved = std::max(moved, std::abs(next - x[j]));
      x[j] = next;
    }
    if (moved < kConverged) {
      break;
    }
  }
  return x;
}

/// `leave_out`: rows whose place modulo kFolds is this one; kFolds = none.
std::vector<double> fit(const Matrix& rows, const std::vector<double>& values,
                        std::size_t leave_out) {
  const std::size_t terms = rows.front().size();
  Matrix gram(terms, std::vector<double>(terms, 0.0));
  std::vector<double> moments(terms, 0.0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r % kFolds == leave_out) {
      continue;
    }
    for (std::size_t i = 0; i < terms; ++i) {
      moments[i] += rows[r][i] * values[r];
      for (std::size_t j = 0; j < terms; ++j) {
        gram[i][j] += rows[r][i] * rows[r][j];
      }
    }
  }
  return non_negative(gram, moments);
}

/// Errors by the jackknife of kFolds folds (Efron 1982).
UnitResponse respond(const UnitKey& key, const Matrix& rows, const std::vector<double>& values) {
  UnitResponse unit;
  unit.key = key;
  unit.points = rows.size();
  unit.response = fit(rows, values, kFolds);
  unit.standard_error.assign(unit.response.size(), 0.0);
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    const std::vector<double> without = fit(rows, values, fold);
    for (std::size_t t = 0; t < without.size(); ++t) {
      unit.standard_error[t] += std::pow(without[t] - unit.response[t], 2);
    }
  }
  for (double& error : unit.standard_error) {
    error = std::sqrt(error * (kFolds - 1) / kFolds);
  }
  double squares = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double fitted =
        std::inner_product(rows[r].begin(), rows[r].end(), unit.response.begin(), 0.0);
    squares += std::pow(values[r] - fitted, 2);
  }
  unit.rms = std::sqrt(squares / static_cast<double>(rows.size()));
  // Of a share of time. A fit may say more where other terms are collinear.
  for (double& response : unit.response) {
    response = std::min(response, 1.0);
  }
  return unit;
}

/// Leaves one of each set of equal columns in all rows, and none that is zero everywhere.
void keep_told_apart(std::vector<Row>& rows, const std::vector<std::string>& names,
                     StimulusMatrix& matrix) {
  std::vector<std::size_t> kept;
  std::vector<std::vector<std::string>> together;
  const auto same = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(
        rows, [&](const Row& row) { return std::abs(row.terms[a] - row.terms[b]) < kConverged; });
  };
  for (std::size_t t = 0; t < names.size(); ++t) {
    const auto asked = static_cast<std::size_t>(
        std::ranges::count_if(rows, [t](const Row& row) { return row.terms[t] > 0; }));
    if (asked == 0) {
      continue;
    }
    const auto twin = std::ranges::find_if(kept, [&](std::size_t other) { return same(other, t); });
    if (twin != kept.end()) {
      together[static_cast<std::size_t>(twin - kept.begin())].push_back(names[t]);
      continue;
    }
    kept.push_back(t);
    together.push_back({names[t]});
    matrix.terms.push_back({names[t], asked});
  }
  for (Row& row : rows) {
    std::vector<double> terms;
    terms.reserve(kept.size());
    for (const std::size_t t : kept) {
      terms.push_back(row.terms[t]);
    }
    row.terms = std::move(terms);
  }
  std::ranges::copy_if(together, std::back_inserter(matrix.inseparable_terms),
                       [](const auto& set) { return set.size() > 1; });
}

bool are_separated(const std::vector<Row>& rows, const std::string& a, const std::string& b) {
  return std::ranges::any_of(rows, [&](const Row& row) {
    const auto first = row.units.find(a);
    const auto second = row.units.find(b);
    if (first == row.units.end() || second == row.units.end()) {
      return false;
    }
    const double apart = std::abs(first->second.value - second->second.value);
    return apart > std::max(kSeparated, kSeparatedErrors *
                                            std::hypot(first->second.error, second->second.error));
  });
}

/// Each unit is compared with the first of a set: equal to that means equal to all of it, nearly.
void group_units(const std::vector<Row>& rows, StimulusMatrix& matrix) {
  std::vector<std::vector<UnitKey>> sets;
  for (const UnitResponse& unit : matrix.units) {
    const auto set = std::ranges::find_if(sets, [&](const std::vector<UnitKey>& each) {
      return !are_separated(rows, each.front().name, unit.key.name);
    });
    if (set != sets.end()) {
      set->push_back(unit.key);
    } else {
      sets.push_back({unit.key});
    }
  }
  std::ranges::copy_if(sets, std::back_inserter(matrix.not_separated),
                       [](const auto& set) { return set.size() > 1; });
}

}  // namespace

StimulusMatrix fit_stimulus_matrix(std::span<const StimulatedPoint> points,
                                   std::span<const double> level_bytes) {
  const std::span<const double> levels =
      level_bytes.empty() ? std::span<const double>(kAssumedLevels) : level_bytes;
  StimulusMatrix matrix;
  std::map<std::string, UnitKey> keys;
  std::vector<Row> rows;
  std::vector<Row> mixed;  // they tell units apart, but not what these answer to
  for (const StimulatedPoint& point : points) {
    if (std::optional<Row> row = make_row(point, levels, keys)) {
      (is_mixed(point) ? mixed : rows).push_back(std::move(*row));
    }
  }
  if (rows.empty()) {
    std::swap(rows, mixed);
  }
  matrix.points = rows.size();
  if (rows.empty()) {
    return matrix;
  }
  keep_told_apart(rows, term_names(levels.size()), matrix);
  for (const auto& unit_of_key : keys) {
    const std::string& name = unit_of_key.first;
    const UnitKey& key = unit_of_key.second;
    Matrix known;
    std::vector<double> values;
    for (const Row& row : rows) {
      if (const auto unit = row.units.find(name); unit != row.units.end()) {
        known.push_back(row.terms);
        values.push_back(unit->second.value);
      }
    }
    if (known.empty()) {
      continue;
    }
    const bool silent_when_mixed = std::ranges::none_of(mixed, [&](const Row& row) {
      const auto unit = row.units.find(name);
      return unit != row.units.end() && unit->second.value >= kSilent;
    });
    if (silent_when_mixed && std::ranges::max(values) < kSilent) {
      matrix.silent.push_back(key);
    } else {
      matrix.units.push_back(respond(key, known, values));
    }
  }
  std::ranges::move(mixed, std::back_inserter(rows));
  group_units(rows, matrix);
  return matrix;
}

}  // namespace gputrace::analysis
