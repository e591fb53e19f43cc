#include "cli/analysis/bottleneck/confidence.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace gputrace::analysis {
namespace {

constexpr std::size_t kDraws = 400;
constexpr std::size_t kUnknowns = kRoles + 1;  ///< the roles and the share of DRAM
using Moves = std::array<std::array<double, kUnknowns>, kDraws>;

/// Standard deviation of what units do that the rules do not know. Model: at one arithmetic
/// intensity work group sizes and DRAM latencies move units that are busy half of the time by 8 to
/// 20 points, and full or idle ones by 0 to 3.
double model_sd(double busy) {
  constexpr double kHalfBusy = 0.09;
  constexpr double kLeast = 0.01;
  return kLeast + (kHalfBusy - kLeast) * 2 * std::sqrt(busy * (1 - busy));
}
/// Published: a copy reaches 73 GB/s and a fill 83; the ceiling of a mix is between.
constexpr double kCeilingError = 0.05;

std::uint64_t mix(std::uint64_t x) {  // splitmix64 (Steele, Lea, Flood 2014)
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

double uniform(std::uint64_t seed) {
  constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
  return (static_cast<double>(mix(seed) >> 11U) + 0.5) * kScale;
}

/// Normal, by Box and Muller; each move and its opposite, so that no direction is favoured.
Moves make_moves() {
  Moves moves{};
  for (std::size_t draw = 0; draw < kDraws; draw += 2) {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      const std::uint64_t seed = 2 * (draw * kUnknowns + i);
      const double z = std::sqrt(-2 * std::log(uniform(seed))) *
                       std::cos(2 * std::numbers::pi * uniform(seed + 1));
      moves[draw][i] = z;
      moves[draw + 1][i] = -z;
    }
  }
  return moves;
}

const Moves& fixed_moves() {
  static const Moves kMoves = make_moves();
  return kMoves;
}

bool is_memory(Bottleneck bottleneck) {
  return bottleneck == Bottleneck::kMemory || bottleneck == Bottleneck::kBandwidth ||
         bottleneck == Bottleneck::kLatency;
}

/// Model: dispatches that wait for memory fill all of its path to 0.97 of their time and more; from
/// 0.82 to there most of them compute.
bool nearly_full(const Stages& stages) {
  constexpr double kAllTheTime = 0.95;
  return stages.no_pixels &&
         std::min(stages.memory.value_or(1), stages.texture.value_or(1)) < kAllTheTime;
}

/// The most that can be said where other work looks the same. The shares are those of the model's
/// runs with the same picture (docs/methodology.md, "Classes").
double highest_confidence(const Judgement& judgement, const std::optional<DramUse>& dram) {
  constexpr double kPathNearlyFull = 0.45;  // dispatches that compute more often than they wait
  constexpr double kPathFull = 0.80;        // shaders with requests always under way fill it, too
  constexpr double kEither = 0.55;          // texture or memory
  constexpr double kFewRequests = 0.65;     // a single chase, or small groups that compute
  constexpr double kBytesBetween = 0.55;    // waiting for DRAM, or computing meanwhile
  constexpr double kBandwidthFree = 0.50;   // the same, and DRAM was not at its limit
  constexpr double kOutput = 0.65;
  constexpr double kHitsOnly = 0.69;  // texture units, or caches that are waited for
  constexpr double kShadersOfFrame = 0.89;
  constexpr double kRest = 0.80;  // mixed is what no rule fits; two limits in turn look so
  constexpr double kHalfOfMemory = 0.50;
  const Bottleneck bottleneck = judgement.decision.bottleneck;
  switch (judgement.decision.ground) {
    case Ground::kMemoryFull:
      if (bottleneck == Bottleneck::kBandwidth || (dram && dram->share < kFewRequestsShare)) {
        return 1;
      }
      if (nearly_full(judgement.stages)) {
        return kPathNearlyFull;
      }
      if (bottleneck == Bottleneck::kMemory) {
        return dram ? kBytesBetween : kPathFull;
      }
      return kBandwidthFree;
    case Ground::kFewRequests:
      return bottleneck == Bottleneck::kLatency ? 1 : kFewRequests;
    case Ground::kTextureOrMemory:
      return kEither;
    case Ground::kOutputNotMemory:
      return kOutput;
    case Ground::kStageFull:
      if (bottleneck == Bottleneck::kTexture) {
        const bool some_miss = judgement.stages.memory.value_or(1) >= kHalfOfMemory;
        return judgement.stages.no_pixels ? kHitsOnly : some_miss ? kRest : 1;
      }
      return bottleneck == Bottleneck::kCompute && !judgement.stages.no_pixels ? kShadersOfFrame
                                                                               : 1;
    case Ground::kNoneFull:
      return kRest;
    default:
      return 1;
  }
}

}  // namespace

Judgement judge(const Signature& signature, double awake, const std::optional<DramUse>& dram,
                std::optional<Bottleneck> before) {
  const BusyShares shares = shares_of(signature, awake);
  Judgement judgement;
  judgement.stages = find_stages(shares);
  judgement.decision = decide(judgement.stages, dram, before);
  std::array<double, kRoles> sd{};
  for (std::size_t role = 0; role < kRoles; ++role) {
    if (const auto& reading = signature.at(static_cast<Role>(role))) {
      sd[role] = std::hypot(reading->sd, model_sd(shares.busy[role]));
    }
  }
  std::array<std::size_t, static_cast<std::size_t>(Bottleneck::kUnknown) + 1> votes{};
  BusyShares moved = shares;
  for (const auto& move : fixed_moves()) {
    for (std::size_t role = 0; role < kRoles; ++role) {
      moved.busy[role] = std::clamp(shares.busy[role] + sd[role] * move[role], 0.0, 1.0);
    }
    std::optional<DramUse> moved_dram = dram;
    if (moved_dram) {
      moved_dram->share *= 1 + kCeilingError * move[kRoles];
    }
    ++votes[static_cast<std::size_t>(decide(find_stages(moved), moved_dram, before).bottleneck)];
  }
  std::size_t& own = votes[static_cast<std::size_t>(judgement.decision.bottleneck)];
  judgement.stability = static_cast<double>(own) / static_cast<double>(kDraws);
  own = 0;
  const auto next = std::max_element(votes.begin(), votes.end());
  constexpr std::size_t kWorthNaming = kDraws / 20;
  if (*next >= kWorthNaming) {
    judgement.runner_up = static_cast<Bottleneck>(next - votes.begin());
  }
  return judgement;
}

double limit_confidence(const Judgement& judgement, const Signature& signature,
                        const std::optional<DramUse>& dram, double unseen_share) {
  constexpr double kMemoryNotRead = 0.75;  // assumed: a limit behind the last unit stays unseen
  constexpr double kRasterNotRead = 0.85;  // assumed
  constexpr double kActiveNotRead = 0.80;  // assumed
  constexpr double kContradicted = 0.60;   // assumed
  constexpr double kHalfBelieved = 0.30;   // assumed: of impossible shares
  constexpr double kCannotTell = 0.49;
  const Bottleneck bottleneck = judgement.decision.bottleneck;
  double confidence =
      std::min(judgement.stability, highest_confidence(judgement, dram)) * (1 - unseen_share);
  const bool about_stages = bottleneck != Bottleneck::kIdle && bottleneck != Bottleneck::kCpu;
  if (about_stages) {
    confidence *= std::exp2(-judgement.stages.impossible / kHalfBelieved);
    if (!judgement.stages.memory && judgement.decision.ground != Ground::kTextureOrMemory) {
      confidence *= kMemoryNotRead;
    }
    if (!judgement.stages.raster) {
      confidence *= kRasterNotRead;
    }
    if (dram && !is_memory(bottleneck) && dram->share >= dram_limits(*dram).full) {
      confidence *= kContradicted;
    }
  }
  if (!signature.has(Role::kActive)) {
    confidence *= kActiveNotRead;
  }
  return bottleneck == Bottleneck::kUnknown ? std::min(confidence, kCannotTell) : confidence;
}

}  // namespace gputrace::analysis
