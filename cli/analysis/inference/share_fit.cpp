#include "cli/analysis/inference/share_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "cli/analysis/inference/miss_shapes.h"

namespace gputrace::analysis::inference {

namespace {

constexpr int kStepsPerOctave = 16;
/// Shares are those of a few thousand hops, peaks overlap, and shapes are not quite ours.
constexpr double kShareError = 0.045;
/// Of a size between two working sets that is as likely as any other there: caches end rather at
/// the former, since sizes of both kinds are powers of two.
constexpr double kMiddle = 0.42;
/// What lies outside of an interval on each side.
constexpr double kTail = 0.01;
/// Of intervals, on each side: sets chosen by chance are never quite those that were expected.
constexpr double kLeastOctaves = 0.15;

}  // namespace

ShareFit fit_missed_share(std::span<const double> bytes, std::span<const double> missed) {
  std::vector<double> octaves;
  for (const double size : bytes) {
    octaves.push_back(std::log2(size));
  }
  const double first = octaves.front() - 1;
  const auto places =
      static_cast<std::size_t>((octaves.back() - first) * kStepsPerOctave) + std::size_t{1};
  const auto octave_of = [first](std::size_t place) {
    return first + static_cast<double>(place) / kStepsPerOctave;
  };
  // How likely each size is, whatever the shape: between two working sets all may be.
  std::vector<double> likelihood(places, 0.0);
  double least = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t place = 0; place < places; ++place) {
    for (const MissShape shape : kAllMissShapes) {
      double squares = 0;
      for (std::size_t i = 0; i < octaves.size(); ++i) {
        const double error =
            missed[i] - miss_share_of_octaves(shape, octaves[i] - octave_of(place));
        squares += error * error;
      }
      least = std::min(least, squares);
      likelihood[place] += std::exp(-squares / (2 * kShareError * kShareError));
    }
    sum += likelihood[place];
  }
  ShareFit fit;
  fit.error = std::sqrt(least / static_cast<double>(octaves.size()));
  if (!(sum > 0)) {
    fit.error = 1;
    return fit;
  }
  const auto quantile = [&](double share) {
    double before = 0;
    std::size_t place = 0;
    while (place + 1 < places && before + likelihood[place] / sum < share) {
      before += likelihood[place] / sum;
      ++place;
    }
    return octave_of(place);
  };
  const double middle = quantile(kMiddle);
  fit.size = {std::exp2(middle), std::exp2(std::min(quantile(kTail), middle - kLeastOctaves)),
              std::exp2(std::max(quantile(1 - kTail), middle + kLeastOctaves))};
  return fit;
}

}  // namespace gputrace::analysis::inference
