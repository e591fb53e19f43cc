// Two sets of recordings compared, as plain data: what the renderers print.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/comparison.h"
#include "cli/analysis/fail_condition.h"
#include "cli/report/report.h"

namespace gputrace::report {

struct ComparedSession {
  std::string file;
  std::optional<std::string> label;
  std::optional<std::string> started_at;  ///< RFC 3339, UTC
  std::optional<double> duration_s;       ///< of what is compared
  Gpu gpu;
};

struct ComparisonReport {
  std::vector<ComparedSession> a;
  std::vector<ComparedSession> b;
  analysis::Comparison comparison;
  std::vector<analysis::FailVerdict> conditions;  ///< in the order of --fail-on
  std::vector<Warning> warnings;
};

/// What a person asks for first.
inline constexpr std::array<std::string_view, 8> kFirstQuantities{
    "frame_time",   "package_power", "package_energy", "energy_per_frame",
    "dram_traffic", "gfx_clock",     "mem_clock",      "edge_temperature"};

/// A unit of one shader engine: GRBM_STATUS_SEn.
[[nodiscard]] inline bool is_of_engine(const analysis::Difference& row) {
  return row.register_name.find("_SE") != std::string::npos;
}

/// The verdict in sentences, the most important first: whether the limit moved, which units differ
/// for real, what power, clock and frames did.
[[nodiscard]] std::vector<std::string> comparison_words(const ComparisonReport& report);

}  // namespace gputrace::report
