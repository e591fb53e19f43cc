// Two recordings, or two sets of repeats, compared: differences with intervals and whether they are
// real.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/busy_grid.h"

namespace gputrace::analysis {

/// One recording's figure of one thing. `interval` (95 %) says what a repeat would show.
struct Figure {
  double value = 0;
  std::optional<Interval> interval = std::nullopt;
};

struct ComparedUnit {
  UnitKey key;
  Figure busy;  ///< 0 to 1
};
struct ComparedQuantity {
  std::string name;    ///< "package_power", "frame_time", "package_energy"
  std::string source;  ///< tells quantities of one name apart
  std::string unit;
  Figure figure;
};

/// What of one recording is compared.
struct ComparedRun {
  std::vector<ComparedUnit> units;
  std::vector<ComparedQuantity> quantities;
  std::map<Bottleneck, double> class_shares;  ///< of its time; empty = not known
};

enum class Reality { kReal, kWithinNoise, kCannotTell };

/// `a` and `b` are means over the runs that have the figure. Busy fractions and shares are in
/// points (100 = always), quantities in their unit.
struct Difference {
  std::string name;           ///< the unit's field, the quantity, the class
  std::string register_name;  ///< of units; else empty
  std::string source;         ///< of quantities; else empty
  std::string unit;           ///< "pp" for busy fractions and shares of time
  std::optional<double> a = std::nullopt;
  std::optional<double> b = std::nullopt;
  std::optional<double> difference = std::nullopt;  ///< B minus A
  std::optional<Interval> interval = std::nullopt;  ///< 95 %, of the difference
  std::optional<double> relative = std::nullopt;    ///< B over A, minus 1; of positive figures
  std::optional<Interval> relative_interval = std::nullopt;
  Reality reality = Reality::kCannotTell;
  std::string why;  ///< of kCannotTell
};

struct Comparison {
  std::vector<Difference> units;
  std::vector<Difference> quantities;
  std::vector<Difference> classes;
  bool from_repeats = false;  ///< intervals come from the spread of repeats
};

/// Of one run each the intervals of the runs are put together (Newcombe 1998; Zou and Donner 2008),
/// of several the spread of the repeats is used (Welch 1947), never less than what the runs say of
/// themselves. Where one side has one run, its spread is taken to be that of the other. A
/// difference is real when 0 is outside at a family-wise error of 5 % (Holm 1979): of forty units
/// compared two would leave their 95 % intervals by chance alone.
[[nodiscard]] Comparison compare(std::span<const ComparedRun> a, std::span<const ComparedRun> b);

}  // namespace gputrace::analysis
