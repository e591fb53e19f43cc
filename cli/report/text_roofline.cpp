#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/report/roofline_plot.h"
#include "cli/report/text_format.h"
#include "cli/report/wording.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kMostPositions = 8;

RooflinePlot plot_of(const Report& report, const MachineRoofline& machine) {
  RooflinePlot plot;
  plot.title = report.gpu.name;
  plot.simulated = machine.simulated;
  plot.roofline = machine.roofline;
  plot.roofline.points.clear();  // the workloads of the calibration; this is about phases
  if (plot.roofline.ridges.size() > 1) {
    plot.roofline.ridges.resize(1);
  }
  for (std::size_t i = 0; i < report.phases.size(); ++i) {
    const Phase& phase = report.phases[i];
    if (phase.position) {
      plot.phases.push_back({.number = i + 1,
                             .bottleneck = phase.bottleneck,
                             .seconds = phase.end_s - phase.start_s,
                             .position = *phase.position});
    }
  }
  return plot;
}

void append_positions(Page& page, const Report& report) {
  std::vector<std::string> notes;
  std::size_t placed = 0;
  for (const Phase& phase : report.phases) {
    placed += phase.position ? 1 : 0;
  }
  std::size_t shown = 0;
  for (const std::size_t index : longest_phases(report, kMostPositions)) {
    const Phase& phase = report.phases[index];
    if (!phase.position) {
      continue;
    }
    ++shown;
    const std::string start = fmt::format("  {:>3} ", index + 1);
    const std::vector<std::string> lines =
        wrap(position_text(*phase.position), page.text_width() - start.size() - 2, 0);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      page.line(i == 0 ? fmt::format("{}{} {}", start, page.letter(phase.bottleneck), lines[i])
                       : std::string(start.size() + 2, ' ') + lines[i]);
    }
    for (const std::string& note : phase.position->notes) {
      // What is said of the whole calibration follows below.
      const bool is_said = report.machine && note == report.machine->fit.why;
      if (!is_said && std::find(notes.begin(), notes.end(), note) == notes.end()) {
        notes.push_back(note);
      }
    }
  }
  if (shown < placed) {
    page.line(fmt::format("  {} of {} positions; --json has all", shown, placed), Ink::kDim);
  }
  for (const std::string& note : notes) {
    page.paragraph(fmt::format("  {}", page.words(note)), 4, Ink::kDim);
  }
}

}  // namespace

void append_roofline(Page& page, const Report& report, const TextOptions& options) {
  if (!report.machine ||
      (report.machine->roofline.compute.empty() && report.machine->roofline.bandwidth.empty())) {
    return;
  }
  const MachineRoofline& machine = *report.machine;
  page.line();
  page.append(render_roofline_text(plot_of(report, machine), options));
  append_positions(page, report);
  if (!machine.source.empty()) {
    page.paragraph(fmt::format("  from {}", page.words(machine.source)), 4, Ink::kDim);
  }
  if (!machine.fit.why.empty()) {
    page.paragraph(fmt::format("  {}", page.words(machine.fit.why)), 4, Ink::kDim);
  }
}

}  // namespace gputrace::report
