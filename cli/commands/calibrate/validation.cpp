#include "cli/commands/calibrate/validation.h"

#include <algorithm>
#include <utility>

#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/calibration/known_workloads.h"

namespace gputrace::commands {

namespace {

using analysis::Bottleneck;

bool is_right(Bottleneck truth, Bottleneck found) {
  const bool of_memory = truth == Bottleneck::kBandwidth || truth == Bottleneck::kLatency ||
                         truth == Bottleneck::kMemory;
  return found == truth || (of_memory && found == Bottleneck::kMemory);
}

bool is_inside(const analysis::Range& range, double value) {
  return value >= range.lower.value_or(0) && (!range.upper || value <= *range.upper);
}

std::vector<analysis::KnownWorkload> known_of(const analysis::Calibration& calibration) {
  std::vector<analysis::KnownWorkload> known;
  for (const analysis::CalibrationPoint& point : calibration.points) {
    if (!point.suspect && !point.units.empty()) {
      known.push_back({point.workload, point.units});
    }
  }
  return known;
}

}  // namespace

Result<Validation> validate(const store::SessionReader& session,
                            const analysis::Calibration& calibration) {
  Result<KnownWorkloads> loaded = load_known_workloads(session, kValidationTests, &calibration);
  const Result<analysis::Conditions> conditions =
      loaded ? conditions_of(session) : tl::unexpected<Error>(loaded.error());
  if (!conditions) {
    return tl::unexpected<Error>(conditions.error());
  }
  Validation validation;
  validation.fit = analysis::fit_of(calibration, *conditions);
  const std::optional<analysis::PositionModel> model = analysis::PositionModel::make(calibration);
  const std::optional<double> ridge = analysis::ridge_of(calibration);
  if (validation.fit.use == analysis::CalibrationUse::kRefused) {
    validation.no_position = validation.fit.why;
  } else if (!model || !ridge) {
    validation.no_position = "the calibration has no points over arithmetic intensity";
  }
  if (model) {
    validation.scatter = model->scatter();
  }
  const std::vector<analysis::KnownWorkload> known = known_of(calibration);
  for (analysis::CalibrationPoint& point : loaded->points) {
    ValidatedWorkload workload;
    if (ridge && point.intensity) {
      workload.of_ridge = *point.intensity / *ridge;
    }
    if (validation.no_position.empty() && !point.units.empty()) {
      workload.position = model->place(point.units, validation.fit);
    }
    const bool says_something = workload.position && (workload.position->of_ridge.lower ||
                                                      workload.position->of_ridge.upper);
    if (says_something && workload.of_ridge) {
      workload.inside = is_inside(workload.position->of_ridge, *workload.of_ridge);
    }
    workload.verdict = analysis::classify({.units = point.units, .known = known});
    if (point.truth != Bottleneck::kUnknown && point.truth != Bottleneck::kMixed &&
        !point.units.empty()) {
      workload.class_right = is_right(point.truth, workload.verdict.bottleneck);
    }
    workload.truth = std::move(point);
    validation.workloads.push_back(std::move(workload));
  }
  return validation;
}

}  // namespace gputrace::commands
