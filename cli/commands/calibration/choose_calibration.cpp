#include "cli/commands/calibration/choose_calibration.h"

#include <algorithm>
#include <utility>

#include "cli/commands/session_folder.h"
#include "daemon/store/session_kind.h"

namespace gputrace::commands {

std::vector<std::filesystem::path> find_calibrations(const std::filesystem::path& machine_folder) {
  struct Found {
    std::int64_t realtime_ns = 0;
    std::filesystem::path path;
  };
  std::vector<Found> found;
  const Result<std::vector<std::filesystem::path>> files = session_files(machine_folder);
  for (const std::filesystem::path& file : files.value_or(std::vector<std::filesystem::path>())) {
    const Result<store::SessionReader> session = store::SessionReader::open(file);
    if (session && session->description().kind == store::SessionKind::kCalibration) {
      const auto& started = session->description().started;
      found.push_back({started ? started->realtime_ns : 0, file});
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Found::realtime_ns);
  std::vector<std::filesystem::path> calibrations;
  std::ranges::transform(found, std::back_inserter(calibrations),
                         [](Found& each) { return std::move(each.path); });
  return calibrations;
}

CalibrationChoice choose_calibration(const std::filesystem::path& machine_folder,
                                     const analysis::Conditions& recording, LoadCalibration load) {
  CalibrationChoice choice;
  for (std::filesystem::path& file : find_calibrations(machine_folder)) {
    Result<analysis::Calibration> calibration = load(file);
    if (!calibration) {
      choice.refused.push_back({std::move(file), calibration.error().message});
      continue;
    }
    if (calibration->conditions.simulated != recording.simulated) {
      continue;  // nobody expects it to fit
    }
    analysis::CalibrationFit fit = analysis::fit_of(*calibration, recording);
    if (fit.use == analysis::CalibrationUse::kRefused) {
      choice.refused.push_back({std::move(file), std::move(fit.why)});
      continue;
    }
    choice.calibration = std::move(*calibration);
    choice.fit = std::move(fit);
    return choice;
  }
  return choice;
}

}  // namespace gputrace::commands
