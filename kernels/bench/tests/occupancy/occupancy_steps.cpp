#include "kernels/bench/tests/occupancy/occupancy_steps.h"

#include <algorithm>

namespace gputrace::bench {

namespace {

/// How much more than predicted a second round takes at least, in times of a group that is alone:
/// it is one such time, however strongly groups slow each other down, as long as they do so evenly.
constexpr double kJump = 0.5;
constexpr std::uint32_t kResolution = 32;

struct Measured {
  std::uint32_t groups = 0;
  double ns = 0;
};

/// Whether a time lies above the straight line through two sizes that took one round by what a
/// second round takes.
bool is_second_round(const Measured& first, const Measured& second, const Measured& next) {
  const double slope = std::max((second.ns - first.ns) / (second.groups - first.groups), 0.0);
  const double predicted_ns = second.ns + slope * (next.groups - second.groups);
  const double alone_ns = second.ns - slope * second.groups;
  return next.ns > predicted_ns + kJump * alone_ns;
}

}  // namespace

Result<std::optional<Steps>> find_steps(const DispatchTime& time, std::uint32_t most) {
  Measured before;
  Measured low;
  Measured high;
  // 64 bits: twice the largest number of groups must not wrap to none.
  for (std::uint64_t next = kFewestSlotsForSteps / 2; next <= most && high.groups == 0; next *= 2) {
    const auto groups = static_cast<std::uint32_t>(next);
    const Result<double> ns = time(groups);
    if (!ns) {
      return tl::unexpected(ns.error());
    }
    if (before.groups != 0 && is_second_round(before, low, {groups, *ns})) {
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
    const bool jumped = is_second_round(before, low, {middle, *ns});
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
