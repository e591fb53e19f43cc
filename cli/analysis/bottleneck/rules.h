// From the busy shares of a stretch to its limit. Work that cannot go on fills every stage before
// it, so the deepest full stage decides: DRAM, then textures and caches, pixel output, shaders,
// geometry, and the CPU when the GPU has nothing to do.
#pragma once

#include <array>
#include <optional>

#include "cli/analysis/bottleneck/dram_use.h"
#include "cli/analysis/bottleneck/units.h"

namespace gputrace::analysis {

/// Shares of the time that was sampled, by role.
struct BusyShares {
  std::array<double, kRoles> busy{};
  std::array<bool, kRoles> known{};
  double awake = 1;  ///< share of the time in which the GPU did not sleep

  [[nodiscard]] bool has(Role role) const { return known[static_cast<std::size_t>(role)]; }
  [[nodiscard]] double at(Role role) const { return busy[static_cast<std::size_t>(role)]; }
};
[[nodiscard]] BusyShares shares_of(const Signature& signature, double awake);

/// Shares of the time in which the GPU worked; absent where the units are.
struct Stages {
  double active = 0;  ///< of all time
  bool active_known = false;
  std::optional<double> memory;
  bool memory_by_ea = false;  ///< no cache behind TCP was read
  std::optional<double> texture;
  std::optional<double> pixel_output;
  std::optional<double> raster;
  std::optional<double> quads_wait;  ///< SC and DB: pixels stand before the shaders
  std::optional<double> shader;
  std::optional<double> geometry;
  std::optional<double> export_bus;
  double busiest = 0;
  bool no_pixels = false;  ///< nothing was rasterised: dispatches only
  /// By how much units are busier than all that could give them work, summed up: such work is
  /// impossible.
  double impossible = 0;
};
[[nodiscard]] Stages find_stages(const BusyShares& shares);

/// Which rule spoke.
enum class Ground {
  kNothingToDo,
  kWaitsForCpu,
  kNoActive,      ///< GUI_ACTIVE was not read, and no unit is full
  kImpossible,    ///< units without feeders
  kNothingWorks,  ///< active, and no unit is busy
  kMemoryFull,
  kFewRequests,      ///< requests one after another: the path is full, DRAM is not
  kTextureOrMemory,  ///< no unit behind the texture path was read
  kOutputNotMemory,  ///< memory full of writes, which nobody waits for
  kStageFull,
  kNoneFull,
};

struct Decision {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  Ground ground = Ground::kNoActive;
};

/// `before`: the class of the stretch before keeps its place while a share wanders about its limit.
[[nodiscard]] Decision decide(const Stages& stages, const std::optional<DramUse>& dram,
                              std::optional<Bottleneck> before);

/// Below this share so few requests are under way that only waiting keeps memory busy.
inline constexpr double kFewRequestsShare = 0.05;
/// Published: memory-bound kernels are at 1.00 and a game at 0.94 (54 W) and 0.92 (25 W), high
/// intensity at 0.41. Less a tenth, since other GPUs differ.
inline constexpr double kMemoryFull = 0.82;
/// Published: kernels at 0.95 to 0.99 and a game at 0.97; the model's frames that wait for the CPU
/// are at 0.24 to 0.71. Below this the GPU waits for the CPU.
inline constexpr double kBusyGpu = 0.75;

}  // namespace gputrace::analysis
