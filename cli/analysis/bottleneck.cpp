#include "cli/analysis/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/analysis/bottleneck/confidence.h"
#include "cli/analysis/bottleneck/text.h"

namespace gputrace::analysis {
namespace {

constexpr double kSure = 0.90;
constexpr double kLikely = 0.70;
constexpr double kGuess = 0.50;

struct Nearest {
  std::string name;
  double distance = 0;  ///< rms over the units that both have
};

/// Shares are of active time on both sides: pauses of the host are not what a workload is like.
std::optional<Nearest> find_nearest(const StretchFacts& facts) {
  constexpr std::size_t kFewestUnits = 3;
  const auto active_of = [](std::span<const BusyUnit> units) {
    const auto reading = read_signature(units).at(Role::kActive);
    return reading && reading->busy > 0 ? reading->busy : 1;
  };
  const double own_active = active_of(facts.units);
  std::optional<Nearest> nearest;
  for (const KnownWorkload& known : facts.known) {
    const double known_active = active_of(known.units);
    double squares = 0;
    std::size_t shared = 0;
    for (const BusyUnit& unit : facts.units) {
      const auto same = std::find_if(known.units.begin(), known.units.end(),
                                     [&](const BusyUnit& other) { return other.key == unit.key; });
      if (same != known.units.end()) {
        const double difference =
            std::min(1.0, unit.busy / own_active) - std::min(1.0, same->busy / known_active);
        squares += difference * difference;
        ++shared;
      }
    }
    if (shared < kFewestUnits) {
      continue;
    }
    const double distance = std::sqrt(squares / static_cast<double>(shared));
    if (!nearest || distance < nearest->distance) {
      nearest = Nearest{.name = known.name, .distance = distance};
    }
  }
  return nearest;
}

Verdict without_samples(const StretchFacts& facts) {
  constexpr double kAllAsleep = 0.95;
  Verdict verdict;
  if (facts.asleep_share >= kAllAsleep) {
    verdict.bottleneck = Bottleneck::kIdle;
    verdict.confidence = facts.asleep_share;
    verdict.evidence = {"The GPU slept."};
    verdict.would_change = "Work would wake it.";
    return verdict;
  }
  verdict.evidence.push_back(
      facts.unknown_share > 0
          ? fmt::format("Cannot tell: {:.0f} % of the samples could not be read, and the rest "
                        "says nothing.",
                        100 * facts.unknown_share)
          : "Cannot tell: there are too few samples.");
  verdict.would_change = facts.unknown_share > 0
                             ? "`gputrace doctor` says why reads fail; then record again."
                             : "Record for longer or at a higher rate: ten samples are the least.";
  return verdict;
}

bool too_few_samples(std::span<const BusyUnit> units) {
  return std::none_of(units.begin(), units.end(), [](const BusyUnit& unit) {
    return !unit.counts || unit.counts->samples >= kMinSamplesForInterval;
  });
}

}  // namespace

std::string_view to_string(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kIdle:
      return "idle";
    case Bottleneck::kCpu:
      return "cpu";
    case Bottleneck::kBandwidth:
      return "bandwidth";
    case Bottleneck::kLatency:
      return "latency";
    case Bottleneck::kMemory:
      return "memory";
    case Bottleneck::kCompute:
      return "compute";
    case Bottleneck::kTexture:
      return "texture";
    case Bottleneck::kRaster:
      return "raster";
    case Bottleneck::kGeometry:
      return "geometry";
    case Bottleneck::kMixed:
      return "mixed";
    case Bottleneck::kUnknown:
      break;
  }
  return "unknown";
}

Verdict classify(const StretchFacts& facts, std::optional<Bottleneck> before) {
  if (too_few_samples(facts.units)) {
    return without_samples(facts);
  }
  const Signature signature = read_signature(facts.units);
  const double readable = 1 - std::clamp(facts.unknown_share, 0.0, 1.0);
  const double awake = readable > 0 ? 1 - std::clamp(facts.asleep_share / readable, 0.0, 1.0) : 1;
  const double active = find_stages(shares_of(signature, 1)).active;
  const std::optional<DramUse> dram = dram_use(facts.witness, active);
  const Judgement judgement = judge(signature, awake, dram, before);

  Verdict verdict;
  verdict.bottleneck = judgement.decision.bottleneck;
  verdict.runner_up = judgement.runner_up;
  verdict.confidence =
      limit_confidence(judgement, signature, dram, std::clamp(facts.unseen_share, 0.0, 1.0));
  verdict.evidence = tell_evidence(facts, signature, judgement, dram);
  verdict.would_change = tell_what_would_change(facts, signature, judgement, dram);
  if (verdict.bottleneck == Bottleneck::kIdle || verdict.bottleneck == Bottleneck::kCpu) {
    return verdict;
  }
  if (const auto nearest = find_nearest(facts)) {
    // Profiles that were stored lie closer together than this only within one class, in the
    // published tables; work group sizes move one by up to 0.15 (model).
    constexpr double kUnlike = 0.16;
    constexpr double kUnlikeConfidence = 0.60;
    verdict.nearest = nearest->name;
    if (nearest->distance > kUnlike) {
      verdict.confidence = std::min(verdict.confidence, kUnlikeConfidence);
      verdict.evidence.push_back(
          fmt::format("Unlike all known workloads: the nearest, {}, differs by {:.0f} points.",
                      nearest->name, 100 * nearest->distance));
    }
  }
  return verdict;
}

std::string_view certainty_word(double confidence) {
  if (confidence >= kSure) {
    return "sure";
  }
  if (confidence >= kLikely) {
    return "likely";
  }
  return confidence >= kGuess ? "a guess" : "cannot tell";
}

}  // namespace gputrace::analysis
