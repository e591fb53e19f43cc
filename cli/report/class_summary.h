// All phases of one class put together: time, means of units, memory traffic, and whether power was
// at its limit meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/report.h"

namespace gputrace::report {

/// A unit over a summary's time, weighted by valid time. The interval is that of independent
/// phases; absent where a phase has none.
struct UnitMean {
  std::string name;
  double busy = 0;
  std::optional<analysis::Interval> ci95;
};

struct ClassSummary {
  analysis::Bottleneck bottleneck = analysis::Bottleneck::kUnknown;
  double seconds = 0;
  double confidence = 0;              ///< mean, by time
  std::vector<const Phase*> phases;   ///< longest first, never empty
  std::vector<UnitMean> units;        ///< of the whole GPU, seen in all of its phases
  std::optional<double> gbps;         ///< of DRAM; absent unless all but 5 % of the time has it
  std::optional<double> power_w;      ///< of the package, mean
  std::optional<double> max_power_w;  ///< of single readings
};

/// Most time first, and of equal ones in the order of kAllClasses. They point into `phases`.
[[nodiscard]] std::vector<ClassSummary> summarize_classes(std::span<const Phase> phases);

/// The first that is there of names without "_BUSY": {"GE", "VGT"}. Capitals or not, since
/// radeontop writes "vgt".
[[nodiscard]] const UnitMean* find_mean(const ClassSummary& summary,
                                        std::span<const std::string_view> names);
/// The same for one phase.
[[nodiscard]] const Unit* find_unit(const Phase& phase, std::span<const std::string_view> names);

/// The measured roof that DRAM traffic is compared with; null when nothing measured fits.
[[nodiscard]] const analysis::Ceiling* memory_roof(const Report& report);

/// What holds the GPU back from outside the pipe.
enum class PowerLimit { kNotKnown, kAtLimit, kBelowLimit };
struct PowerFacts {
  PowerLimit limit = PowerLimit::kNotKnown;
  std::optional<double> power_w;  ///< the largest reading of kBelowLimit, the mean of kAtLimit
  std::optional<double> cap_w;
};
/// kBelowLimit needs a cap that no reading of these phases came near, and no throttling with
/// evidence in the whole recording; kAtLimit a mean at the cap.
[[nodiscard]] PowerFacts power_facts(const ClassSummary& summary, const Report& report);

}  // namespace gputrace::report
