#include "cli/analysis/change_point/noise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace gputrace::analysis::change_point {
namespace {

constexpr double kNormalQuartile = 0.6745;
/// Differences beyond this many standard deviations are changes, not noise.
constexpr float kClip = 3;
/// Enough to know a correlation within a hundredth.
constexpr std::size_t kMaxPairs = 16384;
/// Chance of a false change in a whole recording, if the noise were normal.
constexpr double kFalseAlarm = 0.01;
constexpr int kPowerSteps = 100;
constexpr double kSettled = 1e-4;
/// Usual differences so far below what the number of changes says are those between bursts.
constexpr double kSparse = 0.5;

/// How often absolute values of each size occurred: their exponent and five bits of what follows
/// count them, which knows the median within 2 % and is faster than putting them in order.
class Magnitudes {
 public:
  void add(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(std::abs(value)) >> kDroppedBits;
    ++counts_[std::clamp(bits, kLowest, kHighest) - kLowest];
  }
  [[nodiscard]] double median(std::size_t values) const {
    std::size_t below = 0;
    std::uint32_t bin = 0;
    while (bin + 1 < counts_.size() && 2 * (below + counts_[bin]) < values) {
      below += counts_[bin++];
    }
    constexpr std::uint32_t kMiddle = 1U << (kDroppedBits - 1);
    return bin == 0 ? 0 : std::bit_cast<float>(((bin + kLowest) << kDroppedBits) | kMiddle);
  }

 private:
  static constexpr unsigned kDroppedBits = 18;
  static constexpr std::uint32_t kLowest = std::bit_cast<std::uint32_t>(0x1p-12F) >> kDroppedBits;
  static constexpr std::uint32_t kHighest = std::bit_cast<std::uint32_t>(4.0F) >> kDroppedBits;
  std::array<std::uint32_t, kHighest - kLowest + 1> counts_{};
};

/// Angles of neighbouring cells, their difference over the standard deviation that it has when a
/// usual cell's is 1. Of each lane of a group.
struct Differences {
  std::vector<Magnitudes> magnitudes;
  std::vector<std::vector<float>> chosen;  ///< every `stride`-th; 0 where a cell says nothing
  std::size_t used = 0;                    ///< where both cells say something
};

Differences differences_of(const CellTable& table, const Angles& angles, const Group& group,
                           std::size_t stride) {
  Differences found;
  found.magnitudes.resize(group.lanes);
  const std::size_t pairs = table.cells() < 2 ? 0 : table.cells() - 1;
  found.chosen.assign(group.lanes, std::vector<float>((pairs + stride - 1) / stride));
  const std::vector<CellCounts>& counts = table.columns[group.columns.front()].cells;
  std::pair<std::uint16_t, std::uint16_t> scaled;  // neighbours mostly have as many samples again
  double scale = 0;
  std::size_t next_chosen = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint16_t before = counts[i].samples;
    const std::uint16_t behind = counts[i + 1].samples;
    const bool is_chosen = i == next_chosen * stride;
    const std::size_t at = next_chosen;
    next_chosen += is_chosen ? 1 : 0;
    if (before == 0 || behind == 0) {
      continue;
    }
    if (scaled != std::pair(behind, before)) {
      scaled = {behind, before};
      scale = 1 / std::sqrt(group.usual_samples / behind + group.usual_samples / before);
    }
    const double* from = angles.row(i) + group.first_lane;
    const double* to = angles.row(i + 1) + group.first_lane;
    for (std::size_t lane = 0; lane < group.columns.size(); ++lane) {
      const auto difference = static_cast<float>((to[lane] - from[lane]) * scale);
      found.magnitudes[lane].add(difference);
      if (is_chosen) {
        found.chosen[lane][at] = difference;
      }
    }
    ++found.used;
  }
  return found;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  using Lanes [[gnu::vector_size(16)]] = float;
  constexpr std::size_t kLanes = 4;
  constexpr std::size_t kBlock = 512;  // few enough for sums of single precision
  double total = 0;
  std::size_t i = 0;
  while (i + kLanes <= a.size()) {
    const std::size_t end = std::min(a.size(), i + kBlock);
    Lanes sum{};
    for (; i + kLanes <= end; i += kLanes) {
      Lanes x;
      Lanes y;
      std::memcpy(&x, &a[i], sizeof x);
      std::memcpy(&y, &b[i], sizeof y);
      sum += x * y;
    }
    total += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  for (; i < a.size(); ++i) {
    total += a[i] * b[i];
  }
  return total;
}

/// Symmetric, row by row.
struct SquareMatrix {
  explicit SquareMatrix(std::size_t rows) : size(rows), values(rows * rows) {}
  double* row(std::size_t i) { return &values[i * size]; }
  [[nodiscard]] const double* row(std::size_t i) const { return &values[i * size]; }

  std::size_t size;
  std::vector<double> values;
};

/// Of a matrix without negative eigenvalues, by power iteration.
double largest_eigenvalue(const SquareMatrix& matrix) {
  std::vector<double> vector(matrix.size, 1);
  std::vector<double> next(matrix.size);
  double value = 0;
  for (int step = 0; step < kPowerSteps; ++step) {
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t i = 0; i < matrix.size; ++i) {  // rows are columns, and add up side by side
      const double* row = matrix.row(i);
      for (std::size_t j = 0; j < matrix.size; ++j) {
        next[j] += row[j] * vector[i];
      }
    }
    double norm = 0;
    for (const double element : next) {
      norm += element * element;
    }
    norm = std::sqrt(norm);
    if (norm <= 0) {
      return 0;
    }
    for (std::size_t i = 0; i < matrix.size; ++i) {
      vector[i] = next[i] / norm;
    }
    const bool settled = std::abs(norm - value) < kSettled * norm;
    value = norm;
    if (settled) {
      break;
    }
  }
  return value;
}

/// What is measured of one column.
struct ColumnNoise {
  double sigma = 1;
  bool sparse = false;
  std::vector<float> clipped;  ///< chosen differences in units of sigma
  double used = 1;             ///< of them
};

ColumnNoise noise_of(const Column& column, const Magnitudes& magnitudes, std::size_t used,
                     std::vector<float> chosen, std::size_t stride) {
  ColumnNoise noise;
  noise.clipped = std::move(chosen);
  if (column.usual_samples <= 0) {
    return noise;
  }
  const double floor = 0.5 / std::sqrt(column.usual_samples) * std::sqrt(column.inflation);
  const double usual = magnitudes.median(used) / kNormalQuartile;
  noise.sigma = std::max(usual, floor);
  noise.sparse = usual < kSparse * floor;
  const auto scale = static_cast<float>(1 / noise.sigma);
  for (float& difference : noise.clipped) {
    difference = std::clamp(difference * scale, -kClip, kClip);
  }
  noise.used = std::max(1.0, static_cast<double>(used) / static_cast<double>(stride));
  return noise;
}

}  // namespace

double Noise::penalty(std::size_t positions) const {
  const double x = std::log(static_cast<double>(std::max<std::size_t>(1, positions)) / kFalseAlarm);
  return trace + 2 * frobenius * std::sqrt(x) + 2 * largest * x;
}

Noise measure_noise(const CellTable& table, const Angles& angles) {
  const std::size_t units = table.columns.size();
  const std::size_t pairs = table.cells() < 2 ? 0 : table.cells() - 1;
  const std::size_t stride = std::max<std::size_t>(1, (pairs + kMaxPairs - 1) / kMaxPairs);
  std::vector<ColumnNoise> columns(units);
  for (const Group& group : angles.layout().groups) {
    Differences differences = differences_of(table, angles, group, stride);
    for (std::size_t lane = 0; lane < group.columns.size(); ++lane) {
      columns[group.columns[lane]] =
          noise_of(table.columns[group.columns[lane]], differences.magnitudes[lane],
                   differences.used, std::move(differences.chosen[lane]), stride);
    }
  }
  Noise noise;
  SquareMatrix covariance(units);
  for (std::size_t i = 0; i < units; ++i) {
    noise.sigma.push_back(columns[i].sigma);
    noise.sparse.push_back(columns[i].sparse);
    for (std::size_t j = 0; j <= i; ++j) {
      const double both =
          dot(columns[i].clipped, columns[j].clipped) / std::min(columns[i].used, columns[j].used);
      covariance.row(i)[j] = both;
      covariance.row(j)[i] = both;
      noise.frobenius += (i == j ? 1 : 2) * both * both;
    }
    noise.trace += covariance.row(i)[i];
  }
  noise.frobenius = std::sqrt(noise.frobenius);
  // Clipping and rare bursts make variances below 1; a single unit's noise is still of that size.
  noise.largest = std::max(1.0, largest_eigenvalue(covariance));
  return noise;
}

}  // namespace gputrace::analysis::change_point
