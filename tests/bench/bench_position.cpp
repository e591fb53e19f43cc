// Coverage and width of roofline positions: on curves with a known scatter, and on the simulated
// GPU with workgroups, access mixes, DRAM latencies, seeds and power limits that no calibration
// had. `bench_position [workloads]`: a row of the simulated GPU has as many, 200 if not said, and
// one of known curves ten times as many.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/analysis/position.h"
#include "cli/analysis/position_points.h"
#include "tests/support/known_curves.h"
#include "tests/support/simulated_workload.h"

namespace gputrace {
namespace {

using namespace analysis;
using test::SimulatedStream;

constexpr std::uint64_t kCalibrationSamples = 2'000;
constexpr std::uint64_t kSamples = 10'000;

/// By place: below ridge/4, to the ridge, to 4 ridge, above.
struct Row {
  std::array<int, 4> placed{};
  std::array<int, 4> covered{};
  std::array<std::vector<double>, 4> factors;
  int without = 0;

  void add(const std::optional<Position>& position, double intensity, double ridge) {
    if (!position) {
      ++without;
      return;
    }
    const double octaves = std::log2(intensity / ridge);
    const auto bin = static_cast<std::size_t>(std::clamp(std::floor(octaves / 2) + 2, 0.0, 3.0));
    const Range& range = position->intensity;
    ++placed.at(bin);
    covered.at(bin) +=
        (!range.lower || *range.lower <= intensity) && (!range.upper || intensity <= *range.upper)
            ? 1
            : 0;
    factors.at(bin).push_back(range.upper.value_or(kHighestIntensity) /
                              range.lower.value_or(kLowestIntensity));
  }

  void print(const std::string& what) {
    int all = 0;
    int held = 0;
    std::string text;
    for (std::size_t bin = 0; bin < placed.size(); ++bin) {
      all += placed.at(bin);
      held += covered.at(bin);
      std::vector<double>& widths = factors.at(bin);
      std::sort(widths.begin(), widths.end());
      text += widths.empty() ? fmt::format(" | {:>12}", "-")
                             : fmt::format(" | {:.2f} / {:5.1f}",
                                           static_cast<double>(covered.at(bin)) / placed.at(bin),
                                           widths[widths.size() / 2]);
    }
    fmt::print("| {:<46} | {:.2f}{} | {} |\n", what, all > 0 ? static_cast<double>(held) / all : 0,
               text, without);
    std::fflush(stdout);
  }
};

void known_curves(double ridge_octaves, int families, double in_common, int workloads) {
  test::KnownCurves curves(ridge_octaves, 0.02, 2027, in_common);
  std::mt19937_64 rng(8);
  std::uniform_real_distribution<double> octave(std::log2(kLowestIntensity),
                                                std::log2(kHighestIntensity));
  Row row;
  CalibrationFit fit;
  fit.use = CalibrationUse::kAsItIs;
  // What few families have in common differs from one calibration to the next.
  constexpr int kCalibrations = 200;
  for (int i = 0; i < kCalibrations; ++i) {
    const auto model = PositionModel::make(curves.calibration(families));
    for (int k = 0; model && k < std::max(workloads / 20, 1); ++k) {
      const double intensity = std::exp2(octave(rng));
      row.add(model->place(curves.units_at(intensity, curves.deviation(), kSamples), fit),
              intensity, test::kKnownRidge);
    }
  }
  row.print(fmt::format("ridge {} octaves wide, {} families, {:.0f} % in common", ridge_octaves,
                        families, 100 * in_common));
}

struct Mix {
  double read_bytes;
  double written_bytes;
};

Calibration calibrate(double power_limit_w, const std::vector<Mix>& mixes) {
  std::mt19937_64 rng(1);
  std::vector<CalibrationPoint> points;
  for (const Mix& mix : mixes) {
    for (const int group_threads : {64, 256, 1024}) {
      for (int half = -4; half <= 18; ++half) {
        // Half octaves only about the ridge, as the sweep has them.
        if (half % 2 != 0 && (half < 8 || half > 15)) {
          continue;
        }
        auto point = test::measure({.group_threads = group_threads,
                                    .read_bytes = mix.read_bytes,
                                    .written_bytes = mix.written_bytes,
                                    .intensity = std::exp2(half / 2.0),
                                    .power_limit_w = power_limit_w},
                                   kCalibrationSamples, rng);
        if (point) {
          points.push_back(std::move(*point));
        }
      }
    }
  }
  return test::calibration_of(std::move(points));
}

/// Mixes that no calibration has, and every multiple of 64 threads.
std::vector<std::pair<SimulatedStream, CalibrationPoint>> unseen(double power_limit_w, int count) {
  std::mt19937_64 rng(static_cast<std::uint64_t>(power_limit_w));
  std::uniform_real_distribution<double> octave(std::log2(kLowestIntensity),
                                                std::log2(kHighestIntensity));
  std::uniform_int_distribution<int> groups(1, 16);
  std::uniform_int_distribution<int> vectors(0, 12);
  constexpr std::array<double, 3> kLatencies{200, 310, 450};
  std::vector<std::pair<SimulatedStream, CalibrationPoint>> result;
  while (static_cast<int>(result.size()) < count) {
    SimulatedStream stream;
    stream.group_threads = 64 * groups(rng);
    stream.read_bytes = 16.0 * vectors(rng);
    stream.written_bytes = 16.0 * std::max(stream.read_bytes > 0 ? 0 : 1, vectors(rng) / 2);
    stream.intensity = std::exp2(octave(rng));
    stream.dram_latency_ns = kLatencies.at(result.size() % kLatencies.size());
    stream.power_limit_w = power_limit_w;
    stream.seed = 100 + result.size();
    if (auto point = test::measure(stream, kSamples, rng)) {
      result.emplace_back(stream, std::move(*point));
    }
  }
  return result;
}

}  // namespace
}  // namespace gputrace

int main(int argc, char** argv) {
  using namespace gputrace;
  const int workloads = argc > 1 ? std::atoi(argv[1]) : 200;
  if (workloads < 1) {
    std::fputs("bench_position: the number of workloads must be at least 1\n", stderr);
    return 2;
  }
  std::puts("coverage / median of upper over lower (an open end counts as 0.25 or 512 FLOP/B)");
  std::puts("| | all | < ridge/4 | to ridge | to 4 ridge | above | no position |");
  std::puts("|---|---|---|---|---|---|---|");
  for (const double in_common : {0.0, 0.5, 1.0}) {
    for (const double width : {0.6, 1.2}) {
      for (const int families : {1, 3, 4, 6}) {
        known_curves(width, families, in_common, workloads);
      }
    }
  }
  const std::vector<Mix> one{{64, 64}};
  const std::vector<Mix> four{{64, 64}, {16, 16}, {128, 0}, {0, 64}};
  std::array<double, 3> limits{54, 25, 15};
  std::vector<std::vector<std::pair<SimulatedStream, analysis::CalibrationPoint>>> recordings;
  recordings.reserve(limits.size());
  for (const double limit_w : limits) {
    recordings.push_back(unseen(limit_w, workloads));
  }
  for (const double calibrated_w : limits) {
    for (const auto* mixes : {&one, &four}) {
      const analysis::Calibration calibration = calibrate(calibrated_w, *mixes);
      const auto model = analysis::PositionModel::make(calibration);
      const auto ridge = analysis::ridge_of(calibration);
      for (std::size_t i = 0; model && ridge && i < limits.size(); ++i) {
        Row row;
        for (const auto& [stream, point] : recordings[i]) {
          const auto fit = analysis::fit_of(calibration, test::conditions_of(calibration, point));
          row.add(model->place(point.units, fit), stream.intensity, *ridge);
        }
        row.print(fmt::format("calibrated at {} W, {} mix{}, recorded at {} W", calibrated_w,
                              mixes->size(), mixes->size() == 1 ? "" : "es", limits.at(i)));
      }
    }
  }
  return 0;
}
