// Options that commands which read recordings share: the stretch of time, and names of the bits.
#pragma once

#include "cli/commands/arguments.h"
#include "cli/commands/report/report_builder.h"
#include "daemon/base/result.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

/// --from and --to, both optional. kUsage where they are no times, or hold no time between them.
[[nodiscard]] Status take_span(const cxxopts::ParseResult& parsed, ReportOptions& options);

/// The built-in names, with those of `options.regdb_folder` over them where it is given.
[[nodiscard]] Result<regdb::RegisterDatabase> open_regdb(const ReportOptions& options);

}  // namespace gputrace::commands
