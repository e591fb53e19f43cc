// gputrace import: a file of another tool becomes a session.
#include "cli/import/import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/interrupt_guard.h"
#include "cli/commands/pending_file.h"
#include "cli/commands/session_folder.h"
#include "cli/import/text.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kDescription =
    R"(Turns a recording made with another tool into a session for `gputrace report`.

FILE is one of (- is standard input):
  radeontop   a dump of `radeontop -d FILE`. Its percentages are kept as means
              of windows, under radeontop's own column names; no samples are
              made up.
  regs-csv    raw status words with time stamps:
                # gputrace-regs v1
                # gc=11.0.1
                time_ns,GRBM_STATUS,GRBM_STATUS2
                1000000042604,0x00003028,0x00000008
              Any status registers of that GC version, hexadecimal or decimal
              words. An empty cell has no value, all ones is a failed read, rows
              may be missing. Further keys: rate_hz, gpu (a name), started
              (2026-11-29T22:27:15Z, at the first row).
  mangohud    a log of MangoHud (CSV): sensors, and frame times where it has a
              row for each frame. The date is that of the file's name.
  amdgpu_top  the output of `amdgpu_top --json`: percentages of units as means
              of windows, sensors, and what processes did.
)";

constexpr std::string_view kExamples = R"(
Examples:
  radeontop -d - | gputrace import -
  gputrace import --gc 10.3.0 --ticks 500 dump.txt -o rx6600.gputrace
  gputrace import --lenient words.csv && gputrace report
  gputrace import game_2026-11-29_22-27-15.csv -o game-hud.gputrace
  amdgpu_top --json -n 60 | gputrace import --format amdgpu_top -

With -, Ctrl-C waits for the end of the input, so that it ends such a pipeline
well; a second one gives up. A line that makes no sense ends the import with
FILE:LINE:COLUMN and leaves no file behind. An existing session is replaced only
with --force, and only when the import succeeded. Exit status: 0; 1 when the
import failed; 2 for a wrong command line.
)";

cxxopts::Options make_options() {
  cxxopts::Options options("gputrace import", std::string(kDescription));
  options.custom_help("[OPTIONS]").positional_help("FILE");
  options.add_options()  //
      ("o,output", "Write this file; default: a new one among your sessions",
       cxxopts::value<std::string>(), "SESSION")   //
      ("force", "Replace SESSION when it exists")  //
      ("format", "auto, radeontop, regs-csv, mangohud or amdgpu_top",
       cxxopts::value<std::string>()->default_value("auto"),
       "WORD")  //
      ("gc",
       "GC version of the GPU, such as 11.0.1. Needed for a register CSV and for output of "
       "amdgpu_top that do not say; for a radeontop dump it keeps only the columns whose bits mean "
       "the same there",
       cxxopts::value<std::string>(), "V")  //
      ("gpu",
       "Which GPU of an amdgpu_top file: its PCI address or its place, from 0; default: the first "
       "graphics card, else the first GPU",
       cxxopts::value<std::string>(), "GPU")  //
      ("ticks", "Samples a second that radeontop took (its -t)", cxxopts::value<std::string>(),
       "N")  //
      ("regdb", "Names and meanings of registers from *.reg files in DIR",
       cxxopts::value<std::string>(), "DIR")             //
      ("lenient", "Leave bad lines out and count them")  //
      ("q,quiet", "Print nothing but errors")            //
      ("h,help", "Show this help")                       //
      ("file", "", cxxopts::value<std::vector<std::string>>());
  options.parse_positional({"file"});
  return options;
}

struct ImportRequest {
  std::string file;
  std::optional<std::filesystem::path> output;
  bool force = false;
  bool quiet = false;
  std::optional<std::filesystem::path> regdb;
  import::ImportOptions options;
};

Result<ImportRequest> read_request(const cxxopts::ParseResult& parsed) {
  ImportRequest request;
  const auto files = parsed.count("file") > 0 ? parsed["file"].as<std::vector<std::string>>()
                                              : std::vector<std::string>{};
  if (files.size() != 1) {
    return fail(ErrorCode::kUsage,
                files.empty() ? "which FILE? (- is standard input)" : "one FILE at a time");
  }
  request.file = files.front();
  request.force = parsed.count("force") > 0;
  request.quiet = parsed.count("quiet") > 0;
  request.options.lenient = parsed.count("lenient") > 0;
  if (parsed.count("output") > 0) {
    request.output = parsed["output"].as<std::string>();
  }
  if (parsed.count("regdb") > 0) {
    request.regdb = parsed["regdb"].as<std::string>();
  }
  const auto format = parsed["format"].as<std::string>();
  request.options.format = import::parse_format(format);
  if (!request.options.format && format != "auto") {
    return fail(ErrorCode::kUsage,
                "--format is auto, radeontop, regs-csv, mangohud or amdgpu_top, not " +
                    import::excerpt(format));
  }
  if (parsed.count("gpu") > 0) {
    request.options.gpu = parsed["gpu"].as<std::string>();
  }
  if (parsed.count("gc") > 0) {
    const Result<regdb::GcVersion> gc = regdb::parse_gc_version(parsed["gc"].as<std::string>());
    if (!gc) {
      return fail(ErrorCode::kUsage, "--gc: " + gc.error().message);
    }
    request.options.gc = *gc;
  }
  if (parsed.count("ticks") > 0) {
    const auto text = parsed["ticks"].as<std::string>();
    request.options.ticks = import::parse_number<std::uint32_t>(text);
    const std::uint32_t ticks = request.options.ticks.value_or(0);
    if (ticks == 0 || ticks > import::kMaxTicks) {
      return fail(ErrorCode::kUsage, fmt::format("--ticks is 1 to {}, not {}", import::kMaxTicks,
                                                 import::excerpt(text)));
    }
  }
  return request;
}

Result<UniqueFd> open_input(const ImportRequest& request) {
  if (request.file == "-") {
    UniqueFd copy(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    return copy ? Result<UniqueFd>(std::move(copy))
                : fail_errno(errno, "cannot read standard input");
  }
  UniqueFd fd(::open(request.file.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? Result<UniqueFd>(std::move(fd))
            : fail_errno(errno, "cannot open " + import::printable(request.file));
}

/// -o, or a new name among the user's sessions: "trace-20261129-222715.gputrace" from trace.csv.
Result<std::filesystem::path> choose_output(const ImportRequest& request) {
  if (request.output) {
    return *request.output;
  }
  const Result<std::filesystem::path> folder = sessions_folder();
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  if (const Status created = create_sessions_folder(*folder); !created) {
    return tl::unexpected(created.error());
  }
  const std::vector<std::string> name = {
      request.file == "-" ? "import" : std::filesystem::path(request.file).stem().string()};
  return default_session_path(*folder, name, read_time_anchor().realtime_ns);
}

std::string_view row_word(import::Format format) {
  switch (format) {
    case import::Format::kRadeontop:
    case import::Format::kAmdgpuTop:
      return "window";
    case import::Format::kMangoHud:
      return "row";
    case import::Format::kRegisterCsv:
      break;
  }
  return "sample";
}

void print_list(std::string_view what, const std::vector<std::string>& names) {
  if (!names.empty()) {
    fmt::print("  {}: {}\n", what, fmt::join(names, ", "));
  }
}

void print_summary(const import::ImportSummary& summary, const std::string& name,
                   const std::filesystem::path& session) {
  const double seconds = static_cast<double>(summary.end_ns - summary.start_ns) * 1e-9;
  fmt::print("Imported {} ({}{})\n", import::printable(name), import::describe(summary.format),
             summary.gc ? ", GC " + regdb::to_string(*summary.gc) : "");
  fmt::print("  {} {}{} over {:.3f} s{}{}\n", summary.rows, row_word(summary.format),
             summary.rows == 1 ? "" : "s", seconds, summary.registers.empty() ? "" : ": ",
             fmt::join(summary.registers, ", "));
  print_list("sensors", summary.sensors);
  if (summary.frames > 0) {
    fmt::print("  {} frames\n", summary.frames);
  }
  if (summary.processes > 0) {
    fmt::print("  {} processes\n", summary.processes);
  }
  if (summary.all_ones > 0 || summary.absent > 0) {
    fmt::print("  {} words; {} failed reads (all ones), {} empty cells\n", summary.values,
               summary.all_ones, summary.absent);
  }
  for (const std::string& note : summary.notes) {
    fmt::print("  {}\n", note);
  }
  for (const std::string& warning : summary.warnings) {
    fmt::print("  warning: {}\n", warning);
  }
  if (summary.bad_lines > 0) {
    fmt::print("  {} bad lines left out:\n", summary.bad_lines);
    for (const std::string& example : summary.bad_line_examples) {
      fmt::print("    {}\n", example);
    }
    if (summary.bad_lines > summary.bad_line_examples.size()) {
      fmt::print("    ...\n");
    }
  }
  fmt::print("Session: {}\n", import::printable(session.string()));
}

Result<import::ImportSummary> import_to(const ImportRequest& request,
                                        const std::filesystem::path& output,
                                        const regdb::RegisterDatabase& regdb,
                                        const InterruptGuard& interrupt) {
  const Result<UniqueFd> input = open_input(request);
  if (!input) {
    return tl::unexpected(input.error());
  }
  Result<PendingFile> pending = PendingFile::create(
      output, request.force ? store::OnExisting::kReplace : store::OnExisting::kRefuse);
  if (!pending) {
    return tl::unexpected(pending.error());
  }
  if (pending->would_replace(input->get())) {
    return fail(ErrorCode::kInvalidArgument,
                "the session would replace the file that is imported; choose another name for -o");
  }
  const std::string name = request.file == "-"
                               ? "standard input"
                               : std::filesystem::path(request.file).filename().string();
  import::LineReader lines(
      import::read_descriptor(input->get(), name,
                              [&interrupt] { return interrupt.signal().has_value(); }),
      name);
  import::StoreSink sink(pending->path());
  Result<import::ImportSummary> summary =
      import::import_session(lines, regdb, request.options, sink);
  if (!summary) {
    return summary;
  }
  if (interrupt.signal()) {
    return fail(ErrorCode::kIo, "interrupted; nothing was imported");
  }
  if (const Status kept = pending->keep(); !kept) {
    return tl::unexpected(kept.error());
  }
  return summary;
}

}  // namespace

Result<int> run_import(const std::vector<std::string>& arguments) {
  cxxopts::Options options = make_options();
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (parsed->count("help") > 0) {
    fmt::print("{}{}", options.help(), kExamples);
    return 0;
  }
  const Result<ImportRequest> request = read_request(*parsed);
  if (!request) {
    return tl::unexpected(request.error());
  }
  const std::optional<std::filesystem::path>& overlay = request->regdb;
  const Result<regdb::RegisterDatabase> regdb =
      overlay ? regdb::RegisterDatabase::with_overlay(*overlay)
              : Result<regdb::RegisterDatabase>(regdb::RegisterDatabase::built_in());
  if (!regdb) {
    return tl::unexpected(regdb.error());
  }
  const Result<std::filesystem::path> output = choose_output(*request);
  if (!output) {
    return tl::unexpected(output.error());
  }
  std::optional<int> signal;
  Result<import::ImportSummary> summary;
  {
    const InterruptGuard interrupt(request->file == "-" ? 1 : 0);
    summary = import_to(*request, *output, *regdb, interrupt);
    signal = interrupt.signal();
  }
  if (!summary) {
    if (signal) {
      ::raise(*signal);  // the half file is gone; end as the sender expects
    }
    return tl::unexpected(summary.error());
  }
  if (!request->quiet) {
    print_summary(*summary, request->file, *output);
  }
  return 0;
}

}  // namespace gputrace::commands
