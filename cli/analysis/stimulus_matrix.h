// Which unit answers to what: busy bits of a bench's points against what each point asked of the
// GPU.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bottleneck.h"

namespace gputrace::analysis {

/// A point of a bench: its description, as its mark carries it (amounts are those of a thread), and
/// the units while it ran.
struct StimulatedPoint {
  std::string label;  ///< "latency.vector.1chain.64KiB"
  bool pixels = false;
  std::string access;  ///< "none", "stream", "chase", "atomic", ...
  std::string path;    ///< "vector", "scalar", "local", ...
  double flops = 0;
  double read_bytes = 0;
  double written_bytes = 0;
  double footprint_bytes = 0;
  double stride_bytes = 0;
  double local_bytes = 0;
  double code_bytes = 0;
  double fetches = 0;
  std::vector<BusyUnit> units;
};

/// Something that a point may ask for.
struct StimulusTerm {
  std::string name;        ///< "vector", "level 2", "memory", "writes"
  std::size_t points = 0;  ///< in which it is asked for
};

/// How busy a unit is, of the time that the GPU works, for each term that is asked for all the
/// time.
struct UnitResponse {
  UnitKey key;
  std::vector<double> response;        ///< 0 to 1, one a term
  std::vector<double> standard_error;  ///< of each
  double rms = 0;                      ///< of what the terms do not explain
  std::size_t points = 0;              ///< that know the unit
};

struct StimulusMatrix {
  std::size_t points = 0;
  std::vector<StimulusTerm> terms;
  std::vector<UnitResponse> units;  ///< those that were busy at all, the whole-GPU bit of each name
  /// Units that were equally busy in every point: no stimulus tells one from the others.
  std::vector<std::vector<UnitKey>> not_separated;
  std::vector<UnitKey> silent;  ///< no stimulus makes them busy
  /// Names of terms that always come together, of which the first stands in `terms`.
  std::vector<std::vector<std::string>> inseparable_terms;
};

/// Fits unit = response x stimulus with non-negative least squares (Lawson and Hanson 1974, by
/// coordinate descent). `level_bytes`: capacities of the caches, smallest first, as they were
/// inferred; what a footprint finds in each is its share of the footprint. Empty = 32 KiB and 2
/// MiB are assumed. Points without a busy GPU (GUI_ACTIVE below a tenth, or not known) are left
/// out. Empty without points.
[[nodiscard]] StimulusMatrix fit_stimulus_matrix(std::span<const StimulatedPoint> points,
                                                 std::span<const double> level_bytes);

}  // namespace gputrace::analysis
