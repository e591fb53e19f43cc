#include "cli/commands/report/report_arguments.h"

#include <string>
#include <utility>

#include "cli/commands/report/time_offset.h"

namespace gputrace::commands {

Status take_span(const cxxopts::ParseResult& parsed, ReportOptions& options) {
  for (const auto& [name, target] :
       {std::pair("from", &options.from_s), std::pair("to", &options.to_s)}) {
    if (parsed.count(name) == 0) {
      continue;
    }
    const Result<double> seconds =
        parse_time_offset(std::string("--") + name, parsed[name].as<std::string>());
    if (!seconds) {
      return tl::unexpected<Error>(seconds.error());
    }
    *target = *seconds;
  }
  if (options.from_s && options.to_s && *options.from_s >= *options.to_s) {
    return fail(ErrorCode::kUsage, "--from must be before --to");
  }
  return {};
}

Result<regdb::RegisterDatabase> open_regdb(const ReportOptions& options) {
  return options.regdb_folder ? regdb::RegisterDatabase::with_overlay(*options.regdb_folder)
                              : regdb::RegisterDatabase::built_in();
}

}  // namespace gputrace::commands
