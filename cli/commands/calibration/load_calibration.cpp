#include "cli/commands/calibration/load_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/commands/calibration/calibration_summary.h"
#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/calibration/known_workloads.h"
#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

constexpr const char* kHint = "`gputrace calibrate` makes a calibration";

}  // namespace

Result<std::optional<analysis::Calibration>> load_summary(const store::SessionReader& recording) {
  const Result<std::vector<store::ResultRun>> runs = recording.results();
  if (!runs) {
    return tl::unexpected<Error>(runs.error());
  }
  for (const store::ResultRun& run : *runs) {
    if (std::optional<analysis::Calibration> summary = calibration_of(run)) {
      return summary;
    }
  }
  return std::optional<analysis::Calibration>();
}

Result<analysis::Calibration> load_kept_summary(const std::filesystem::path& file) {
  if (const Result<store::SessionReader> session = store::SessionReader::open(file)) {
    Result<std::optional<analysis::Calibration>> loaded = load_summary(*session);
    std::optional<analysis::Calibration> summary = loaded ? std::move(*loaded) : std::nullopt;
    if (summary) {
      summary->file = file.string();
      return std::move(*summary);
    }
  }
  return load_calibration(file);
}

Result<analysis::Calibration> load_calibration(const std::filesystem::path& file) {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  const store::SessionKind kind = session->description().kind;
  if (kind != store::SessionKind::kCalibration) {
    Result<std::optional<analysis::Calibration>> summary = load_summary(*session);
    if (!summary) {
      return tl::unexpected<Error>(summary.error());
    }
    if (!*summary) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is no calibration and has no summary of one; {}", file.string(), kHint));
    }
    (*summary)->file = file.string();
    return std::move(**summary);
  }
  Result<KnownWorkloads> workloads = load_known_workloads(*session, kCalibrationTests);
  Result<analysis::Conditions> conditions =
      workloads ? conditions_of(*session) : tl::unexpected<Error>(workloads.error());
  if (!conditions) {
    return fail(conditions.error(), "cannot use the calibration " + file.string());
  }
  if (std::ranges::all_of(workloads->points,
                          [](const auto& point) { return point.suspect || point.units.empty(); })) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} has no workload with busy bits; {}", file.string(), kHint));
  }
  analysis::Calibration calibration;
  calibration.file = file.string();
  if (const auto& started = session->description().started) {
    calibration.started_at = format_rfc3339_utc(started->realtime_ns);
  }
  calibration.conditions = std::move(*conditions);
  calibration.compute = std::move(workloads->compute);
  calibration.bandwidth = std::move(workloads->bandwidth);
  calibration.points = std::move(workloads->points);
  return calibration;
}

}  // namespace gputrace::commands
