#include "cli/commands/report/phase_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/text_format.h"

namespace gputrace::commands {
namespace {

using report::Report;

/// Below this there is hardly room for a change between two stretches that can be judged.
constexpr double kShortS = 2;

/// Readings and roofs scatter by less.
constexpr double kAboveRoof = 1.05;

/// Units that decide about classes, and what is lost without them. Names of all generations and of
/// radeontop.
struct Deciding {
  std::vector<std::string_view> any_of;
  std::string_view lost;
};

const std::vector<Deciding>& deciding_units() {
  static const std::vector<Deciding> kUnits{
      {{"EA_BUSY", "GL2CC_BUSY", "MC_BUSY"}, "a limit by memory"},
      {{"TA_BUSY", "TCP_BUSY", "ta"}, "texture sampling"},
      {{"SC_BUSY", "sc"}, "pixel output"},
      {{"GE_BUSY", "VGT_BUSY", "PA_BUSY", "vgt", "pa"}, "triangles"},
      {{"GUI_ACTIVE", "gpu"}, "idle time"}};
  return kUnits;
}

bool was_seen(const Report& report, const std::vector<std::string_view>& names) {
  return std::ranges::any_of(report.units, [&names](const report::Unit& unit) {
    return std::ranges::find(names, unit.name) != names.end();
  });
}

bool exists(const regdb::RegisterMap& map, const std::vector<std::string_view>& names) {
  return std::ranges::any_of(map.registers, [&names](const regdb::Register& reg) {
    return std::ranges::any_of(
        names, [&reg](std::string_view name) { return reg.find_field(name) != nullptr; });
  });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

void warn_units(const regdb::RegisterMap& map, Report& report) {
  std::vector<std::string> lost;
  std::vector<std::string> missing;
  bool readable = false;
  for (const Deciding& unit : deciding_units()) {
    if (!was_seen(report, unit.any_of)) {
      lost.emplace_back(unit.lost);
      missing.emplace_back(unit.any_of.front());
      readable = readable || exists(map, unit.any_of);
    }
  }
  const std::string hint =
      report.session.imported
          ? "`gputrace record` reads all units that the GPU shows."
          : "record with all registers: through gputraced, or with `sudo gputrace record`.";
  if (!lost.empty()) {
    report.warnings.push_back(
        {"units_missing",
         fmt::format("without {} {} cannot be judged: phases have fewer classes and are less sure.",
                     joined(missing), joined(lost)),
         readable || report.session.imported ? hint : ""});
  } else if (!was_seen(report, {"GL2CC_BUSY"}) && exists(map, {"GL2CC_BUSY"})) {
    report.warnings.push_back(
        {"units_missing",
         "without GL2CC_BUSY (GRBM_STATUS3) a limit by memory is judged by EA_BUSY alone: phases "
         "are less sure.",
         hint});
  }
}

/// A sensor and a roof that disagree: one of them is wrong.
void warn_above_roof(Report& report) {
  if (!report.machine) {
    return;
  }
  double roof = 0;
  for (const analysis::Ceiling& ceiling : report.machine->roofline.bandwidth) {
    roof = std::max(roof, std::max(ceiling.value, ceiling.upper.value_or(0)));
  }
  double most = 0;
  for (const report::Phase& phase : report.phases) {
    most = std::max(most, phase.dram ? phase.dram->total_gbps.value_or(0) : 0);
  }
  if (roof > 0 && most > kAboveRoof * roof) {
    report.warnings.push_back(
        {"above_roof",
         fmt::format(
             "DRAM moved {:.0f} GB/s in a phase, more than the {:.0f} GB/s that the {} found: "
             "that, or what counts the bytes, is wrong.",
             most, roof, report.machine->source),
         "measure again with `gputrace roofline`, with nothing else running."});
  }
}

}  // namespace

void warn_phases(const GpuRecording& recording, const SessionGrid& grid, Report& report) {
  if (report.phases.empty()) {
    return;
  }
  if (!report.units.empty()) {  // else the warning no_samples says it
    warn_units(recording.map, report);
  }
  warn_above_roof(report);
  const double seconds = static_cast<double>(grid.source->cells()) * grid.source->cell_s();
  if (seconds < kShortS) {
    report.warnings.push_back(
        {"short",
         fmt::format("{} is little time: changes inside it are hardly found, and another second "
                     "may look different.",
                     report::format_duration(seconds)),
         report.selection ? "select a longer part." : "record for 10 s or longer."});
  }
  if (grid.from_means) {
    report.warnings.push_back(
        {"phases_from_percentages",
         fmt::format("phases are from percentages of {:.1f} s each{}: shorter ones are not seen, "
                     "and changes are known to a window.",
                     grid.source->cell_s(),
                     grid.stand_in_counts ? " of an unknown number of samples" : ""),
         "`gputrace record` samples 1,000 times a second."});
  }
}

}  // namespace gputrace::commands
