// How often the class is right, and whether the confidence says so: profiles moved at random,
// mixed, and vectors that mean nothing. Figures: docs/methodology.md, "Classes".
#include <doctest/doctest.h>

#include <array>

#include "cli/analysis/bottleneck.h"
#include "tests/cli/analysis/class_profiles.h"
#include "tests/support/busy_signal.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using analysis::Verdict;

struct Accuracy {
  int right = 0;
  int all = 0;
  int sure = 0;  ///< told as 0.9 and more
  int sure_and_right = 0;

  void add(const Verdict& verdict, Bottleneck truth) {
    const bool is_right = verdict.bottleneck == truth;
    const bool is_sure = verdict.confidence >= 0.9;
    ++all;
    right += is_right ? 1 : 0;
    sure += is_sure ? 1 : 0;
    sure_and_right += is_right && is_sure ? 1 : 0;
  }
};

std::vector<double> moved(std::vector<double> busy, double by, SignalRandom& random) {
  for (double& share : busy) {
    share = std::clamp(share + random.uniform(-by, by), 0.0, 1.0);
  }
  return busy;
}

Verdict classify(const std::vector<double>& busy) {
  return Stretch{.units = make_units(profile_units(), busy)}.classify();
}

Accuracy accuracy_of_moved_profiles(double by, int times) {
  SignalRandom random(7);
  Accuracy accuracy;
  for (const ClassProfile& profile : class_profiles()) {
    for (int i = 0; i < times; ++i) {
      accuracy.add(classify(moved(profile.busy, by, random)), profile.truth);
    }
  }
  return accuracy;
}

std::vector<double> midpoint(const ClassProfile& one, const ClassProfile& other) {
  std::vector<double> busy = one.busy;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    busy[i] = (busy[i] + other.busy[i]) / 2;
  }
  return busy;
}

}  // namespace

TEST_CASE("profiles of which each unit is moved by up to 0.1 keep their class in 95 of 100 cases") {
  const Accuracy accuracy = accuracy_of_moved_profiles(0.1, 20);
  MESSAGE("right: ", accuracy.right, " of ", accuracy.all);
  CHECK(accuracy.right >= 0.95 * accuracy.all);
  CHECK(accuracy.sure_and_right >= 0.9 * accuracy.sure);
  CHECK(accuracy.sure > 0);
}

TEST_CASE("profiles of which each unit is moved by up to 0.2 keep their class in 85 of 100 cases") {
  const Accuracy accuracy = accuracy_of_moved_profiles(0.2, 20);
  MESSAGE("right: ", accuracy.right, " of ", accuracy.all, ", sure: ", accuracy.sure);
  CHECK(accuracy.right >= 0.85 * accuracy.all);
  CHECK(accuracy.sure_and_right >= 0.9 * accuracy.sure);
}

TEST_CASE("half way between two classes at most a third of the verdicts are sure") {
  int sure = 0;
  int pairs = 0;
  const auto& profiles = class_profiles();
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    for (std::size_t j = i + 1; j < profiles.size(); ++j) {
      if (profiles[i].truth != profiles[j].truth) {
        ++pairs;
        sure += classify(midpoint(profiles[i], profiles[j])).confidence > 0.9 ? 1 : 0;
      }
    }
  }
  MESSAGE("sure: ", sure, " of ", pairs);
  CHECK(3 * sure <= pairs);
}

TEST_CASE("of vectors that mean nothing hardly one in fifty gets a sure class") {
  SignalRandom random(11);
  int sure = 0;
  constexpr int kVectors = 300;
  for (int i = 0; i < kVectors; ++i) {
    std::vector<double> busy(profile_units().size());
    for (double& share : busy) {
      share = random.uniform();
    }
    busy.front() = 0.98;
    sure += classify(busy).confidence >= 0.9 ? 1 : 0;
  }
  MESSAGE("sure: ", sure, " of ", kVectors);
  CHECK(sure <= kVectors / 50);
}

}  // namespace gputrace::test
