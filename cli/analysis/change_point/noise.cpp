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

/// (y[i+1] - y[i]) over the standard deviation it has when a usual cell's is 1; NaN-free: absent
/// differences are left out of `used`.
struct Differences {
  std::vector<float> values;  ///< of each pair of neighbours, 0 where one says nothing
  std::size_t used = 0;
};

Differences differences_of(const Column& column, ArcsineTable& arcsines,
                           std::vector<float>& magnitudes) {
  Differences found;
  found.values.resize(column.cells.empty() ? 0 : column.cells.size() - 1);
  magnitudes.clear();
  std::optional<double> before;
  std::uint16_t samples_before = 0;
  std::pair<std::uint16_t, std::uint16_t> scaled;  // neighbours mostly have as many samples again
  double scale = 0;
  for (std::size_t i = 0; i < column.cells.size(); ++i) {
    const CellCounts& cell = column.cells[i];
    if (cell.samples == 0) {
      before.reset();
      continue;
    }
    const double y = arcsines.at(cell);
    if (before) {
      if (scaled != std::pair(cell.samples, samples_before)) {
        scaled = {cell.samples, samples_before};
        scale = 1 / std::sqrt(column.usual_samples / cell.samples +
                              column.usual_samples / samples_before);
      }
      const auto difference = static_cast<float>((y - *before) * scale);
      found.values[i - 1] = difference;
      magnitudes.push_back(std::abs(difference));
      ++found.used;
    }
    before = y;
    samples_before = cell.samples;
  }
  return found;
}

/// The median of positive numbers within 2 %: their exponent and five bits of what follows count
/// them, which is faster than putting them in order.
double median(const std::vector<float>& values) {
  constexpr unsigned kDroppedBits = 18;
  constexpr std::uint32_t kLowest = std::bit_cast<std::uint32_t>(0x1p-12F) >> kDroppedBits;
  constexpr std::uint32_t kHighest = std::bit_cast<std::uint32_t>(4.0F) >> kDroppedBits;
  std::array<std::uint32_t, kHighest - kLowest + 1> counts{};
  for (const float value : values) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) >> kDroppedBits;
    ++counts[std::clamp(bits, kLowest, kHighest) - kLowest];
  }
  std::size_t below = 0;
  std::uint32_t bin = 0;
  while (bin + 1 < counts.size() && 2 * (below + counts[bin]) < values.size()) {
    below += counts[bin++];
  }
  constexpr std::uint32_t kMiddle = 1U << (kDroppedBits - 1);
  return bin == 0 ? 0 : std::bit_cast<float>(((bin + kLowest) << kDroppedBits) | kMiddle);
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

/// Of a symmetric matrix without negative eigenvalues, by power iteration.
double largest_eigenvalue(const std::vector<std::vector<double>>& matrix) {
  std::vector<double> vector(matrix.size(), 1);
  double value = 0;
  for (int step = 0; step < kPowerSteps; ++step) {
    std::vector<double> next(matrix.size());
    double norm = 0;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      for (std::size_t j = 0; j < matrix.size(); ++j) {
        next[i] += matrix[i][j] * vector[j];
      }
      norm += next[i] * next[i];
    }
    norm = std::sqrt(norm);
    if (norm <= 0) {
      return 0;
    }
    for (double& element : next) {
      element /= norm;
    }
    vector = std::move(next);
    const bool settled = std::abs(norm - value) < kSettled * norm;
    value = norm;
    if (settled) {
      break;
    }
  }
  return value;
}

}  // namespace

double arcsine(double busy, double samples) {
  return std::asin(std::sqrt((busy + 0.375) / (samples + 0.75)));
}

double Noise::penalty(std::size_t positions) const {
  const double x = std::log(static_cast<double>(std::max<std::size_t>(1, positions)) / kFalseAlarm);
  return trace + 2 * frobenius * std::sqrt(x) + 2 * largest * x;
}

Noise measure_noise(const CellTable& table, ArcsineTable& arcsines) {
  Noise noise;
  std::vector<std::vector<float>> clipped;
  std::vector<double> used;
  std::vector<float> scratch;
  const std::size_t pairs = table.cells() < 2 ? 0 : table.cells() - 1;
  const std::size_t stride = std::max<std::size_t>(1, (pairs + kMaxPairs - 1) / kMaxPairs);
  for (const Column& column : table.columns) {
    if (column.usual_samples <= 0) {
      noise.sigma.push_back(1);
      noise.sparse.push_back(false);
      clipped.emplace_back((pairs + stride - 1) / stride);
      used.push_back(1);
      continue;
    }
    const Differences differences = differences_of(column, arcsines, scratch);
    const double floor = 0.5 / std::sqrt(column.usual_samples) * std::sqrt(column.inflation);
    const double usual = median(scratch) / kNormalQuartile;
    const double sigma = std::max(usual, floor);
    noise.sigma.push_back(sigma);
    noise.sparse.push_back(usual < kSparse * floor);
    std::vector<float>& chosen = clipped.emplace_back();
    const auto scale = static_cast<float>(1 / sigma);
    for (std::size_t i = 0; i < pairs; i += stride) {
      chosen.push_back(std::clamp(differences.values[i] * scale, -kClip, kClip));
    }
    used.push_back(
        std::max(1.0, static_cast<double>(differences.used) / static_cast<double>(stride)));
  }
  const std::size_t units = table.columns.size();
  std::vector<std::vector<double>> covariance(units, std::vector<double>(units));
  for (std::size_t i = 0; i < units; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      covariance[i][j] = dot(clipped[i], clipped[j]) / std::min(used[i], used[j]);
      covariance[j][i] = covariance[i][j];
      noise.frobenius += (i == j ? 1 : 2) * covariance[i][j] * covariance[i][j];
    }
    noise.trace += covariance[i][i];
  }
  noise.frobenius = std::sqrt(noise.frobenius);
  // Clipping and rare bursts make variances below 1; a single unit's noise is still of that size.
  noise.largest = std::max(1.0, largest_eigenvalue(covariance));
  return noise;
}

}  // namespace gputrace::analysis::change_point
