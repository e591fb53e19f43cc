// The recurrence of peak and sweep on the CPU: p += x * q, then q += y * p, a round. With x * y
// between -4 and 0 it turns on an ellipse; a round more or less is seen in every number.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/bench/cases/rounding.h"

namespace gputrace::bench {

inline constexpr double kTurnX = 0.2113;
inline constexpr double kTurnY = -0.1837;

/// One pair as it began, and as a device left it.
template <class Value>
struct TurnedPair {
  std::string name;  ///< "thread 5, pair 3"
  Value p{};
  Value q{};
  Value got_p{};
  Value got_q{};
};

/// How all pairs turn.
template <class Value>
struct Turning {
  Value x{};
  Value y{};
  std::uint64_t rounds = 0;  ///< that the launch makes
  std::uint64_t rounds_of_a_trip = 1;
  /// Of the values' type: half the distance from 1 to the next number. Absent: only exact results
  /// are right.
  std::optional<double> rounding_unit;
};

namespace turning {

template <class Value>
void turn(const Turning<Value>& turning, const MultiplyAdd<Value>& way, std::uint64_t rounds,
          Value& p, Value& q) {
  for (std::uint64_t i = 0; i < rounds; ++i) {
    p = way.of(turning.x, q, p);
    q = way.of(turning.y, p, q);
  }
}

/// Whether all pairs are within `bound` of where `rounds` lead; else names the first that is not.
template <class Value>
std::optional<std::string> mismatch(const Turning<Value>& turning, const MultiplyAdd<Value>& way,
                                    std::uint64_t rounds, double bound,
                                    std::span<const TurnedPair<Value>> pairs) {
  for (const TurnedPair<Value>& pair : pairs) {
    Value p = pair.p;
    Value q = pair.q;
    turn(turning, way, rounds, p, q);
    const auto is_off = [&](Value got, Value wanted) {
      if constexpr (std::is_floating_point_v<Value>) {
        return !(std::abs(got - wanted) <= static_cast<Value>(bound));
      } else {
        return got != wanted;
      }
    };
    if (is_off(pair.got_p, p) || is_off(pair.got_q, q)) {
      return fmt::format("{} is ({}, {}), the CPU has ({}, {})", pair.name, pair.got_p, pair.got_q,
                         p, q);
    }
  }
  return std::nullopt;
}

/// What rounding alone can add up to. The quadratic form y p^2 - x q^2 + x y p q does not change in
/// exact arithmetic, so errors add and do not grow: each of two a round is at most a unit of the
/// largest value, twice where the product is rounded too, and the ellipse stretches it at most by
/// the ratio of its axes (below 2 with these x and y). Values begin below 2 and stay below 4.
template <class Value>
double bound_of(const Turning<Value>& turning) {
  return static_cast<double>(turning.rounds) * 2 * 2 * 2 * 4 * turning.rounding_unit.value_or(0);
}

}  // namespace turning

/// Bit for bit one of the ways, the same for all pairs; else, for types with a unit, within the
/// bound of rounding, as long as that tells the launch's trips from one more or less.
template <class Value>
[[nodiscard]] Status check_turned(const std::string& id, const Turning<Value>& turning,
                                  std::span<const MultiplyAdd<Value>> ways,
                                  std::span<const TurnedPair<Value>> pairs) {
  std::string first;
  for (const MultiplyAdd<Value>& way : ways) {
    const auto off = turning::mismatch(turning, way, turning.rounds, 0, pairs);
    if (!off) {
      return {};
    }
    if (first.empty()) {
      first = *off;
    }
  }
  if (!turning.rounding_unit) {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", id, first));
  }
  const double bound = turning::bound_of(turning);
  const auto off = turning::mismatch(turning, ways.front(), turning.rounds, bound, pairs);
  if (off) {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: {} (+- {:.2g})", id, *off, bound));
  }
  const std::uint64_t trip = turning.rounds_of_a_trip;
  const bool fits_fewer =
      turning.rounds >= trip &&
      !turning::mismatch(turning, ways.front(), turning.rounds - trip, bound, pairs);
  if (fits_fewer ||
      !turning::mismatch(turning, ways.front(), turning.rounds + trip, bound, pairs)) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: rounded in no known way, and after {} rounds the bound of rounding, "
                    "{:.2g}, does not tell a trip more or less",
                    id, turning.rounds, bound));
  }
  return {};
}

}  // namespace gputrace::bench
