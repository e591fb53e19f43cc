#include "cli/commands/report/report_phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/analysis/phase.h"
#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/report/memory_witness.h"
#include "cli/commands/report/phase_warnings.h"
#include "cli/commands/report/report_energy.h"
#include "cli/commands/report/report_machine.h"
#include "cli/commands/report/report_timeline.h"
#include "cli/commands/report/stretch_sensors.h"

namespace gputrace::commands {
namespace {

using analysis::BusyUnit;
using analysis::TimeRange;

/// Makes the report's phases from those of the analysis.
class PhaseWriter {
 public:
  PhaseWriter(const GpuRecording& recording, const SessionGrid& grid, const MemoryTrack& memory,
              const MachineKnowledge& machine, const report::Report& report)
      : recording_(&recording), grid_(&grid), memory_(&memory), machine_(&machine) {
    start_s_ = seconds(recording.timeline.start_ns);
    end_s_ = seconds(recording.timeline.end_ns);
    for (const report::Unit& unit : report.units) {
      units_[{unit.register_name, unit.name}] = &unit;
    }
  }

  [[nodiscard]] report::Phase phase_of(const analysis::Scene& scene) const {
    report::Phase phase;
    // A cell may begin before what is shown.
    phase.start_s = std::clamp(scene.start_s, start_s_, end_s_);
    phase.end_s = std::clamp(scene.end_s, phase.start_s, end_s_);
    phase.bottleneck = scene.verdict.bottleneck;
    phase.confidence = scene.verdict.confidence;
    phase.evidence = scene.verdict.evidence;
    phase.would_change = scene.verdict.would_change;
    phase.nearest = scene.verdict.nearest;
    phase.unknown_share = scene.unknown_share;
    phase.asleep_share = scene.asleep_share;
    for (const BusyUnit& unit : scene.units) {
      if (!unit.counts || unit.counts->samples > 0) {
        phase.units.push_back(unit_of(unit));
      }
    }
    if (has_position(scene)) {
      phase.position = position_of(*machine_, scene.units, memory_->at(phase.start_s, phase.end_s));
    }
    return phase;
  }

  [[nodiscard]] TimeRange range_of(const report::Phase& phase) const {
    const auto time_ns = [this](double at_s) {
      return recording_->session_start_ns + static_cast<std::int64_t>(at_s * 1e9);
    };
    return {time_ns(phase.start_s), time_ns(phase.end_s)};
  }

 private:
  [[nodiscard]] double seconds(std::int64_t time_ns) const {
    return static_cast<double>(time_ns - recording_->session_start_ns) / 1e9;
  }

  /// A GPU that waits for its host, or was not seen, sits nowhere.
  [[nodiscard]] static bool has_position(const analysis::Scene& scene) {
    return scene.verdict.bottleneck != analysis::Bottleneck::kIdle &&
           scene.verdict.bottleneck != analysis::Bottleneck::kCpu &&
           scene.unknown_share + scene.asleep_share < 0.5;
  }

  [[nodiscard]] report::Unit unit_of(const BusyUnit& unit) const {
    report::Unit out;
    out.name = unit.key.name;
    out.register_name = unit.key.register_name;
    out.engine = shader_engine_of(out.register_name);
    if (const auto it = units_.find({out.register_name, out.name}); it != units_.end()) {
      out.group = it->second->group;
    }
    out.busy = unit.busy;
    if (unit.counts && !grid_->stand_in_counts) {
      out.samples = unit.counts->samples;
    }
    if (unit.counts && !grid_->from_means) {
      out.ci95 = unit.ci95;
      out.ci95_run = analysis::ci95_run(*unit.counts);
    }
    return out;
  }

  const GpuRecording* recording_;
  const SessionGrid* grid_;
  const MemoryTrack* memory_;
  const MachineKnowledge* machine_;
  double start_s_ = 0;
  double end_s_ = 0;
  std::map<std::pair<std::string, std::string>, const report::Unit*> units_;
};

Status add_sensors(const SensorSet& set, const PhaseWriter& writer,
                   const std::vector<report::Phase*>& phases) {
  std::vector<TimeRange> ranges;
  ranges.reserve(phases.size());
  for (const report::Phase* phase : phases) {
    ranges.push_back(writer.range_of(*phase));
  }
  Result<std::vector<std::vector<report::Sensor>>> sensors = sensors_of_stretches(set, ranges);
  if (!sensors) {
    return tl::unexpected<Error>(sensors.error());
  }
  for (std::size_t i = 0; i < phases.size(); ++i) {
    phases[i]->sensors = std::move((*sensors)[i]);
    phases[i]->dram = dram_traffic_of(phases[i]->sensors);
  }
  return {};
}

/// Sensors of all phases in one pass, of all scenes in another.
Status add_all_sensors(const SensorSet& set, const PhaseWriter& writer,
                       std::vector<report::Phase>& phases) {
  std::vector<report::Phase*> whole;
  std::vector<report::Phase*> scenes;
  for (report::Phase& phase : phases) {
    whole.push_back(&phase);
    for (report::Phase& scene : phase.scenes) {
      scenes.push_back(&scene);
    }
  }
  if (Status added = add_sensors(set, writer, whole); !added) {
    return added;
  }
  return scenes.empty() ? Status{} : add_sensors(set, writer, scenes);
}

constexpr std::size_t kChunkCells = 36'000;

/// On what the recording was made, from the cells of the grid.
Result<analysis::Conditions> conditions_by(const GpuRecording& recording, const SessionGrid& grid) {
  if (grid.load) {
    return conditions_of(*recording.session, *grid.load);
  }
  const analysis::GridSource& source = *grid.source;
  const auto pipe = std::ranges::find(source.units(), "GUI_ACTIVE", &analysis::UnitKey::name);
  if (grid.from_means || pipe == source.units().end()) {
    return conditions_of(*recording.session);
  }
  const auto unit = static_cast<std::size_t>(pipe - source.units().begin());
  LoadCells load;
  load.first_ns =
      recording.session_start_ns + static_cast<std::int64_t>(std::llround(source.start_s() * 1e9));
  for (std::size_t first = 0; first < source.cells(); first += kChunkCells) {
    const auto cells = source.read(first, std::min(kChunkCells, source.cells() - first));
    if (!cells) {
      return tl::unexpected<Error>(cells.error());
    }
    for (const analysis::Cell& cell : cells->units[unit].cells) {
      load.loaded.push_back(cell.samples > 0 && cell.busy >= kLoadedShare * cell.samples);
    }
  }
  return conditions_of(*recording.session, load);
}

MemoryTrack::Ceilings dram_ceilings(const MachineKnowledge& machine) {
  MemoryTrack::Ceilings ceilings{.copy_gbps = machine.bandwidth ? machine.bandwidth->value : 0,
                                 .source = machine.source};
  if (machine.roofline) {
    for (const analysis::Ceiling& ceiling : machine.roofline->roofline.bandwidth) {
      if (ceiling.name == "DRAM read") {
        ceilings.read_gbps = ceiling.value;
      } else if (ceiling.name == "DRAM write") {
        ceilings.write_gbps = ceiling.value;
      }
    }
  }
  return ceilings;
}

Result<std::vector<analysis::Phase>> search(const SessionGrid& grid, const MemoryTrack& memory,
                                            const MachineKnowledge& machine) {
  return analysis::find_phases(
      *grid.source, [&memory](double start_s, double end_s) { return memory.at(start_s, end_s); },
      machine.known);
}

/// Of a recording that has a grid.
Status add_phases_of(const GpuRecording& recording, const SessionGrid& grid,
                     const SensorSet& sensors, const ReportOptions& options,
                     report::Report& report) {
  Result<MemoryTrack> memory = MemoryTrack::load(sensors, recording.session_start_ns);
  if (!memory) {
    return tl::unexpected<Error>(memory.error());
  }
  const Result<analysis::Conditions> conditions = conditions_by(recording, grid);
  if (!conditions) {
    return tl::unexpected<Error>(conditions.error());
  }
  Result<MachineKnowledge> machine = machine_knowledge(*recording.session, *conditions, options);
  if (!machine) {
    return tl::unexpected<Error>(machine.error());
  }
  if (machine->bandwidth) {
    memory->set_ceilings(dram_ceilings(*machine));
  }
  Result<std::vector<analysis::Phase>> found = search(grid, *memory, *machine);
  if (!found) {
    return tl::unexpected<Error>(found.error());
  }
  const PhaseWriter writer(recording, grid, *memory, *machine, report);
  for (analysis::Phase& phase : *found) {
    report.phases.push_back(writer.phase_of(phase.whole));
    for (std::size_t i = 0; options.scenes && i < phase.scenes.size(); ++i) {
      report.phases.back().scenes.push_back(writer.phase_of(phase.scenes[i]));
    }
    phase = {};  // a day has so many that both forms of them are a third of its memory
  }
  if (Status added = add_all_sensors(sensors, writer, report.phases); !added) {
    return added;
  }
  if (!report.phases.empty()) {
    report.machine = std::move(machine->roofline);
    std::ranges::move(machine->warnings, std::back_inserter(report.warnings));
  }
  warn_phases(recording, grid, report);
  if (options.timeline) {
    Result<report::Timeline> timeline = timeline_of(*grid.source, sensors, *memory, report);
    if (!timeline) {
      return tl::unexpected<Error>(timeline.error());
    }
    report.timeline = std::move(*timeline);
  }
  return {};
}

}  // namespace

Status add_phases(const GpuRecording& recording, const SensorSet& sensors,
                  const ReportOptions& options, report::Report& report) {
  if (report.units.empty() && report.sampling.samples.value_or(0) == 0) {
    return {};
  }
  const auto grid = make_session_grid(recording);
  if (!grid && grid.error().code == ErrorCode::kUnsupported) {
    report.warnings.push_back({"no_phases",
                               fmt::format("there are no phases: {}.", grid.error().message),
                               "select a part with --from and --to."});
    return {};
  }
  if (!grid) {
    return tl::unexpected<Error>(grid.error());
  }
  const std::optional<SessionGrid>& made = *grid;
  return made ? add_phases_of(recording, *made, sensors, options, report) : Status{};
}

}  // namespace gputrace::commands
