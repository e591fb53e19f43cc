// How sure a reading is, and how it is put down.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis::inference {

inline constexpr std::string_view kSure = "sure";
inline constexpr std::string_view kLikely = "likely";
inline constexpr std::string_view kGuess = "a guess";

/// A reading with its interval, without a name yet.
struct Reading {
  double value = 0;
  double lower = 0;
  double upper = 0;
};

[[nodiscard]] bool overlap(const Reading& a, const Reading& b);
/// Upper over lower, in octaves.
[[nodiscard]] double octaves(const Reading& reading);

/// The only size of 2^k x {1, 1.25, 1.5, 1.75} in the interval; nothing when there is none, or
/// more.
[[nodiscard]] std::optional<double> nominal_size(const Reading& reading);

[[nodiscard]] DerivedValue derived_value(std::string what, const Reading& reading, std::string unit,
                                         std::string_view confidence, std::string by);

/// "2 MiB", "5.7 KiB"
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace gputrace::analysis::inference
