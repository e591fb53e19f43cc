// Relative least squares with non-negative parts and errors of Student's t: how likely a curve is
// for levels of given sizes and shapes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/miss_shapes.h"

namespace gputrace::analysis::inference {

/// Sizes are taken from a grid of that many places an octave.
inline constexpr int kPlacesPerOctave = 12;

struct Knee {
  int place = 0;  ///< on the model's grid
  MissShape shape = MissShape::kSharp;
};

struct Solution {
  double score = 0;            ///< minus twice the logarithm of the likelihood, up to a constant
  double scatter = 0;          ///< scale of the relative errors
  std::vector<double> parts;   ///< the base, then what each knee adds
  std::vector<double> weight;  ///< of each point
};

class AdditiveModel {
 public:
  /// At least two points.
  explicit AdditiveModel(const Curve& curve);

  [[nodiscard]] int places() const { return places_; }
  [[nodiscard]] double size_at(int place) const;
  [[nodiscard]] std::size_t points() const { return curve_.size(); }
  [[nodiscard]] const Curve& curve() const { return curve_; }

  /// For these knees, the parts that make the curve likeliest. `start`: weights to begin with.
  [[nodiscard]] Solution solve(std::span<const Knee> knees, std::span<const double> start) const;
  [[nodiscard]] Solution solve(std::span<const Knee> knees) const;

  /// The `best` likeliest of all places in [first, last] and all shapes for the knee `which`, by
  /// fixed weights alone, the likeliest first.
  [[nodiscard]] std::vector<Knee> rank(std::vector<Knee> knees, std::size_t which, int first,
                                       int last, std::span<const double> weight,
                                       std::size_t best) const;

  /// Standard errors of the base and of the cost behind each knee, both as the parts are.
  [[nodiscard]] std::vector<double> cost_errors(std::span<const Knee> knees,
                                                const Solution& solution) const;

 private:
  [[nodiscard]] const double* column(const Knee& knee) const;

  Curve curve_;
  double first_octave_ = 0;
  int places_ = 0;
  std::vector<double> base_;     ///< 1 / y
  std::vector<double> columns_;  ///< by place, then shape, then point: the missing share over y
};

}  // namespace gputrace::analysis::inference
