#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/analysis/position.h"

namespace gputrace::analysis {
namespace {

/// Ceilings and bytes are measured to a few percent.
constexpr double kTolerance = 1.1;
/// Work at the roof that moves fewer bytes than half of what the busy fractions mean is not there.
constexpr double kOffRoof = 2;

/// 0 where it is not known.
double value_of(const std::optional<Ceiling>& ceiling) {
  return ceiling && std::isfinite(ceiling->value) && ceiling->value > 0 ? ceiling->value : 0;
}

/// Where memory moves as much as it can, the intensity may be anything up to the ridge.
std::optional<double> at_least_ridge(const std::optional<double>& of_ridge) {
  return of_ridge ? std::optional(std::max(1.0, *of_ridge)) : std::nullopt;
}

std::optional<double> smaller(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional(std::min(*a, *b)) : (a ? a : b);
}

std::optional<double> times(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional(*a * *b) : std::nullopt;
}

bool exceeds(const std::optional<double>& value, const std::optional<double>& limit,
             double factor) {
  return value && limit && *value > factor * *limit;
}

}  // namespace

std::optional<Position> place_by_bytes(const MemoryWitness& witness,
                                       const std::optional<Ceiling>& compute,
                                       const std::optional<Ceiling>& bandwidth) {
  if (!witness.gbps || !std::isfinite(*witness.gbps) || *witness.gbps < 0) {
    return std::nullopt;
  }
  const double gbps = *witness.gbps;
  Position position;
  position.basis = PositionBasis::kDramBytes;
  position.gbps = Range{.lower = gbps, .upper = gbps};
  const double peak = value_of(compute);
  if (peak > 0 && gbps > 0) {
    position.intensity.upper = peak / gbps;
    position.gflops = Range{.lower = std::nullopt, .upper = peak};
    position.notes.push_back(fmt::format(
        "{:.3g} GB/s allow no more than {:.3g} FLOP/B at a peak of {:.0f} GFLOPS; it is as much "
        "only where computing is the limit",
        gbps, peak / gbps, peak));
  }
  if (value_of(bandwidth) > 0 && gbps > 0) {
    position.of_ridge.upper = value_of(bandwidth) / gbps;
  }
  if (witness.covers.find("CPU") != std::string::npos) {
    position.notes.push_back(
        fmt::format("the bytes are those of {}: the GPU's own may be fewer, and its bound higher",
                    witness.covers));
  }
  return position;
}

std::optional<Position> combine(const std::optional<Position>& by_curve,
                                const std::optional<Position>& by_bytes) {
  if (!by_curve || !by_bytes) {
    return by_curve ? by_curve : by_bytes;
  }
  const bool above = exceeds(by_curve->intensity.lower, by_bytes->intensity.upper, kTolerance);
  const bool off_roof =
      exceeds(by_bytes->of_ridge.upper, at_least_ridge(by_curve->of_ridge.upper), kOffRoof);
  Position position = above || off_roof ? *by_bytes : *by_curve;
  if (above) {
    position.notes.push_back(fmt::format(
        "the busy fractions are those of more than {:.3g} FLOP/B, which so many bytes do not "
        "allow: only the bytes are followed",
        by_curve->intensity.lower.value_or(0)));
    return position;
  }
  if (off_roof) {
    // Work that waits keeps units as busy as work of another intensity would.
    position.notes.emplace_back(
        "fewer bytes than work at the roof would move with these busy fractions: it waits for "
        "something else, and they do not tell its intensity");
    return position;
  }
  position.gbps = by_bytes->gbps;
  position.intensity.upper = smaller(by_curve->intensity.upper, by_bytes->intensity.upper);
  position.of_ridge.upper = smaller(by_curve->of_ridge.upper, by_bytes->of_ridge.upper);
  // Within the tolerance the ends may have crossed.
  for (Range* range : {&position.intensity, &position.of_ridge}) {
    if (exceeds(range->lower, range->upper, 1)) {
      range->lower = range->upper;
    }
  }
  const auto peak = by_bytes->gflops ? by_bytes->gflops->upper : std::nullopt;
  const Range gflops{
      .lower =
          times(position.intensity.lower, by_bytes->gbps ? by_bytes->gbps->lower : std::nullopt),
      .upper = smaller(peak, times(position.intensity.upper,
                                   by_bytes->gbps ? by_bytes->gbps->upper : std::nullopt))};
  if (gflops.lower || gflops.upper) {
    position.gflops = gflops;
  }
  position.notes.insert(position.notes.end(), by_bytes->notes.begin(), by_bytes->notes.end());
  return position;
}

}  // namespace gputrace::analysis
