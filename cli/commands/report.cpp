#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/commands/arguments.h"
#include "cli/commands/bench/bench_documents.h"
#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/bench/result_file.h"
#include "cli/commands/calibration/calibration_summary.h"
#include "cli/commands/calibration/stimulated_points.h"
#include "cli/commands/command.h"
#include "cli/commands/report/background_files.h"
#include "cli/commands/report/machine_report.h"
#include "cli/commands/report/moment.h"
#include "cli/commands/report/report_arguments.h"
#include "cli/commands/session_folder.h"
#include "cli/commands/standard_output.h"
#include "cli/commands/text_options.h"
#include "cli/commands/write_document.h"
#include "cli/report/html.h"
#include "cli/report/render_json.h"
#include "cli/report/render_text.h"
#include "cli/report/terminal_text.h"
#include "daemon/base/time.h"
#include "daemon/store/session_kind.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kHelp =
    R"(Says how busy each unit of the GPU was in a session, how surely, and when.

Usage: gputrace report [OPTIONS] [FILE]
       gputrace report [OPTIONS] --since TIME

Without FILE the newest session of `gputrace list` is taken. With --since it is
what gputraced has sampled in the background since then, a report for each GPU
and day. Of a file of a roofline or a bench the results come first.

Options:
  --json          print JSON (schema gputrace.report/1) instead of text; with
                  --since one document a line. Of a roofline or a bench its
                  results (gputrace.bench/1)
  --html FILE     write a page for browsers into FILE instead, replacing it: all
                  of the report with the roofline, and units and sensors over
                  time. It needs no network
  --from TIME     leave out what was before TIME: seconds (12.5) or 1:30 from
                  the session's start
  --to TIME       leave out what was from TIME on
  --since TIME    "2 h ago", "30 min ago", "14:00", "yesterday 14:00",
                  "2026-11-30 14:00" (local time) or RFC 3339. Needs background
                  monitoring, which is off by default, and the group gputrace
  --calibration FILE
                  place phases on the roofline by this calibration (default: the
                  newest of `gputrace calibrate` that fits GPU, clock and power)
  --scenes        show the stretches that each phase is made of
  --regdb DIR     take names and meanings of the bits from *.reg files in DIR
  --color WHEN    always, never or auto (default: in a terminal, unless NO_COLOR
                  is set or TERM is dumb)
  --ascii         nothing beyond ASCII (default when the locale is not UTF-8)
  -h, --help      this text

How to read it:
  A busy fraction is the share of the time, while the GPU was awake, in which a
  unit had work. It does not say that the unit was at its limit.
  Two 95 % intervals exist. The text shows the one about this very recording
  (ci95_run in JSON). ci95, which is wider, says what a repeat of the same
  steady load would show; use it to compare recordings.
  Samples in which the GPU slept and samples that could not be read are counted
  apart. They are never taken for idle.
  Sensors have a mean by time, the lowest and highest reading, the number of
  readings (n) and their source. Energy is a counter's difference, or else power
  times time; "covers" says what it holds besides the GPU. DRAM traffic is in
  1e9 bytes a second. Throttling is reported only where temperature, power or
  clock agree with the firmware's bits. Processes are those of CMD: seconds of
  each engine and the most memory that they held.

Examples:
  gputrace report
  gputrace report --from 1:00 --to 1:30 game.gputrace
  gputrace report --html game.html game.gputrace
  gputrace report --json game.gputrace | jq '.units[] | select(.busy > 0.5)'

Exit status: 0, also when the session has no valid sample (the report says so);
1 when the file cannot be read, or nothing was recorded since TIME; 2 for a
wrong command line.
)";

struct Arguments {
  std::optional<std::filesystem::path> file;
  std::optional<std::int64_t> since_realtime_ns;
  bool json = false;
  std::optional<std::filesystem::path> html;
  report::TextOptions text;
  ReportOptions options;
};

Status parse_html(const cxxopts::ParseResult& parsed, Arguments& arguments) {
  if (parsed.count("html") == 0) {
    return {};
  }
  for (const char* name : {"json", "since"}) {
    if (parsed.count(name) > 0) {
      return fail(ErrorCode::kUsage, fmt::format("--html and --{} do not go together", name));
    }
  }
  arguments.html = parsed["html"].as<std::string>();
  arguments.options.timeline = true;
  return {};
}

Status parse_since(const cxxopts::ParseResult& parsed, Arguments& arguments) {
  if (parsed.count("since") == 0) {
    return {};
  }
  if (arguments.file || arguments.options.from_s || arguments.options.to_s) {
    return fail(ErrorCode::kUsage,
                "--since is about the background recordings; for a FILE use --from and --to");
  }
  const Result<std::int64_t> since =
      parse_moment("--since", parsed["since"].as<std::string>(), read_time_anchor().realtime_ns);
  if (!since) {
    return tl::unexpected<Error>(since.error());
  }
  arguments.since_realtime_ns = *since;
  return {};
}

/// Absent when help was asked for.
Result<std::optional<Arguments>> parse(const std::vector<std::string>& words) {
  cxxopts::Options options("gputrace report");
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options()("json", "")("html", "", text())("from", "", text())("to", "", text())(
      "since", "", text())("calibration", "", text())("scenes", "")("regdb", "", text())(
      "color", "", text()->default_value("auto"))("ascii", "")("h,help", "")("file", "", text());
  options.parse_positional({"file"});
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, words);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (parsed->count("help") > 0) {
    return std::nullopt;
  }
  Arguments arguments;
  arguments.json = parsed->count("json") > 0;
  const Result<report::TextOptions> text_output =
      text_options((*parsed)["color"].as<std::string>(), parsed->count("ascii") > 0);
  if (!text_output) {
    return tl::unexpected<Error>(text_output.error());
  }
  arguments.text = *text_output;
  if (Status status = take_span(*parsed, arguments.options); !status) {
    return tl::unexpected<Error>(status.error());
  }
  if (parsed->count("regdb") > 0) {
    arguments.options.regdb_folder = (*parsed)["regdb"].as<std::string>();
  }
  if (parsed->count("calibration") > 0) {
    arguments.options.calibration = (*parsed)["calibration"].as<std::string>();
  }
  arguments.options.scenes = parsed->count("scenes") > 0;
  if (const Result<std::filesystem::path> sessions = sessions_folder()) {
    arguments.options.machine_folder = machine_folder(*sessions);
  }
  if (parsed->count("file") > 0) {
    arguments.file = (*parsed)["file"].as<std::string>();
  }
  if (const Status status = parse_html(*parsed, arguments); !status) {
    return tl::unexpected<Error>(status.error());
  }
  if (const Status status = parse_since(*parsed, arguments); !status) {
    return tl::unexpected<Error>(status.error());
  }
  arguments.options.band_columns =
      std::max(arguments.text.width, report::kMinWidth) - report::kBandLabelWidth;
  return arguments;
}

Result<std::filesystem::path> session_path(const Arguments& arguments) {
  if (arguments.file) {
    return *arguments.file;
  }
  return sessions_folder().and_then(newest_session);
}

Status print_results(const store::SessionReader& session,
                     const std::vector<store::ResultRun>& results, const Arguments& wanted) {
  const analysis::BenchRun run = bench_run(results.front());
  // The samples are those of one run.
  const Result<analysis::StimulusMatrix> matrix =
      results.size() == 1 ? stimulus_matrix_of(session, &run) : analysis::StimulusMatrix();
  if (!matrix) {
    return tl::unexpected<Error>(matrix.error());
  }
  return write_stdout(wanted.json ? results_json(results, *matrix)
                                  : results_text(results, *matrix, wanted.text) + "\n");
}

Status print_session(const store::SessionReader& session, const std::filesystem::path& path,
                     const regdb::RegisterDatabase& regdb, const Arguments& wanted) {
  // Those of a recording are a summary of a calibration, which the report itself looks for.
  Result<std::vector<store::ResultRun>> results =
      store::describes_machine(session.description().kind) ? session.results()
                                                           : std::vector<store::ResultRun>();
  if (!results) {
    return tl::unexpected<Error>(results.error());
  }
  std::erase_if(*results, is_summary);
  const bool of_machine = !results->empty();
  if (of_machine && wanted.html && session.description().kind == store::SessionKind::kBench) {
    return write_bench_page(bench_run(results->front()), *wanted.html);
  }
  if (of_machine && wanted.html && !session.span()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} has results and no recording, of which a page would be; "
                            "`gputrace roofline --svg FILE` draws a roofline",
                            path.string()));
  }
  if (of_machine && !wanted.html) {
    const Status printed = print_results(session, *results, wanted);
    if (!printed || wanted.json || !session.span()) {
      return printed;
    }
  }
  const Result<report::Report> built = build_report(session, path, regdb, wanted.options);
  if (!built) {
    return tl::unexpected<Error>(built.error());
  }
  if (wanted.html) {
    return write_document(*wanted.html, report::render_html(*built, {.version = GPUTRACE_VERSION}));
  }
  if (wanted.json) {
    return report::write_json(
        *built,
        wanted.since_realtime_ns ? report::JsonLayout::kOneLine : report::JsonLayout::kIndented,
        write_stdout);
  }
  return write_stdout(report::render_text(*built, wanted.text));
}

Status print_background(std::int64_t since_realtime_ns, const regdb::RegisterDatabase& regdb,
                        Arguments wanted) {
  const Result<BackgroundFiles> found =
      background_files_since(background_folder(), since_realtime_ns);
  if (!found) {
    return tl::unexpected<Error>(found.error());
  }
  for (const std::string& message : found->unreadable) {
    fmt::print(stderr, "gputrace report: left out: {}\n",
               report::escape_for_terminal(message, false));
  }
  bool first = true;
  for (const BackgroundFile& file : found->files) {
    if (!std::exchange(first, false) && !wanted.json) {
      if (const Status status = write_stdout("\n"); !status) {
        return status;
      }
    }
    wanted.options.from_s = file.from_s > 0 ? std::optional(file.from_s) : std::nullopt;
    if (const Status status = print_session(file.session, file.path, regdb, wanted); !status) {
      return status;
    }
  }
  return {};
}

Status print_file(const regdb::RegisterDatabase& regdb, const Arguments& wanted) {
  const Result<std::filesystem::path> path = session_path(wanted);
  if (!path) {
    return tl::unexpected<Error>(path.error());
  }
  const Result<store::SessionReader> session = store::SessionReader::open(*path);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  return print_session(*session, *path, regdb, wanted);
}

Result<int> print_report(const Arguments& wanted) {
  const Result<regdb::RegisterDatabase> regdb = open_regdb(wanted.options);
  if (!regdb) {
    return tl::unexpected<Error>(regdb.error());
  }
  const Status printed = wanted.since_realtime_ns
                             ? print_background(*wanted.since_realtime_ns, *regdb, wanted)
                             : print_file(*regdb, wanted);
  if (!printed) {
    return tl::unexpected<Error>(printed.error());
  }
  return 0;
}

}  // namespace

Result<int> run_report(const std::vector<std::string>& arguments) {
  return run_or_help(parse(arguments), kHelp, print_report);
}

}  // namespace gputrace::commands
