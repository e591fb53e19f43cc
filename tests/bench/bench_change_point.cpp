// How well and how fast changes are found, on recordings whose changes are known: missed, false,
// distances, time, memory; and beside `ruptures` where its library is given.
#include "tests/bench/bench_change_point.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/bench/repeated_source.h"
#include "tests/support/busy_signal_cases.h"

namespace gputrace::bench {
namespace {

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
    print_lengths(*peer, seed);
    if (all || what == "peer") {
      print_comparison(*peer, seed);
    }
  } else {
    fmt::print("left out: ruptures; give its library (tests/bench/README.md)\n");
  }
  return 0;
}

}  // namespace
}  // namespace gputrace::bench

/// [all|accuracy|stationary|speed|peer|lengths] [SEED] [LIBRARY OF RUPTURES]
int main(int argc, char** argv) {
  return gputrace::bench::run(argc, argv);
}
