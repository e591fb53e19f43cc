// How well the levels of simulated hierarchies are read from their curves: share within a factor of
// two, sizes by shares of hops, and what was called sure and was not.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "cli/analysis/inference.h"
#include "tests/support/hierarchy_cases.h"
#include "tests/support/inference_score.h"

namespace {

using gputrace::test::HierarchyCase;
using gputrace::test::InferenceScore;
using gputrace::test::MeasuredHierarchy;

constexpr double kMiB = 1024.0 * 1024;

std::vector<MeasuredHierarchy> measure_all(const std::vector<HierarchyCase>& cases,
                                           double per_octave) {
  std::vector<MeasuredHierarchy> measured(cases.size());
  const auto part = [&](std::size_t first) {
    for (std::size_t i = first; i < cases.size(); i += 2) {
      measured[i] = measure_hierarchy(cases[i], per_octave, 100 + i);
    }
  };
  std::jthread odd([&] { part(1); });
  part(0);
  odd.join();
  return measured;
}

double percent(std::size_t part, std::size_t all) {
  return 100 * static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(all, 1));
}

void print(const std::string& what, const InferenceScore& score, double ms) {
  fmt::print(
      "{:<44} levels {:>3}: {:.1f} % within 2, {:.1f} % within 1.25, false {}; interval holds "
      "{:.0f} %\n{:<44} sure {}, wrong by 1.5: {}; likely {}, wrong by 2: {}; by hops {} of {}, "
      "{:.1f} % within 0.7 .. 1.35; {:.1f} ms\n",
      what, score.levels, percent(score.within_2, score.levels),
      percent(score.within_1_25, score.levels), score.false_levels,
      percent(score.inside, score.within_2), "", score.sure, score.wrong_sure, score.likely,
      score.wrong_likely, score.hop_levels, score.caches,
      percent(score.hop_within, score.hop_levels), ms);
}

void judge(const std::string& name, const std::vector<HierarchyCase>& cases, double per_octave) {
  const std::vector<MeasuredHierarchy> measured = measure_all(cases, per_octave);
  for (const double noise : {0.01, 0.03}) {
    for (const bool others : {false, true}) {
      InferenceScore score;
      const auto start = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < cases.size(); ++i) {
        score.add(cases[i], measured[i], {.relative = noise, .outliers = 0.04}, others, 7 * i + 3);
      }
      const double ms =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count();
      print(fmt::format("{}, noise {:.0f} %{}", name, 100 * noise,
                        others ? ", hops and bandwidth too" : ""),
            score, ms / static_cast<double>(cases.size()));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
  const std::uint64_t seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2026;
  using gputrace::test::judging_hierarchies;
  judge("constants were set with these", gputrace::test::training_hierarchies(count / 4), 2);
  judge("others, steps of sqrt 2", judging_hierarchies(count, 32 * kMiB, seed), 2);
  judge("others, steps of 2", judging_hierarchies(count, 32 * kMiB, seed + 1), 1);
  judge("as sold, steps of sqrt 2",
        gputrace::test::sold_hierarchies(count / 4, 32 * kMiB, seed + 3), 2);
  judge("others, steps of 2^(1/4)", judging_hierarchies(count / 4, 32 * kMiB, seed + 2), 4);
}
