#include "cli/commands/report/report_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/calibration/load_calibration.h"
#include "cli/commands/report/machine_ceilings.h"

namespace gputrace::commands {
namespace {

/// Where a file would be named.
constexpr std::string_view kInSession = "the calibration in the session";

using analysis::Calibration;
using analysis::CalibrationFit;
using analysis::CalibrationUse;

constexpr std::size_t kDay = 10;

/// "2026-11-30": of RFC 3339.
std::string day_of(const std::string& rfc3339) {
  return rfc3339.size() < kDay ? "unknown date" : rfc3339.substr(0, kDay);
}

/// "2026-11-30 12:00 UTC"
std::string day_and_minute(const std::string& rfc3339) {
  constexpr std::size_t kMinute = 16;
  if (rfc3339.size() < kMinute) {
    return "unknown date";
  }
  return rfc3339.substr(0, kDay) + " " + rfc3339.substr(kDay + 1, kMinute - kDay - 1) + " UTC";
}

/// "calibration of 2026-11-30 12:00 UTC (radv, Mesa 24.2.8), FILE"
std::string source_of(std::string_view kind, const std::string& started_at,
                      const std::optional<std::string>& driver, const std::string& where) {
  return fmt::format("{} of {}{}, {}", kind, day_and_minute(started_at),
                     driver ? fmt::format(" ({})", *driver) : "", where);
}

std::string calibrate_hint(const analysis::Conditions& recording) {
  return recording.simulated
             ? "run `gputrace calibrate` with the same simulated GPU for --gpu, then "
               "this report again."
             : "run `gputrace calibrate` at the same power limit, then this report "
               "again.";
}

void use_ceilings(const std::optional<analysis::Ceiling>& compute,
                  const std::optional<analysis::Ceiling>& bandwidth, const CalibrationFit& fit,
                  MachineKnowledge& machine) {
  machine.compute = compute;
  machine.bandwidth = bandwidth;
  if (machine.compute && fit.use == CalibrationUse::kScaled && fit.ridge_ratio > 1) {
    // A bound that the recording's higher clock breaks would be none.
    machine.compute->value *= fit.ridge_ratio;
    if (machine.compute->upper) {
      *machine.compute->upper *= fit.ridge_ratio;
    }
  }
}

void use_calibration(Calibration calibration, const CalibrationFit& fit, const std::string& source,
                     MachineKnowledge& machine) {
  use_ceilings(calibration.compute, calibration.bandwidth, fit, machine);
  machine.model = analysis::PositionModel::make(calibration);
  machine.source = "calibration of " + day_of(calibration.started_at);
  report::MachineRoofline roofline;
  roofline.roofline = roofline_of(calibration.compute, calibration.bandwidth);
  roofline.source = source;
  roofline.simulated = calibration.conditions.simulated;
  roofline.fit = fit;
  roofline.scatter = machine.model ? machine.model->scatter() : 0;
  machine.roofline = std::move(roofline);
  if (fit.other_driver) {
    machine.warnings.push_back(
        {"calibration_driver",
         fmt::format("the Vulkan driver of this machine was {} when it recorded, not that of the "
                     "{}: positions are wider.",
                     *fit.other_driver, source),
         "run `gputrace calibrate` with the driver of today."});
  }
  for (analysis::CalibrationPoint& point : calibration.points) {
    if (!point.suspect && !point.units.empty()) {
      machine.known.push_back({std::move(point.workload), std::move(point.units)});
    }
  }
  if (fit.use == CalibrationUse::kScaled) {
    machine.warnings.push_back(
        {"calibration_scaled",
         fmt::format("the {} was made under other conditions: {}.", source, fit.why),
         "calibrate at the clock and power limit of the recording for "
         "narrower positions."});
  }
  if (!machine.model) {
    machine.warnings.push_back(
        {"calibration_flat",
         fmt::format("no unit of the {} moves with the arithmetic intensity: it gives ceilings, "
                     "and no positions.",
                     source),
         "run `gputrace calibrate` without --quick and with more registers (as root, or through "
         "gputraced)."});
  }
}

void warn_refused(const std::vector<RefusedCalibration>& refused, bool found,
                  const std::string& hint, MachineKnowledge& machine) {
  if (refused.empty()) {
    return;
  }
  std::string text = fmt::format("{} is not used: {}", refused.front().file.filename().string(),
                                 refused.front().why);
  if (refused.size() > 1) {
    text += fmt::format(" (and {} more)", refused.size() - 1);
  }
  machine.warnings.push_back(
      {"calibration_refused", text, found ? "an older one that fits is used instead." : hint});
}

/// The one that was asked for, whatever else there is.
Result<MachineKnowledge> asked_for(const std::filesystem::path& file,
                                   const analysis::Conditions& recording) {
  Result<Calibration> loaded = load_calibration(file);
  if (!loaded) {
    return tl::unexpected<Error>(loaded.error());
  }
  MachineKnowledge machine;
  const CalibrationFit fit = analysis::fit_of(*loaded, recording);
  if (fit.use == CalibrationUse::kRefused) {
    warn_refused({{file, fit.why}}, false, calibrate_hint(recording), machine);
    return machine;
  }
  const std::string source =
      source_of("calibration", loaded->started_at, loaded->conditions.driver, file.string());
  use_calibration(std::move(*loaded), fit, source, machine);
  return machine;
}

/// Of the machine's folder or of the session; whether there is one.
bool find_calibration(const store::SessionReader& session, const std::filesystem::path& folder,
                      const analysis::Conditions& recording, MachineKnowledge& machine) {
  CalibrationChoice choice = choose_calibration(folder, recording);
  Result<std::optional<Calibration>> summary = load_summary(session);
  if (!summary) {  // damaged, which says nothing against the samples
    choice.refused.push_back({std::string(kInSession), summary.error().message});
  }
  std::optional<Calibration> kept = summary ? std::move(*summary) : std::nullopt;
  std::optional<Calibration> found = std::move(choice.calibration);
  CalibrationFit fit = choice.fit;
  std::string source;
  if (found) {
    source = source_of("calibration", found->started_at, found->conditions.driver, found->file);
  } else if (kept) {
    fit = analysis::fit_of(*kept, recording);
    if (fit.use == CalibrationUse::kRefused) {
      choice.refused.push_back({std::string(kInSession), fit.why});
    } else {
      found = std::move(kept);
      source = source_of("calibration", found->started_at, found->conditions.driver,
                         "kept in the session");
    }
  }
  warn_refused(choice.refused, found.has_value(), calibrate_hint(recording), machine);
  if (found) {
    use_calibration(std::move(*found), fit, source, machine);
  }
  return found.has_value();
}

}  // namespace

Result<MachineKnowledge> machine_knowledge(const store::SessionReader& session,
                                           const analysis::Conditions& recording,
                                           const ReportOptions& options) {
  if (options.calibration) {
    return asked_for(*options.calibration, recording);
  }
  MachineKnowledge machine;
  if (find_calibration(session, options.machine_folder, recording, machine)) {
    return machine;
  }
  const std::string hint = calibrate_hint(recording);
  const std::optional<MeasuredCeilings> ceilings =
      newest_ceilings(options.machine_folder, recording);
  if (ceilings) {
    use_ceilings(ceilings->compute, ceilings->bandwidth, ceilings->fit, machine);
    const std::string_view kind = ceilings->from_bench ? "bench" : "roofline";
    machine.source = fmt::format("{} of {}", kind, day_of(ceilings->started_at));
    machine.roofline = report::MachineRoofline{
        .roofline = ceilings->roofline,
        .source = source_of(kind, ceilings->started_at, ceilings->driver, ceilings->file.string()),
        .simulated = ceilings->simulated,
        .fit = ceilings->fit,
        .scatter = 0};
    for (const std::string& warning : ceilings->roofline.warnings) {
      machine.warnings.push_back({"roof_too_low",
                                  fmt::format("in the {}: {}", machine.roofline->source, warning),
                                  fmt::format("measure again with `gputrace {}`.", kind)});
    }
  }
  machine.warnings.push_back(
      {"no_calibration",
       ceilings ? "no calibration fits this recording: positions on the roofline come from memory "
                  "traffic alone, where it was counted."
                : "no calibration and no roofline of this GPU fits this recording: phases have no "
                  "position on the roofline, and memory traffic nothing to be compared with.",
       hint});
  return machine;
}

std::optional<analysis::Position> position_of(
    const MachineKnowledge& machine, std::span<const analysis::BusyUnit> units,
    const std::optional<analysis::MemoryWitness>& witness) {
  std::optional<analysis::Position> by_curve;
  if (machine.model && machine.roofline) {
    by_curve = machine.model->place(units, machine.roofline->fit);
  }
  std::optional<analysis::Position> by_bytes;
  if (witness && witness->gbps) {
    by_bytes = analysis::place_by_bytes(*witness, machine.compute, machine.bandwidth);
  }
  return analysis::combine(by_curve, by_bytes);
}

}  // namespace gputrace::commands
