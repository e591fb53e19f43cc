// What `gputrace record` costs its workload: the wall time of `record -- true`, and how much a
// CPU-bound command is slowed at 1 kHz, by alternating pairs with and without.
// Usage: bench_record_overhead GPUTRACE FOLDER [GPU]     (FOLDER on tmpfs; GPU: default
// sim:780m:idle)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "tests/bench/measured_command.h"

namespace gputrace::bench {
namespace {

constexpr int kTrueRuns = 20;
constexpr int kPairs = 24;
constexpr double kStudent23 = 2.069;  // 97.5 % point of Student's t with 23 degrees of freedom
constexpr double kWorkSeconds = 2.0;

/// Additions, about a nanosecond each; the result is used so that they stay.
std::uint64_t work(std::uint64_t rounds) {
  std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    value = value * 6364136223846793005ULL + 1442695040888963407ULL;
  }
  return value;
}

double seconds_of(std::uint64_t rounds) {
  const auto start = std::chrono::steady_clock::now();
  volatile std::uint64_t sink = work(rounds);
  static_cast<void>(sink);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::uint64_t rounds_for(double seconds) {
  constexpr std::uint64_t kTrial = 200'000'000;
  return static_cast<std::uint64_t>(static_cast<double>(kTrial) * seconds / seconds_of(kTrial));
}

struct Setup {
  std::string self;
  std::string gputrace;
  std::string folder;
  std::string gpu;
};

std::vector<std::string> recorded(const Setup& setup, const std::vector<std::string>& command) {
  std::vector<std::string> words{setup.gputrace, "record", "--gpu",
                                 setup.gpu,      "-o",     setup.folder + "/overhead.gputrace",
                                 "--force",      "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// Seconds in "loaded in 0.123 s" of the summary; 0 for a real GPU, which loads nothing.
double load_time(const std::string& summary) {
  const std::size_t at = summary.find("loaded in ");
  return at == std::string::npos ? 0 : std::strtod(summary.c_str() + at + 10, nullptr);
}

Status measure_true(const Setup& setup) {
  std::vector<double> net_ms;
  double load_ms = 0;
  // sh passes the summary on to where measure_command() reads.
  std::vector<std::string> words{"sh", "-c", "exec \"$@\" 2>&1", "sh"};
  for (const std::string& word : recorded(setup, {"true"})) {
    words.push_back(word);
  }
  for (int run = 0; run < kTrueRuns; ++run) {
    const Result<MeasuredCommand> measured = measure_success(words);
    if (!measured) {
      return tl::unexpected(measured.error());
    }
    load_ms = load_time(measured->output) * 1000;
    net_ms.push_back(measured->wall_s * 1000 - load_ms);
  }
  std::sort(net_ms.begin(), net_ms.end());
  fmt::print(
      "record -- true, {}: median {:.1f} ms, worst {:.1f} ms of {} runs, without the printed "
      "load time ({:.1f} ms); goal 150 ms\n",
      setup.gpu, net_ms[net_ms.size() / 2], net_ms.back(), kTrueRuns, load_ms);
  return {};
}

/// The child prints its own time, so that starting and ending gputrace do not count.
Result<double> child_seconds(const std::vector<std::string>& words) {
  const Result<MeasuredCommand> measured = measure_success(words);
  if (!measured) {
    return tl::unexpected(measured.error());
  }
  return std::strtod(measured->output.c_str(), nullptr);
}

Status measure_slowdown(const Setup& setup) {
  const std::vector<std::string> child{setup.self, "--work",
                                       std::to_string(rounds_for(kWorkSeconds))};
  std::vector<std::string> with = recorded(setup, child);
  with.insert(with.begin() + 2, "-q");
  std::vector<double> log_ratios;
  for (int pair = 0; pair < kPairs; ++pair) {
    // Who goes first alternates too: a drift of the machine's speed cancels.
    std::array<std::optional<double>, 2> seconds;  // without, with
    for (int turn = 0; turn < 2; ++turn) {
      const bool records = (turn + pair) % 2 == 1;
      const Result<double> measured = child_seconds(records ? with : child);
      if (!measured) {
        return tl::unexpected(measured.error());
      }
      seconds[records ? 1 : 0] = *measured;
    }
    log_ratios.push_back(std::log(seconds[1].value_or(1) / seconds[0].value_or(1)));
  }
  double mean = 0;
  for (const double ratio : log_ratios) {
    mean += ratio / kPairs;
  }
  double variance = 0;
  for (const double ratio : log_ratios) {
    variance += (ratio - mean) * (ratio - mean) / (kPairs - 1);
  }
  const double half = kStudent23 * std::sqrt(variance / kPairs);
  std::sort(log_ratios.begin(), log_ratios.end());
  const auto percent = [](double log_ratio) { return (std::exp(log_ratio) - 1) * 100; };
  fmt::print(
      "CPU-bound child at 1 kHz, {}: slower by {:.2f} %, 95 % interval {:.2f} to {:.2f} %, "
      "median {:.2f} %, {} alternating pairs of {:.0f} s; goal under 1 %\n",
      setup.gpu, percent(mean), percent(mean - half), percent(mean + half),
      percent(log_ratios[kPairs / 2]), kPairs, kWorkSeconds);
  return {};
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[1] == "--work") {
    fmt::print("{:.9f}\n", seconds_of(std::strtoull(words[2].c_str(), nullptr, 10)));
    return 0;
  }
  if (words.size() != 3 && words.size() != 4) {
    fmt::print(stderr, "usage: bench_record_overhead GPUTRACE FOLDER [GPU]\n");
    return 2;
  }
  const Setup setup{words[0], words[1], words[2], words.size() == 4 ? words[3] : "sim:780m:idle"};
  for (const auto& measure : {measure_true, measure_slowdown}) {
    if (const Status status = measure(setup); !status) {
      fmt::print(stderr, "bench_record_overhead: {}\n", status.error().message);
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace gputrace::bench

int main(int argc, char** argv) {
  try {
    return gputrace::bench::run({argv, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_record_overhead: %s\n", error.what());
    return 1;
  }
}
