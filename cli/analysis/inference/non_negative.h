// Least squares of a few parts none of which is negative, from the normal equations.
#pragma once

#include <array>
#include <cstddef>

namespace gputrace::analysis::inference {

inline constexpr std::size_t kMostParts = 8;

struct NormalEquations {
  std::array<std::array<double, kMostParts>, kMostParts> gram{};  ///< lower half is used
  std::array<double, kMostParts> target{};
  std::size_t parts = 0;
};

/// Parts that would be negative are left out, the most negative first.
[[nodiscard]] std::array<double, kMostParts> solve_non_negative(const NormalEquations& equations);

/// What one more part may explain at most, without solving for each that is tried.
class FixedParts {
 public:
  explicit FixedParts(const NormalEquations& equations);

  /// The squares that these parts and one more explain together where parts may be negative: no
  /// less than where they may not. `row`: its products with these parts, then its own square.
  [[nodiscard]] double explained_with(const std::array<double, kMostParts>& row,
                                      double target) const;

 private:
  std::size_t parts_ = 0;
  std::array<std::array<double, kMostParts>, kMostParts> factor_{};
  std::array<double, kMostParts> forward_{};
  double explained_ = 0;
  bool is_full_ = true;  ///< no part is made up of others
};

}  // namespace gputrace::analysis::inference
