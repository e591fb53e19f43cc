// One recording as `compare` needs it: figures with intervals from its report and its batches.
#pragma once

#include <filesystem>

#include "cli/analysis/comparison.h"
#include "cli/commands/report/report_builder.h"
#include "cli/report/comparison_report.h"
#include "daemon/base/result.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

struct ComparedRecording {
  report::ComparedSession session;
  analysis::ComparedRun run;
  report::Sampling sampling;
  std::size_t classes = 0;  ///< that its phases have
};

/// Errors as build_report; kInvalidArgument for files of benches, rooflines and calibrations, which
/// hold no steady load.
[[nodiscard]] Result<ComparedRecording> read_compared(const std::filesystem::path& file,
                                                      const regdb::RegisterDatabase& regdb,
                                                      const ReportOptions& options);

}  // namespace gputrace::commands
