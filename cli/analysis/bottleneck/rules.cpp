#include "cli/analysis/bottleneck/rules.h"

#include <algorithm>

namespace gputrace::analysis {
namespace {

// Where a limit comes from: "published" is a table of busy bits of a Radeon 780M (low and high
// arithmetic intensity, a game at two power limits); "model" is the simulated 780M of this
// repository with other work group sizes, DRAM latencies and passes; "assumed" has no source.

/// Assumed: a GPU that works for less than this has nothing to do.
constexpr double kIdle = 0.05;
/// Model: frames whose speed follows DRAM have it at 0.84 and more. Bytes at the ceiling are proof
/// enough at less.
constexpr double kMemoryFullWithBytes = 0.70;
/// EA alone scatters more than three units of one path.
constexpr double kMemoryFullByEa = 0.80;
/// Model: fetches that hit in the first cache have TA at 1.00; a memory-bound game 0.84 (published
/// as well: without a unit behind it that is as far as one sees).
constexpr double kTextureFull = 0.85;
constexpr double kTextureFullAsLast = 0.78;
constexpr double kMemoryIdleForTexture = 0.70;
/// Model: fills have SC and CB at 1.00, a game CB at 0.73 (published: 0.75).
constexpr double kOutputFull = 0.80;
constexpr double kLeastColour = 0.65;
constexpr double kTextureIdleForOutput = 0.50;  // assumed
constexpr double kMemoryIdleForOutput = 0.80;
/// Model: triangle-bound work has PA at 1.00. Pixels that limit would fill SC.
constexpr double kGeometryFull = 0.75;
constexpr double kRasterStarved = 0.80;
/// Published: SPI at 1.00 with high intensity and 0.98 in a game. It says that waves run, no more.
constexpr double kShaderFull = 0.75;
/// Published: high intensity has TA at 0.64 and EA at 0.41; model: TA to 0.80 and EA to 0.75, by
/// the size of work groups. Passes of a frame are mixed: there less is believed.
constexpr double kMemoryIdleForKernel = 0.80;
constexpr double kTextureIdleForKernel = 0.90;
constexpr double kMemoryIdleForPixels = 0.65;
constexpr double kTextureIdleForPixels = 0.78;
constexpr double kRasterFull = 0.80;
/// Assumed: where pixels do not wait for shaders, all else must be clearly idle.
constexpr double kMemoryIdleAlone = 0.55;
constexpr double kTextureIdleAlone = 0.70;
/// Model: dispatches leave SC and CB at 0.
constexpr double kNoPixels = 0.25;
/// Model: a single pointer chase has TA at 1.00 and EA at 0.65, of the round trip that is DRAM.
constexpr double kChaseTexture = 0.90;
constexpr double kChaseMemory = 0.55;
/// Model: exports fill SX when writes are the limit (0.97 to 1.00), and not when shaders are.
constexpr double kExportIdle = 0.50;
constexpr double kReadsNothing = 0.20;
/// Assumed: active without any unit at half of it is no work of shaders.
constexpr double kSomethingWorks = 0.50;
/// How far a class that was there before may fall short of its limit.
constexpr double kHysteresis = 0.04;

/// Published: units whose requests are nested differ by up to 0.12 the wrong way (TCP 0.84, GL1
/// 0.94: other clients). More than this cannot be.
constexpr double kNestingSlack = 0.15;
constexpr double kImpossible = 0.50;  // assumed: three units off by a third of the scale
/// Assumed: a wave is gone once its colours are exported, and CB still has them, so that much of
/// what it does beyond SPI can be. (Requests that wait for an answer keep their wave.)
constexpr double kOutlivesWaves = 0.5;

class Ratios {
 public:
  Ratios(const BusyShares& shares, double active) : shares_(shares), active_(active) {}

  [[nodiscard]] std::optional<double> of(Role role) const {
    if (!shares_.has(role) || active_ <= 0) {
      return std::nullopt;
    }
    return std::min(1.0, shares_.at(role) / active_);
  }
  template <class... Roles>
  [[nodiscard]] std::optional<double> mean(Roles... roles) const {
    double sum = 0;
    int count = 0;
    for (const auto& value : {of(roles)...}) {
      sum += value.value_or(0);
      count += value ? 1 : 0;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }
  template <class... Roles>
  [[nodiscard]] std::optional<double> max(Roles... roles) const {
    std::optional<double> most;
    for (const auto& value : {of(roles)...}) {
      if (value) {
        most = std::max(most.value_or(0), *value);
      }
    }
    return most;
  }
  /// How much busier a unit is than the busiest of those that give it work, beyond the slack. 0
  /// where that is not known of each of them.
  template <class... Feeders>
  [[nodiscard]] double beyond(Role unit, Feeders... feeders) const {
    const auto busy = of(unit);
    double most = 0;
    for (const auto& value : {of(feeders)...}) {
      if (!value) {
        return 0;
      }
      most = std::max(most, *value);
    }
    return busy ? std::max(0.0, *busy - most - kNestingSlack) : 0;
  }

 private:
  const BusyShares& shares_;
  double active_;
};

/// GUI_ACTIVE is set whenever a unit is busy. The second busiest unit corrects one that is read too
/// low; the busiest one alone could be the one that is wrong.
double active_share(const BusyShares& shares) {
  double most = 0;
  double second = 0;
  for (std::size_t role = 0; role < kRoles; ++role) {
    if (!shares.known[role] || role == static_cast<std::size_t>(Role::kActive)) {
      continue;
    }
    second = std::max(second, std::min(most, shares.busy[role]));
    most = std::max(most, shares.busy[role]);
  }
  if (!shares.has(Role::kActive)) {
    return most;
  }
  constexpr double kNoise = 0.15;  // assumed: units may seem busy by so much that is no work
  const double active = shares.at(Role::kActive);
  return active < kIdle && second < kNoise ? active : std::max(active, second);
}

/// EA is the deepest. L2 and GL1 hold requests for as long, and steady its reading; but full caches
/// in front of idle DRAM are hits.
std::optional<double> memory_stage(const Ratios& ratios) {
  constexpr double kCachesMayAdd = 0.15;  // published: of a game 1 to 4 points, with the error
  auto memory = ratios.mean(Role::kMemory, Role::kL2, Role::kArrayCache);
  if (const auto ea = ratios.of(Role::kMemory)) {
    return std::min(memory.value_or(*ea), *ea + kCachesMayAdd);
  }
  return ratios.of(Role::kL2);
}

std::optional<double> output_stage(const Ratios& ratios) {
  const auto raster = ratios.of(Role::kRaster);
  const auto colour = ratios.of(Role::kColour);
  const auto depth = ratios.of(Role::kDepth);
  if (!raster || (!colour && !depth)) {
    return std::nullopt;
  }
  // Depth without colour is a pass of shadows. With colour DB says nothing: each quad that waits
  // for its shader stands there.
  if (depth && (!colour || *colour < kNoPixels)) {
    return std::min(*raster, *depth);
  }
  return *colour < kLeastColour ? std::min(*raster, *colour) : (*raster + *colour) / 2;
}

double impossible_amount(const Ratios& ratios) {
  return ratios.beyond(Role::kMemory, Role::kL2) +
         ratios.beyond(Role::kL2, Role::kArrayCache, Role::kGeometry) +
         ratios.beyond(Role::kMemory, Role::kTexture, Role::kColour, Role::kDepth,
                       Role::kGeometry) +
         ratios.beyond(Role::kArrayCache, Role::kVectorCache, Role::kColour, Role::kDepth) +
         ratios.beyond(Role::kVectorCache, Role::kTexture) +
         ratios.beyond(Role::kTexture, Role::kVectorCache) +
         ratios.beyond(Role::kTexture, Role::kShader) +
         ratios.beyond(Role::kColour, Role::kRaster) +
         kOutlivesWaves * ratios.beyond(Role::kColour, Role::kShader) +
         ratios.beyond(Role::kDepth, Role::kRaster);
}

bool below(const std::optional<double>& share, double limit) {
  return !share || *share < limit;
}
bool at_least(const std::optional<double>& share, double limit) {
  return share && *share >= limit;
}

bool is_memory(Bottleneck bottleneck) {
  return bottleneck == Bottleneck::kMemory || bottleneck == Bottleneck::kBandwidth ||
         bottleneck == Bottleneck::kLatency;
}

class Rules {
 public:
  Rules(const Stages& stages, const std::optional<DramUse>& dram, std::optional<Bottleneck> before)
      : s_(stages), dram_(dram), before_(before) {}

  [[nodiscard]] Decision decide() const {
    if (s_.active < kIdle) {
      return {Bottleneck::kIdle, Ground::kNothingToDo};
    }
    const double busy_gpu = kBusyGpu + (before_ == Bottleneck::kCpu ? kHysteresis : 0);
    if (s_.active < busy_gpu) {
      return s_.active_known ? Decision{Bottleneck::kCpu, Ground::kWaitsForCpu}
                             : Decision{Bottleneck::kUnknown, Ground::kNoActive};
    }
    if (s_.impossible > kImpossible) {
      return {Bottleneck::kUnknown, Ground::kImpossible};
    }
    if (at_least(s_.memory, memory_full())) {
      return behind_memory();
    }
    return stage_before_memory();
  }

 private:
  [[nodiscard]] double kept(Bottleneck bottleneck, double limit) const {
    return before_ == bottleneck ? limit - kHysteresis : limit;
  }

  [[nodiscard]] double memory_full() const {
    if (bandwidth_full()) {
      return kMemoryFullWithBytes;
    }
    const double limit = s_.memory_by_ea ? kMemoryFullByEa : kMemoryFull;
    return before_ && is_memory(*before_) ? limit - kHysteresis : limit;
  }

  [[nodiscard]] bool output_full() const {
    return at_least(s_.pixel_output, kept(Bottleneck::kRaster, kOutputFull));
  }

  /// Memory is full. Bytes tell whether bandwidth is why; but nobody waits for writes, so when
  /// nothing is read and bandwidth is free, those who write are the limit.
  [[nodiscard]] Decision behind_memory() const {
    if (shaders_hold_back_output() && !bandwidth_full()) {
      return {Bottleneck::kCompute, Ground::kOutputNotMemory};
    }
    if (!dram_) {
      return {Bottleneck::kMemory, Ground::kMemoryFull};
    }
    if (bandwidth_full()) {
      return {Bottleneck::kBandwidth, Ground::kMemoryFull};
    }
    if (writes_only() && output_full()) {
      return {Bottleneck::kRaster, Ground::kOutputNotMemory};
    }
    if (!bandwidth_free()) {
      return {Bottleneck::kMemory, Ground::kMemoryFull};
    }
    return {Bottleneck::kLatency, Ground::kMemoryFull};
  }

  [[nodiscard]] bool writes_only() const {
    return at_least(s_.raster, kRasterFull) && s_.texture && *s_.texture < kReadsNothing &&
           at_least(s_.shader, kShaderFull);
  }
  [[nodiscard]] bool shaders_hold_back_output() const {
    return writes_only() && s_.export_bus && *s_.export_bus < kExportIdle;
  }

  [[nodiscard]] bool bandwidth_full() const {
    if (!dram_) {
      return false;
    }
    constexpr double kShareHysteresis = 0.03;
    // Published: DRAM takes 83 GB/s of writes alone where a copy moves 73.
    const double more = writes_only() && !dram_->of_theoretical ? 83.0 / 73 : 1;
    return dram_->share >= dram_limits(*dram_).full * more -
                               (before_ == Bottleneck::kBandwidth ? kShareHysteresis : 0);
  }
  [[nodiscard]] bool bandwidth_free() const {
    constexpr double kShareHysteresis = 0.03;
    return dram_ && dram_->share <= dram_limits(*dram_).free +
                                        (before_ == Bottleneck::kLatency ? kShareHysteresis : 0);
  }

  [[nodiscard]] Decision stage_before_memory() const {
    if (s_.no_pixels && at_least(s_.texture, kChaseTexture) && at_least(s_.memory, kChaseMemory)) {
      if (!dram_) {
        return {Bottleneck::kMemory, Ground::kFewRequests};
      }
      return dram_->share < kFewRequestsShare ? Decision{Bottleneck::kLatency, Ground::kFewRequests}
                                              : Decision{Bottleneck::kMixed, Ground::kNoneFull};
    }
    if (at_least(s_.geometry, kept(Bottleneck::kGeometry, kGeometryFull)) && s_.raster &&
        *s_.raster < kRasterStarved) {
      return {Bottleneck::kGeometry, Ground::kStageFull};
    }
    if (output_full() && below(s_.texture, kTextureIdleForOutput) &&
        below(s_.memory, kMemoryIdleForOutput)) {
      return {shaders_hold_back_output() ? Bottleneck::kCompute : Bottleneck::kRaster,
              Ground::kStageFull};
    }
    if (!s_.memory && at_least(s_.texture, kTextureFullAsLast)) {
      return {Bottleneck::kMemory, Ground::kTextureOrMemory};
    }
    if (at_least(s_.texture, kept(Bottleneck::kTexture, kTextureFull)) &&
        below(s_.memory, kMemoryIdleForTexture)) {
      return {Bottleneck::kTexture, Ground::kStageFull};
    }
    if (shaders_decide()) {
      return {Bottleneck::kCompute, Ground::kStageFull};
    }
    return s_.busiest >= kSomethingWorks ? Decision{Bottleneck::kMixed, Ground::kNoneFull}
                                         : Decision{Bottleneck::kUnknown, Ground::kNothingWorks};
  }

  [[nodiscard]] bool shaders_decide() const {
    const double easier = before_ == Bottleneck::kCompute ? kHysteresis : 0;
    if (!at_least(s_.shader, kShaderFull - easier) || at_least(s_.geometry, kGeometryFull)) {
      return false;
    }
    if (s_.no_pixels) {
      return below(s_.memory, kMemoryIdleForKernel + easier) &&
             below(s_.texture, kTextureIdleForKernel + easier);
    }
    const bool pixels_wait = !s_.raster || at_least(s_.quads_wait, kRasterFull - easier);
    return below(s_.memory, (pixels_wait ? kMemoryIdleForPixels : kMemoryIdleAlone) + easier) &&
           below(s_.texture, (pixels_wait ? kTextureIdleForPixels : kTextureIdleAlone) + easier);
  }

  const Stages& s_;
  const std::optional<DramUse>& dram_;
  std::optional<Bottleneck> before_;
};

}  // namespace

BusyShares shares_of(const Signature& signature, double awake) {
  BusyShares shares;
  shares.awake = awake;
  for (std::size_t role = 0; role < kRoles; ++role) {
    if (const auto& reading = signature.at(static_cast<Role>(role))) {
      shares.known[role] = true;
      shares.busy[role] = reading->busy;
    }
  }
  return shares;
}

Stages find_stages(const BusyShares& shares) {
  const double active = active_share(shares);
  const Ratios ratios(shares, active);
  Stages stages;
  stages.active = active * shares.awake;
  stages.active_known = shares.has(Role::kActive);
  stages.memory = memory_stage(ratios);
  stages.texture = ratios.mean(Role::kTexture, Role::kVectorCache);
  stages.pixel_output = output_stage(ratios);
  stages.memory_by_ea = !shares.has(Role::kL2) && !shares.has(Role::kArrayCache);
  stages.raster = ratios.of(Role::kRaster);
  stages.quads_wait = ratios.mean(Role::kRaster, Role::kDepth);
  stages.shader = ratios.of(Role::kShader);
  stages.geometry = ratios.max(Role::kGeometry, Role::kPrimitives);
  stages.export_bus = ratios.of(Role::kExport);
  const auto busiest =
      ratios.max(Role::kGeometry, Role::kPrimitives, Role::kRaster, Role::kDepth, Role::kShader,
                 Role::kColour, Role::kTexture, Role::kVectorCache, Role::kL2, Role::kMemory);
  stages.busiest = busiest.value_or(0);
  const auto pixels = ratios.max(Role::kRaster, Role::kColour);
  stages.no_pixels = ratios.of(Role::kRaster).has_value() && pixels && *pixels < kNoPixels;
  stages.impossible = impossible_amount(ratios);
  return stages;
}

Decision decide(const Stages& stages, const std::optional<DramUse>& dram,
                std::optional<Bottleneck> before) {
  return Rules(stages, dram, before).decide();
}

}  // namespace gputrace::analysis
