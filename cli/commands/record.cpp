// gputrace record: samples a GPU while a command runs.
#include <fmt/format.h>

#include "cli/commands/command.h"
#include "cli/commands/record/gpu_sources.h"
#include "cli/commands/record/record_options.h"
#include "cli/commands/record/supervisor.h"
#include "daemon/base/log.h"

namespace gputrace::commands {

Result<int> run_record(const std::vector<std::string>& arguments) {
  const Result<RecordOptions> options = parse_record_options(arguments);
  if (!options) {
    return tl::unexpected(options.error());
  }
  if (options->help) {
    fmt::print("{}", record_help());
    return 0;
  }
  return record(*options, make_reader_factory(), log_to_stderr("gputrace"));
}

}  // namespace gputrace::commands
