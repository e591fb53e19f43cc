// gputrace bench: one property of a GPU at a time, measured and proven.
#include <fmt/format.h>

#include <cstddef>

#include "cli/commands/bench/bench_list.h"
#include "cli/commands/bench/bench_options.h"
#include "cli/commands/bench/bench_run.h"
#include "cli/commands/bench/bench_session.h"
#include "cli/commands/command.h"
#include "cli/commands/standard_output.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_text.h"

namespace gputrace::commands {

namespace {

BenchRequest request_of(const BenchOptions& options, const std::vector<std::string>& arguments) {
  BenchRequest request;
  request.device = options.device;
  request.gpu = options.gpu;
  request.quick = options.quick;
  request.save = options.save;
  request.kind = store::SessionKind::kBench;
  request.command = typed_command("bench", arguments);
  return request;
}

Result<int> run_session(const BenchOptions& options, BenchSession& session) {
  std::size_t notes_printed = 0;
  print_notes(session, notes_printed);
  analysis::BenchRun run = begin_run(session, options.quick);
  run_bench_tests(options.tests, session, session.options(), run);
  const auto stored = session.finish(run);
  print_notes(session, notes_printed);
  if (const Status printed =
          write_stdout(options.json ? report::render_bench_json(run)
                                    : report::render_bench_text(run, options.text));
      !printed) {
    return tl::unexpected(printed.error());
  }
  if (const Status told = tell_stored(stored); !told) {
    return tl::unexpected(told.error());
  }
  return status_of(run);
}

}  // namespace

Result<int> run_bench(const std::vector<std::string>& arguments) {
  const auto options = parse_bench_options(arguments);
  if (!options) {
    return tl::unexpected(options.error());
  }
  if (options->help) {
    fmt::print("{}", bench_help());
    return 0;
  }
  if (options->list) {
    const Status printed = write_stdout(options->json ? bench_list_json() : bench_list_text());
    return printed ? Result<int>(0) : tl::unexpected(printed.error());
  }
  const auto session = BenchSession::open(request_of(*options, arguments));
  if (!session) {
    return tl::unexpected(session.error());
  }
  return run_session(*options, **session);
}

}  // namespace gputrace::commands
