// Two recordings, or two sets of repeats, compared: differences with intervals and whether they are
// real.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/busy_grid.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

/// One recording's figure of one thing.
struct Figure {
  double value = 0;
  std::optional<Interval> interval = std::nullopt;  ///< 95 %, not limited to 0 to 1
};

struct ComparedUnit {
  UnitKey key;
  Figure busy;
};
struct ComparedQuantity {
  std::string name;  ///< "package_power", "frame_time_p99", "energy"
  std::string unit;
  Figure figure;
};

/// What of one recording is compared.
struct ComparedRun {
  std::string name;  ///< its file or label
  std::vector<ComparedUnit> units;
  std::vector<ComparedQuantity> quantities;
  std::map<Bottleneck, double> class_shares;  ///< of its time; empty = not known
};

enum class Reality { kReal, kWithinNoise, kCannotTell };

struct Difference {
  std::string name;           ///< the unit's field, or the quantity
  std::string register_name;  ///< empty for quantities
  std::string unit;           ///< "pp" for busy fractions, else the quantity's
  std::optional<double> a;
  std::optional<double> b;
  std::optional<double> difference;                 ///< B minus A, in `unit`
  std::optional<Interval> interval = std::nullopt;  ///< 95 %, of the difference
  std::optional<double> relative = std::nullopt;    ///< B over A, minus 1
  std::optional<Interval> relative_interval = std::nullopt;
  Reality reality = Reality::kCannotTell;
  std::string why;  ///< of kCannotTell
};

struct Comparison {
  std::vector<Difference> units;
  std::vector<Difference> quantities;
  std::vector<Difference> classes;  ///< shares of time, "pp"
  bool from_repeats = false;        ///< intervals come from the spread of repeats
};

/// Of one run each the intervals of the runs are used; of several, the spread of the repeats
/// (Welch 1947).
[[nodiscard]] Comparison compare(std::span<const ComparedRun> a, std::span<const ComparedRun> b);

/// 'EA_BUSY>+5pp', 'GRBM_STATUS_SE0.TA_BUSY<-3pp', 'package_power>+5%'.
struct FailCondition {
  std::string text;
  std::string register_name;  ///< empty = the whole-GPU register, or a quantity
  std::string name;
  bool above = true;
  double limit = 0;  ///< points or percent
  bool relative = false;
};
[[nodiscard]] Result<FailCondition> parse_fail_condition(std::string_view text);

struct FailVerdict {
  bool failed = false;      ///< the whole interval lies beyond the limit
  std::string explanation;  ///< with the numbers
};
/// kInvalidArgument: nothing of that name in both sets (names what there is).
[[nodiscard]] Result<FailVerdict> check(const FailCondition& condition,
                                        const Comparison& comparison);

}  // namespace gputrace::analysis
