// How well and how fast changes are found, on recordings whose changes are known: missed, false,
// distances, time, memory; and beside `ruptures` where its library is given.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/analysis/change_point.h"
#include "cli/analysis/change_point/noise.h"
#include "daemon/base/time.h"
#include "tests/bench/repeated_source.h"
#include "tests/bench/ruptures_peer.h"
#include "tests/support/busy_signal_cases.h"

namespace gputrace::bench {
namespace {

using analysis::ChangePoint;
using analysis::GridSource;

/// CPU time: other programs on the machine do not count.
double now_s() {
  return static_cast<double>(process_cpu_time_ns()) * 1e-9;
}

std::vector<double> found_in(const GridSource& source) {
  const auto points = find_change_points(source);
  GPUTRACE_CHECK(points.has_value());
  std::vector<double> times;
  for (const ChangePoint& point : *points) {
    times.push_back(point.at_s);
  }
  return times;
}

struct Score {
  std::size_t recordings = 0;
  std::size_t boundaries = 0;
  std::size_t missed = 0;
  std::size_t extra = 0;
  std::vector<double> errors_s;  ///< of the found ones

  /// Each true change takes the nearest found one within `reach_s`.
  void add(const std::vector<double>& truth, std::vector<double> found, double reach_s) {
    ++recordings;
    boundaries += truth.size();
    for (const double at : truth) {
      const auto nearest = std::min_element(found.begin(), found.end(), [&](double a, double b) {
        return std::abs(a - at) < std::abs(b - at);
      });
      if (nearest == found.end() || std::abs(*nearest - at) > reach_s) {
        ++missed;
        continue;
      }
      errors_s.push_back(std::abs(*nearest - at));
      found.erase(nearest);
    }
    extra += found.size();
  }
  [[nodiscard]] double quantile_ms(double q) {
    if (errors_s.empty()) {
      return 0;
    }
    std::sort(errors_s.begin(), errors_s.end());
    return 1000 * errors_s[static_cast<std::size_t>(q * static_cast<double>(errors_s.size() - 1))];
  }
  void print(const std::string& name) {
    fmt::print(
        "{:<48} {:>4} changes: missed {:>3}, false {:>3}; ms median {:.1f}, 95 % {:.1f}, "
        "max {:.1f}\n",
        name, boundaries, missed, extra, quantile_ms(0.5), quantile_ms(0.95), quantile_ms(1));
  }
};

constexpr double kReachSimpleS = 0.03;
constexpr double kReachHardS = 0.15;
constexpr std::uint64_t kRecordings = 100;
constexpr std::uint64_t kHardRecordings = 20;

void print_accuracy(std::uint64_t seed) {
  Score simple;
  for (std::uint64_t i = 0; i < kRecordings; ++i) {
    const auto source = generate(test::simple_recording(seed + i));
    simple.add(source.true_changes(), found_in(source), kReachSimpleS);
  }
  simple.print("simple, relaxation 0.5-2 ms, within 30 ms");
  struct Mix {
    double low_ms;
    double high_ms;
    double common;
  };
  for (const Mix& mix :
       {Mix{1, 2, 0}, Mix{1, 2, 0.7}, Mix{4, 8, 0}, Mix{4, 8, 0.7}, Mix{8, 16, 0.7}}) {
    Score score;
    for (std::uint64_t i = 0; i < kHardRecordings; ++i) {
      const auto source =
          generate(test::hard_recording(seed + i, mix.low_ms, mix.high_ms, mix.common));
      score.add(source.true_changes(), found_in(source), kReachHardS);
    }
    score.print(fmt::format("mix, relaxation {:g}-{:g} ms, common {:g}, within 150 ms", mix.low_ms,
                            mix.high_ms, mix.common));
  }
  struct Short {
    double low_ms;
    double high_ms;
    double seconds;
    double points;
  };
  for (const Short& phase :
       {Short{1, 2, 0.5, 0.26}, Short{1, 2, 0.5, 0.16}, Short{1, 2, 2, 0.16},
        Short{4, 8, 0.5, 0.52}, Short{4, 8, 0.5, 0.40}, Short{4, 8, 2, 0.26}}) {
    Score score;
    for (std::uint64_t i = 0; i < 40; ++i) {
      const auto source = generate(
          test::short_phase(seed + i, phase.low_ms, phase.high_ms, phase.seconds, phase.points));
      score.add(source.true_changes(), found_in(source), kReachHardS);
    }
    score.print(fmt::format("{:g} s, {:.0f} points, relaxation {:g}-{:g} ms", phase.seconds,
                            phase.points * 100, phase.low_ms, phase.high_ms));
  }
}

void print_stationary(std::uint64_t seed, double seconds) {
  for (const test::StationaryKind& kind : test::stationary_kinds(seed, seconds)) {
    const auto source = generate(kind.signal);
    const double start_s = now_s();
    const auto found = found_in(source);
    fmt::print("stationary {:>4.0f} min, {:<34} false {:>2}; {:.3f} s\n", seconds / 60, kind.name,
               found.size(), now_s() - start_s);
    std::fflush(stdout);
  }
  for (const double points : {0.02, 0.05}) {
    test::BusySignal signal = test::stationary_kinds(seed, 600)[0].signal;
    signal.wander = points;
    const auto found = found_in(generate(signal));
    fmt::print("wandering by {:.0f} points, 10 min: {} changes\n", points * 100, found.size());
  }
}

double status_mb(std::string_view key) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(key)) {
      return std::strtod(line.c_str() + key.size(), nullptr) / 1024;
    }
  }
  return 0;
}

void print_speed(std::uint64_t seed) {
  test::BusySignal steady = test::stationary_kinds(seed, 600)[0].signal;
  steady.keep_ticks = true;
  test::BusySignal changing = steady;
  const test::SignalPhase first = steady.phases[0];
  changing.phases.clear();
  changing.phases.reserve(30);
  test::SignalRandom random(seed);
  for (std::size_t i = 0; i < 30; ++i) {
    changing.phases.push_back(first);
    changing.phases.back().seconds = 20;
    changing.phases.back().passes[0].duty = test::load(i % test::kLoads, random);
  }
  for (const auto& [name, signal] :
       {std::pair{"stationary", steady}, std::pair{"a change every 20 s", changing}}) {
    const auto part = generate(signal);
    for (const std::size_t hours : {1U, 2U, 4U, 24U}) {
      const RepeatedSource source(part, 6 * hours);
      malloc_trim(0);
      const double memory_mb = status_mb("VmRSS:");
      std::ofstream("/proc/self/clear_refs") << "5";  // the highest resident size anew
      const double start_s = now_s();
      const auto found = found_in(source);
      fmt::print("{:>2} h, {:<20} {:>6} found, {:.3f} s, {:.0f} MB\n", hours, name, found.size(),
                 now_s() - start_s, status_mb("VmHWM:") - memory_mb);
    }
  }
}

/// Busy shares of 100 ms, or their arcsines over their standard deviation.
struct Windows {
  WindowMatrix shares;
  WindowMatrix scores;
  double mean_variance = 0;  ///< of the shares, from differences
};

Windows windows_of(const GridSource& source) {
  const auto grid = source.read(0, source.cells());
  GPUTRACE_CHECK(grid.has_value());
  Windows windows;
  const std::size_t units = grid->units.size();
  const std::size_t cells = source.cells();
  windows.shares = {cells, units, std::vector<double>(cells * units)};
  windows.scores = windows.shares;
  for (std::size_t u = 0; u < units; ++u) {
    std::vector<double> shares;
    std::vector<double> angles;
    shares.reserve(cells);
    angles.reserve(cells);
    for (const analysis::Cell& cell : grid->units[u].cells) {
      // It has no way to leave a window out: an empty one repeats the last.
      const bool empty = cell.samples == 0;
      shares.push_back(empty ? (shares.empty() ? 0 : shares.back())
                             : static_cast<double>(cell.busy) / cell.samples);
      angles.push_back(empty ? (angles.empty() ? 0 : angles.back())
                             : analysis::change_point::arcsine(cell.busy, cell.samples));
    }
    std::vector<double> steps;
    steps.reserve(cells);
    double squares = 0;
    for (std::size_t i = 1; i < cells; ++i) {
      steps.push_back(std::abs(angles[i] - angles[i - 1]));
      squares += (shares[i] - shares[i - 1]) * (shares[i] - shares[i - 1]);
    }
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                     steps.end());
    const double sigma = std::max(0.05, steps[steps.size() / 2] / 0.6745 / std::sqrt(2.0));
    windows.mean_variance +=
        squares / (2 * static_cast<double>(cells - 1)) / static_cast<double>(units);
    for (std::size_t i = 0; i < cells; ++i) {
      windows.shares.values[i * units + u] = shares[i];
      windows.scores.values[i * units + u] = angles[i] / sigma;
    }
  }
  return windows;
}

std::vector<double> times_of(const std::vector<std::size_t>& changes, double cell_s) {
  std::vector<double> times;
  times.reserve(changes.size());
  for (const std::size_t change : changes) {
    times.push_back(static_cast<double>(change) * cell_s);
  }
  return times;
}

constexpr double kPenaltyFactors[] = {0.25, 0.5, 1, 2, 4, 8};

/// `name` recordings; a change counts as found within 150 ms, since windows are 100 ms long.
void compare(const RupturesPeer& peer, const std::string& name,
             const std::vector<test::BusySignal>& signals) {
  Score ours;
  double ours_s = 0;
  double cells_only_s = 0;
  std::vector<Score> shares(std::size(kPenaltyFactors));
  std::vector<Score> scores(std::size(kPenaltyFactors));
  double shares_s = 0;
  double scores_s = 0;
  for (const test::BusySignal& signal : signals) {
    test::BusySignal without_ticks = signal;
    without_ticks.keep_ticks = false;
    const auto source = generate(signal);
    const auto cells_only = generate(without_ticks);
    double start_s = now_s();
    ours.add(source.true_changes(), found_in(source), kReachHardS);
    ours_s += now_s() - start_s;
    start_s = now_s();
    const auto unused = found_in(cells_only);
    cells_only_s += now_s() - start_s;
    const Windows windows = windows_of(source);
    const double units = static_cast<double>(windows.shares.units);
    const double log_n = std::log(static_cast<double>(windows.shares.windows));
    for (std::size_t i = 0; i < std::size(kPenaltyFactors); ++i) {
      start_s = now_s();
      const auto by_share = peer.linear(
          windows.shares, kPenaltyFactors[i] * 3 * windows.mean_variance * units * log_n);
      const double middle_s = now_s();
      const auto by_score = peer.linear(windows.scores, kPenaltyFactors[i] * 3 * units * log_n);
      if (kPenaltyFactors[i] == 1) {
        shares_s += middle_s - start_s;
        scores_s += now_s() - middle_s;
      }
      shares[i].add(source.true_changes(), times_of(by_share, source.cell_s()), kReachHardS);
      scores[i].add(source.true_changes(), times_of(by_score, source.cell_s()), kReachHardS);
    }
  }
  const double count = static_cast<double>(signals.size());
  fmt::print("{}: {} recordings, {} changes; missed/false, ms a recording\n", name, signals.size(),
             ours.boundaries);
  fmt::print("  gputrace           {}/{}, {:.2f} ms ({:.2f} without ticks)\n", ours.missed,
             ours.extra, ours_s / count * 1000, cells_only_s / count * 1000);
  const auto print = [&](const char* what, const std::vector<Score>& all, double seconds) {
    fmt::print("  KernelCPD, {:<7}", what);
    for (std::size_t i = 0; i < all.size(); ++i) {
      fmt::print(" x{:g}: {}/{}", kPenaltyFactors[i], all[i].missed, all[i].extra);
    }
    fmt::print(", {:.2f} ms at x1\n", seconds / count * 1000);
  };
  print("shares", shares, shares_s);
  print("scores", scores, scores_s);
  std::fflush(stdout);
}

void print_comparison(const RupturesPeer& peer, std::uint64_t seed) {
  std::vector<test::BusySignal> simple;
  simple.reserve(kRecordings);
  for (std::uint64_t i = 0; i < kRecordings; ++i) {
    simple.push_back(test::simple_recording(seed + i));
  }
  compare(peer, "simple", simple);
  for (const double common : {0.0, 0.7}) {
    std::vector<test::BusySignal> hard;
    hard.reserve(kHardRecordings);
    for (std::uint64_t i = 0; i < kHardRecordings; ++i) {
      hard.push_back(test::hard_recording(seed + i, 4, 8, common));
    }
    compare(peer, fmt::format("mix, 4-8 ms, common {:g}", common), hard);
  }
  std::vector<test::BusySignal> weak;
  weak.reserve(kHardRecordings);
  for (std::uint64_t i = 0; i < kHardRecordings; ++i) {
    weak.push_back(test::short_phase(seed + i, 1, 2, 2, 0.16));
  }
  compare(peer, "2 s, 16 points, 1-2 ms", weak);
  for (const double minutes : {5.0, 10.0, 20.0, 30.0}) {
    const auto source = generate(test::stationary_kinds(seed, minutes * 60)[0].signal);
    const Windows windows = windows_of(source);
    double start_s = now_s();
    const auto ours = found_in(source);
    const double ours_s = now_s() - start_s;
    start_s = now_s();
    const auto theirs = peer.linear(
        windows.shares, 3 * windows.mean_variance * static_cast<double>(windows.shares.units) *
                            std::log(static_cast<double>(windows.shares.windows)));
    fmt::print("stationary, {:g} min: gputrace {:.3f} s, KernelCPD {:.3f} s; false {} and {}\n",
               minutes, ours_s, now_s() - start_s, ours.size(), theirs.size());
    std::fflush(stdout);
  }
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const bool all = what == "all";
  if (all || what == "accuracy") {
    print_accuracy(seed);
  }
  if (all || what == "stationary") {
    print_stationary(seed, 3600);
  }
  if (all || what == "speed") {
    print_speed(seed);
  }
  if (argc > 3) {
    const auto peer = RupturesPeer::open(argv[3]);
    if (!peer) {
      fmt::print(stderr, "{}\n", peer.error().message);
      return 1;
    }
    print_comparison(*peer, seed);
  } else {
    fmt::print("left out: ruptures; give its library (tests/bench/README.md)\n");
  }
  return 0;
}

}  // namespace
}  // namespace gputrace::bench

/// [all|accuracy|stationary|speed|peer] [SEED] [LIBRARY OF RUPTURES]
int main(int argc, char** argv) {
  return gputrace::bench::run(argc, argv);
}
