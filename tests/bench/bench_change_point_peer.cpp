// Changes found by gputrace and by KernelCPD of `ruptures` on the same windows, and the time of
// each step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/analysis/change_point/angles.h"
#include "cli/analysis/change_point/cell_table.h"
#include "cli/analysis/change_point/noise.h"
#include "cli/analysis/change_point/scores.h"
#include "cli/analysis/change_point/seeded_search.h"
#include "tests/bench/bench_change_point.h"
#include "tests/support/busy_signal_cases.h"

namespace gputrace::bench {
namespace {

using analysis::GridSource;

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
    Windows windows = windows_of(source);
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

/// The least of some rounds of `work`, in ms; `prepare` makes what it is given.
template <class Prepare, class Work>
double least_ms(const Prepare& prepare, const Work& work) {
  constexpr int kRounds = 7;
  double least = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto prepared = prepare();
    const double start_s = now_s();
    work(std::move(prepared));
    const double ms = (now_s() - start_s) * 1000;
    least = round == 0 ? ms : std::min(least, ms);
  }
  return least;
}

template <class Work>
double least_ms(const Work& work) {
  return least_ms([] { return 0; }, [&](int /*nothing*/) { return work(); });
}

/// In ms, summed over recordings.
struct Times {
  double windows = 0;  ///< counts of 100 ms from the recording
  double angles = 0;   ///< their arcsines
  double noise = 0;
  double sums = 0;  ///< of angles over noise
  double search = 0;
  double whole = 0;  ///< find_change_points()
  double peer = 0;   ///< KernelCPD; it is given its scores
};

void add_times(const RupturesPeer& peer, const GridSource& source, Times& times) {
  using namespace analysis::change_point;
  const auto units = searched_units(source.units());
  const auto read = [&] {
    auto table = read_table(source, units, 0, source.cells(), 1);
    GPUTRACE_CHECK(table.has_value());
    return std::move(*table);
  };
  times.windows += least_ms(read);
  const auto table = read();
  const auto angles = [&] { return Angles(table); };
  times.angles += least_ms(angles);
  const Noise noise = measure_noise(table, angles());
  times.noise += least_ms(angles, [&](Angles all) { return measure_noise(table, all); });
  times.sums +=
      least_ms(angles, [&](Angles all) { return Scores(table, noise.sigma, std::move(all)); });
  const Scores scores(table, noise.sigma, angles());
  const double penalty = noise.penalty(source.cells());
  times.search += least_ms([&] { return search(scores, 0, source.cells(), penalty); });
  times.whole += least_ms([&] { return found_in(source); });
  Windows windows = windows_of(source);
  const double peer_penalty = 3 * static_cast<double>(windows.scores.units) *
                              std::log(static_cast<double>(windows.scores.windows));
  times.peer += least_ms([&] { return peer.linear(windows.scores, peer_penalty); });
}

/// Three comparisons: from scores to boundaries, as KernelCPD's search; with what makes ours ready,
/// from counts on, but for the noise; and all that find_change_points() does.
void compare_times(const RupturesPeer& peer, const std::string& name,
                   const std::vector<test::BusySignal>& signals) {
  Times sum;
  for (const test::BusySignal& signal : signals) {
    add_times(peer, generate(signal), sum);
  }
  const auto mean = [&](double ms) { return ms / static_cast<double>(signals.size()); };
  const double prepared = sum.search + sum.sums;
  const double from_counts = prepared + sum.angles;
  fmt::print(
      "{:<34} KernelCPD {:.3f} ms; search {:.3f} ({:.1f} times faster), with sums {:.3f} ({:.1f}), "
      "with arcsines {:.3f} ({:.1f}), whole {:.3f} ({:.1f}; windows {:.3f}, noise {:.3f})\n",
      name, mean(sum.peer), mean(sum.search), sum.peer / sum.search, mean(prepared),
      sum.peer / prepared, mean(from_counts), sum.peer / from_counts, mean(sum.whole),
      sum.peer / sum.whole, mean(sum.windows), mean(sum.noise));
  std::fflush(stdout);
}

/// A change after 5 to 20 s.
test::BusySignal changing_signal(std::uint64_t seed, double seconds) {
  test::BusySignal signal = test::simple_recording(seed);
  test::SignalRandom random(seed);
  const test::SignalPhase first = signal.phases[0];
  signal.phases.clear();
  signal.keep_ticks = true;
  for (std::size_t kind = 0; seconds > 0; ++kind) {
    signal.phases.push_back(first);
    signal.phases.back().seconds = std::min(seconds, random.uniform(5, 20));
    signal.phases.back().passes = {{.share = 1, .duty = test::load(kind % test::kLoads, random)}};
    seconds -= signal.phases.back().seconds;
  }
  return signal;
}

}  // namespace

void print_lengths(const RupturesPeer& peer, std::uint64_t seed) {
  for (const auto& [name, seconds, recordings] :
       {std::tuple{"30 s", 30.0, 20U}, std::tuple{"1 min", 60.0, 20U},
        std::tuple{"5 min", 300.0, 5U}, std::tuple{"30 min", 1800.0, 1U},
        std::tuple{"1 h", 3600.0, 1U}}) {
    std::vector<test::BusySignal> signals;
    signals.reserve(recordings);
    for (std::uint64_t i = 0; i < recordings; ++i) {
      signals.push_back(changing_signal(seed + i, seconds));
    }
    compare_times(peer, fmt::format("{}, a change after 5 to 20 s", name), signals);
  }
  for (const auto& [name, seconds] : {std::pair{"30 s", 30.0}, std::pair{"1 min", 60.0},
                                      std::pair{"5 min", 300.0}, std::pair{"30 min", 1800.0}}) {
    compare_times(peer, fmt::format("{}, no change", name),
                  {test::stationary_kinds(seed, seconds)[0].signal});
  }
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
    Windows windows = windows_of(source);
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

}  // namespace gputrace::bench
