// Makes the report of a session file: decodes the counts through regdb, adds intervals, the band
// over time and warnings.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "cli/report/report.h"
#include "daemon/store/session_reader.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

struct ReportOptions {
  std::optional<double> from_s;  ///< seconds from the session's start
  std::optional<double> to_s;
  std::size_t band_columns = 64;  ///< at most
  /// Where names and meanings come from instead of the built-in tables; for a warning.
  std::optional<std::filesystem::path> regdb_folder;
  /// Goes before any other; see report_machine.h.
  std::optional<std::filesystem::path> calibration;
  std::filesystem::path machine_folder;  ///< with calibrations and rooflines; empty = none
  bool scenes = false;                   ///< the stretches that phases are made of
  bool timeline = false;                 ///< Report::timeline
};

/// kUsage when from_s is not before to_s, kInvalidArgument when they are outside the session.
[[nodiscard]] Result<report::Report> build_report(const store::SessionReader& session,
                                                  const std::filesystem::path& file,
                                                  const regdb::RegisterDatabase& regdb,
                                                  const ReportOptions& options);

}  // namespace gputrace::commands
