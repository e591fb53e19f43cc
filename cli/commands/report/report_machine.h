// What is known of the machine that a recording was made on: its ceilings, and a calibration that
// speaks of the recording.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/calibration.h"
#include "cli/analysis/position.h"
#include "cli/commands/report/report_builder.h"
#include "cli/report/report.h"

namespace gputrace::commands {

struct MachineKnowledge {
  std::optional<report::MachineRoofline> roofline;  ///< absent when nothing was measured
  std::string source;                               ///< without the file: "roofline of 2026-11-30"
  std::optional<analysis::PositionModel> model;     ///< absent without a calibration that fits
  std::optional<analysis::Ceiling> compute;         ///< fp32, at the recording's clock
  std::optional<analysis::Ceiling> bandwidth;       ///< DRAM
  std::vector<analysis::KnownWorkload> known;       ///< of the calibration
  std::vector<report::Warning> warnings;
};

/// options.calibration, else the newest calibration of options.machine_folder that fits, else what
/// the session itself brought, else the ceilings of the newest roofline there. An error only when
/// the calibration that was asked for cannot be read.
[[nodiscard]] Result<MachineKnowledge> machine_knowledge(const store::SessionReader& session,
                                                         const analysis::Conditions& recording,
                                                         const ReportOptions& options);

/// Absent when neither the calibration nor memory traffic says anything.
[[nodiscard]] std::optional<analysis::Position> position_of(
    const MachineKnowledge& machine, std::span<const analysis::BusyUnit> units,
    const std::optional<analysis::MemoryWitness>& witness);

}  // namespace gputrace::commands
