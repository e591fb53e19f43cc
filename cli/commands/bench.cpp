// gputrace bench: one property of a GPU at a time, measured and proven.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cli/analysis/inference.h"
#include "cli/commands/bench/bench_compare.h"
#include "cli/commands/bench/bench_documents.h"
#include "cli/commands/bench/bench_list.h"
#include "cli/commands/bench/bench_options.h"
#include "cli/commands/bench/bench_run.h"
#include "cli/commands/bench/bench_session.h"
#include "cli/commands/calibration/stimulated_points.h"
#include "cli/commands/command.h"
#include "cli/commands/report/machine_report.h"
#include "cli/commands/standard_output.h"
#include "cli/report/bench_json.h"
#include "daemon/store/session_reader.h"

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

/// With the first results that are there, since files hold results alone: comparisons ask for it.
void note_cores(const std::optional<std::uint32_t>& cores, analysis::BenchRun& run) {
  const auto first =
      std::ranges::find(run.tests, analysis::TestStatus::kOk, &analysis::TestResult::status);
  if (cores && first != run.tests.end()) {
    analysis::DerivedValue value;
    value.what = "cores";
    value.value = *cores;
    value.by = "what the driver says";
    first->derived.push_back(std::move(value));
  }
}

Status write_documents(const BenchOptions& options, const analysis::BenchRun& run) {
  Status written;
  if (options.svg) {
    written = write_drawings(run, *options.svg);
  }
  if (written && options.html) {
    written = write_bench_page(run, *options.html);
  }
  return written;
}

/// Without points where no file was kept or nothing was sampled.
Result<analysis::StimulusMatrix> matrix_of(
    const Result<std::optional<std::filesystem::path>>& stored, const analysis::BenchRun& run) {
  const std::optional<std::filesystem::path> path = stored ? *stored : std::nullopt;
  if (!path) {
    return analysis::StimulusMatrix();
  }
  const Result<store::SessionReader> session = store::SessionReader::open(*path);
  return session ? stimulus_matrix_of(*session, &run) : tl::unexpected<Error>(session.error());
}

Result<int> run_session(const BenchOptions& options, BenchSession& session) {
  std::error_code ignored;
  if (options.svg) {
    if (const Status created = create_drawings_folder(*options.svg); !created) {
      return tl::unexpected(created.error());
    }
  }
  const std::filesystem::path page = options.html.value_or("");
  if (const std::filesystem::path folder = page.parent_path();
      !folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("--html {}: there is no folder {}", page.string(), folder.string()));
  }
  std::size_t notes_printed = 0;
  print_notes(session, notes_printed);
  analysis::BenchRun run = begin_run(session, options.quick);
  run_bench_tests(options.tests, session, session.options(), run);
  analysis::infer(run);
  note_cores(session.runner().facts().cores, run);
  const auto stored = session.finish(run);
  print_notes(session, notes_printed);
  const Result<analysis::StimulusMatrix> read = matrix_of(stored, run);
  const analysis::StimulusMatrix matrix = read.value_or(analysis::StimulusMatrix());
  if (const Status printed = write_stdout(
          options.json ? report::render_bench_json(run, report::JsonLayout::kIndented, &matrix)
                       : run_text(run, options.text) + stimulus_section(matrix, options.text));
      !printed) {
    return tl::unexpected(printed.error());
  }
  const Status written = write_documents(options, run);
  if (const Status told = tell_stored(stored); !told) {
    return tl::unexpected(told.error());
  }
  if (!written) {
    return tl::unexpected(written.error());
  }
  if (!read) {
    return fail(read.error(), "cannot tell what keeps each unit busy");
  }
  return status_of(run);
}

}  // namespace

Result<int> run_bench(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "compare") {
    return run_bench_compare({arguments.begin() + 1, arguments.end()});
  }
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
