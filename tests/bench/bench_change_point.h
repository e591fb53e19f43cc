// What the parts of bench_change_point share: recordings whose changes are known, and how many of
// them were found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/analysis/change_point.h"
#include "tests/bench/ruptures_peer.h"

namespace gputrace::bench {

/// CPU time: other programs on the machine do not count.
[[nodiscard]] double now_s();

/// Times of the changes that find_change_points() says.
[[nodiscard]] std::vector<double> found_in(const analysis::GridSource& source);

/// How far from its true place a change still counts as found.
inline constexpr double kReachSimpleS = 0.03;
inline constexpr double kReachHardS = 0.15;

inline constexpr std::uint64_t kRecordings = 100;
inline constexpr std::uint64_t kHardRecordings = 20;

struct Score {
  std::size_t boundaries = 0;
  std::size_t missed = 0;
  std::size_t extra = 0;
  std::vector<double> errors_s;  ///< of the found ones

  /// Each true change takes the nearest found one within `reach_s`.
  void add(const std::vector<double>& truth, std::vector<double> found, double reach_s);
  void print(const std::string& name);

 private:
  [[nodiscard]] double quantile_ms(double q);
};

/// Time of each step of the search, and of KernelCPD's, by length of the recording.
void print_lengths(const RupturesPeer& peer, std::uint64_t seed);

/// Missed and false changes of both.
void print_comparison(const RupturesPeer& peer, std::uint64_t seed);

}  // namespace gputrace::bench
