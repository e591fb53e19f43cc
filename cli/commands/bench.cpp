// gputrace bench: one property of a GPU at a time, measured and proven.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "cli/commands/bench/bench_list.h"
#include "cli/commands/bench/bench_options.h"
#include "cli/commands/bench/bench_run.h"
#include "cli/commands/bench/bench_session.h"
#include "cli/commands/command.h"
#include "cli/commands/standard_output.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_text.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {

namespace {

BenchRequest request_of(const BenchOptions& options, const std::vector<std::string>& arguments) {
  BenchRequest request;
  request.device = options.device;
  request.gpu = options.gpu;
  request.quick = options.quick;
  request.save = options.save;
  request.kind = store::SessionKind::kBench;
  request.command = {"gputrace", "bench"};
  request.command.insert(request.command.end(), arguments.begin(), arguments.end());
  return request;
}

Result<int> run_session(const BenchOptions& options, BenchSession& session) {
  std::size_t notes_printed = 0;
  print_notes(session, notes_printed);
  const analysis::BenchRun run = run_bench_tests(options.tests, session, options.quick);
  const auto stored = session.finish(run);
  print_notes(session, notes_printed);
  if (const Status printed =
          write_stdout(options.json ? report::render_bench_json(run)
                                    : report::render_bench_text(run, options.text));
      !printed) {
    return tl::unexpected(printed.error());
  }
  if (!stored) {
    return fail(stored.error(), "the results are not stored");
  }
  if (const std::optional<std::filesystem::path>& path = *stored; path.has_value()) {
    fmt::print(stderr, "gputrace: stored in {}\n",
               report::escape_for_terminal(path->string(), false));
  }
  if (run.cancelled) {
    return fail(ErrorCode::kBusy, "stopped by a signal: the results are not complete");
  }
  if (const std::string failure = failure_of(run); !failure.empty()) {
    return fail(ErrorCode::kIo, failure);
  }
  return 0;
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
