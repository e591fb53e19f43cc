#include "cli/commands/calibration/stimulated_points.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cli/commands/calibration/busy_units.h"
#include "cli/commands/calibration/workload_marks.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

namespace {

/// Capacities that the chase through vector loads found, smallest first.
std::vector<double> levels_of(const analysis::BenchRun& run) {
  std::vector<double> levels;
  const auto latency = std::ranges::find(run.tests, "latency.vector", &analysis::TestResult::id);
  if (latency == run.tests.end()) {
    return levels;
  }
  for (const analysis::DerivedValue& value : latency->derived) {
    if (value.what.starts_with("level.") && value.what.ends_with(".size")) {
      levels.push_back(value.value);
    }
  }
  std::ranges::sort(levels);
  return levels;
}

}  // namespace

Result<std::vector<analysis::StimulatedPoint>> stimulated_points(
    const store::SessionReader& session) {
  const Result<std::vector<store::Event>> events = session.events();
  if (!events) {
    return tl::unexpected<Error>(events.error());
  }
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  std::vector<analysis::StimulatedPoint> points;
  for (WorkloadMark& mark : workload_marks(*events)) {
    // A stimulus speaks of the device's memory; what these read and write is the host's.
    if (mark.stimulus.label.starts_with("host.")) {
      continue;
    }
    Result<std::vector<analysis::BusyUnit>> units =
        busy_units_at(session, regdb, {mark.begin_ns, mark.end_ns});
    if (!units) {
      return tl::unexpected<Error>(units.error());
    }
    if (!units->empty()) {
      mark.stimulus.units = std::move(*units);
      points.push_back(std::move(mark.stimulus));
    }
  }
  return points;
}

Result<analysis::StimulusMatrix> stimulus_matrix_of(const store::SessionReader& session,
                                                    const analysis::BenchRun* run) {
  const Result<std::vector<analysis::StimulatedPoint>> points = stimulated_points(session);
  if (!points) {
    return tl::unexpected<Error>(points.error());
  }
  return analysis::fit_stimulus_matrix(*points,
                                       run != nullptr ? levels_of(*run) : std::vector<double>());
}

}  // namespace gputrace::commands
