// Phases of a recording: stretches with one limit. Scenes are the finer stretches between change
// points of which a phase is made.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/busy_grid.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

struct Scene {
  double start_s = 0;  ///< from the session's start
  double end_s = 0;
  Verdict verdict;
  std::vector<BusyUnit> units;  ///< in the order of the source
  double asleep_share = 0;      ///< of the samples
  double unknown_share = 0;
};

struct Phase {
  Scene whole;                ///< its verdict is about all of its time
  std::vector<Scene> scenes;  ///< at least one
};

/// What memory did in a stretch, seconds from the session's start; absent where nothing tells.
using WitnessOf = std::function<std::optional<MemoryWitness>(double start_s, double end_s)>;

/// In order of time, without gaps but those of the recording itself. `witness` may be empty; it is
/// asked for each scene and phase and for each second, so it should not read the file. Reads the
/// source once beside find_change_points, in chunks.
[[nodiscard]] Result<std::vector<Phase>> find_phases(const GridSource& source,
                                                     const WitnessOf& witness,
                                                     std::span<const KnownWorkload> known);

}  // namespace gputrace::analysis
