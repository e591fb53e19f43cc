#include "kernels/bench/tests/occupancy_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gputrace::bench {

namespace {

/// Twice the groups: two rounds take twice as long however strongly groups slow each other down;
/// within one round at most this.
constexpr double kJumpOfDoubling = 1.7;
/// Above what the two sizes before predict. A second round is at least 1 + 1/(1 + c) times one,
/// with c what a full machine slows its groups down by: this much for c up to 2.3.
constexpr double kJumpAbovePrediction = 1.3;
constexpr std::uint32_t kResolution = 32;

struct Measured {
  std::uint32_t groups = 0;
  double ns = 0;
};

/// Of a straight line through two sizes that took one round.
double predict(const Measured& first, const Measured& second, std::uint32_t groups) {
  const double slope = (second.ns - first.ns) / (second.groups - first.groups);
  return second.ns + std::max(slope, 0.0) * (groups - second.groups);
}

}  // namespace

Result<std::optional<Steps>> find_steps(const DispatchTime& time, std::uint32_t most) {
  Measured before;
  Measured low;
  Measured high;
  for (std::uint32_t groups = kFewestSlotsForSteps / 2; groups <= most && high.groups == 0;
       groups *= 2) {
    const Result<double> ns = time(groups);
    if (!ns) {
      return tl::unexpected(ns.error());
    }
    if (before.groups != 0 && *ns > kJumpOfDoubling * low.ns) {
      high = {groups, *ns};
    } else {
      before = low;
      low = {groups, *ns};
    }
  }
  if (high.groups == 0) {
    return std::nullopt;
  }
  std::uint32_t one_round = low.groups;
  std::uint32_t two_rounds = high.groups;
  while (two_rounds - one_round > std::max(1U, one_round / kResolution)) {
    const std::uint32_t middle = one_round + (two_rounds - one_round) / 2;
    const Result<double> ns = time(middle);
    if (!ns) {
      return tl::unexpected(ns.error());
    }
    const bool jumped = *ns > kJumpAbovePrediction * predict(before, low, middle);
    (jumped ? two_rounds : one_round) = middle;
  }
  return Steps{.slots = one_round, .above = two_rounds};
}

bool agree(std::uint32_t census, const Steps& steps) {
  constexpr std::uint32_t kWithin = 16;
  const std::uint32_t tolerance = census / kWithin;
  return census + tolerance >= steps.slots && census <= steps.above + tolerance;
}

}  // namespace gputrace::bench
