// gputrace compare: what differs between two recordings, or two sets of repeats, and what of it is
// real.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/fail_condition.h"
#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/compare/compare_warnings.h"
#include "cli/commands/compare/compared_recording.h"
#include "cli/commands/compared_names.h"
#include "cli/commands/report/report_arguments.h"
#include "cli/commands/standard_output.h"
#include "cli/commands/text_options.h"
#include "cli/report/comparison_json.h"
#include "cli/report/comparison_text.h"

namespace gputrace::commands {
namespace {

constexpr int kRegression = 3;

constexpr std::string_view kHelp =
    R"(Says what differs between two recordings, how surely, and whether it is real.

Usage: gputrace compare [OPTIONS] A B
       gputrace compare [OPTIONS] A1,A2,... B1,B2,...

Give several recordings of each side when you can: the intervals then come from
how much repeats differ. From one recording of each they come from its samples,
and say what a repeat of the same steady load would show.

Options:
  --fail-on COND  exit with 3 when COND holds for the whole 95 % interval of B
                  minus A; may be given several times. NAME>LIMIT or NAME<LIMIT
                  with a limit in points or in percent of A:
                    'EA_BUSY>+5pp'  'GRBM_STATUS_SE0.TA_BUSY<-3pp'
                    'package_power>+5%'  'frame_time>+2%'  'cpu>+10pp'
                  A unit without a register is that of the whole GPU
  --from TIME     leave out what was before TIME: seconds (12.5) or 1:30 from
                  the start of each recording
  --to TIME       leave out what was from TIME on
  --all           list single shader engines and further sources as well
  --json          print JSON (schema gputrace.compare/1) instead of text
  --regdb DIR     take names of the bits from *.reg files in DIR
  --color WHEN    always, never or auto (default: in a terminal, unless NO_COLOR
                  is set or TERM is dumb)
  --ascii         nothing beyond ASCII (default when the locale is not UTF-8)
  -h, --help      this text

How to read it:
  "real" means that chance alone would hardly make it: at most one comparison in
  twenty of two equal loads names any unit (Holm's method over all units, and
  over all sensors). "noise" means that it may be chance; "?" that nothing can
  be told, and why. Busy fractions and shares of time differ in points.

Examples:
  gputrace compare 25w.gputrace 54w.gputrace
  gputrace compare old1.gputrace,old2.gputrace new1.gputrace,new2.gputrace
    --fail-on 'EA_BUSY>+5pp'

Exit status: 0; 1 when a file cannot be read or a condition cannot be judged; 2
for a wrong command line; 3 when a condition of --fail-on holds.
)";

struct Arguments {
  std::array<std::vector<std::filesystem::path>, 2> sides;
  std::vector<analysis::FailCondition> conditions;
  ReportOptions options;
  report::TextOptions text;
  bool all = false;
  bool json = false;
};

/// Words that are not options, and the values of --fail-on: cxxopts splits both at commas.
struct Words {
  std::vector<std::string> files;
  std::vector<std::string> conditions;
  std::vector<std::string> others;
};

Result<Words> sort_words(const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 4> kWithValue{"--from", "--to", "--regdb", "--color"};
  constexpr std::string_view kFailOn = "--fail-on";
  Words words;
  bool only_files = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (only_files || word.empty() || word.front() != '-' || word == "-") {
      words.files.push_back(word);
    } else if (word == "--") {
      only_files = true;
    } else if (word == kFailOn) {
      if (i + 1 == arguments.size()) {
        return fail(ErrorCode::kUsage, "--fail-on needs a condition, as in 'EA_BUSY>+5pp'");
      }
      words.conditions.push_back(arguments[++i]);
    } else if (word.starts_with(std::string(kFailOn) + "=")) {
      words.conditions.push_back(word.substr(kFailOn.size() + 1));
    } else {
      words.others.push_back(word);
      if (std::find(kWithValue.begin(), kWithValue.end(), word) != kWithValue.end() &&
          i + 1 < arguments.size()) {
        words.others.push_back(arguments[++i]);
      }
    }
  }
  return words;
}

Status take_words(const Words& words, Arguments& arguments) {
  if (words.files.size() != arguments.sides.size()) {
    return fail(ErrorCode::kUsage,
                fmt::format("two sets of recordings are needed, A and B; {} {} given",
                            words.files.size(), words.files.size() == 1 ? "is" : "are"));
  }
  for (std::size_t side = 0; side < arguments.sides.size(); ++side) {
    const Result<std::vector<std::string>> names = split_compared_names(words.files[side]);
    if (!names) {
      return tl::unexpected<Error>(names.error());
    }
    arguments.sides.at(side).assign(names->begin(), names->end());
  }
  for (const std::string& text : words.conditions) {
    Result<analysis::FailCondition> condition = analysis::parse_fail_condition(text);
    if (!condition) {
      return tl::unexpected<Error>(condition.error());
    }
    arguments.conditions.push_back(std::move(*condition));
  }
  return {};
}

/// Absent when help was asked for.
Result<std::optional<Arguments>> parse(const std::vector<std::string>& arguments) {
  const Result<Words> words = sort_words(arguments);
  if (!words) {
    return tl::unexpected<Error>(words.error());
  }
  cxxopts::Options options("gputrace compare");
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options()("from", "", text())("to", "", text())("all", "")("json", "")(
      "regdb", "", text())("color", "", text()->default_value("auto"))("ascii", "")("h,help", "");
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, words->others);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (parsed->count("help") > 0) {
    return std::nullopt;
  }
  Arguments out;
  if (Status status = take_words(*words, out); !status) {
    return tl::unexpected<Error>(status.error());
  }
  if (Status status = take_span(*parsed, out.options); !status) {
    return tl::unexpected<Error>(status.error());
  }
  if (parsed->count("regdb") > 0) {
    out.options.regdb_folder = (*parsed)["regdb"].as<std::string>();
  }
  const Result<report::TextOptions> text_output =
      text_options((*parsed)["color"].as<std::string>(), parsed->count("ascii") > 0);
  if (!text_output) {
    return tl::unexpected<Error>(text_output.error());
  }
  out.text = *text_output;
  out.all = parsed->count("all") > 0;
  out.json = parsed->count("json") > 0;
  return out;
}

Result<std::vector<ComparedRecording>> read_side(const std::vector<std::filesystem::path>& files,
                                                 const regdb::RegisterDatabase& regdb,
                                                 const ReportOptions& options) {
  std::vector<ComparedRecording> side;
  for (const std::filesystem::path& file : files) {
    Result<ComparedRecording> recording = read_compared(file, regdb, options);
    if (!recording) {
      return tl::unexpected<Error>(recording.error());
    }
    side.push_back(std::move(*recording));
  }
  return side;
}

std::vector<analysis::ComparedRun> runs_of(const std::vector<ComparedRecording>& side) {
  std::vector<analysis::ComparedRun> runs;
  runs.reserve(side.size());
  for (const ComparedRecording& recording : side) {
    runs.push_back(recording.run);
  }
  return runs;
}

std::vector<report::ComparedSession> sessions_of(const std::vector<ComparedRecording>& side) {
  std::vector<report::ComparedSession> sessions;
  sessions.reserve(side.size());
  for (const ComparedRecording& recording : side) {
    sessions.push_back(recording.session);
  }
  return sessions;
}

/// The exit status.
Result<int> print_comparison(const Arguments& wanted) {
  const Result<regdb::RegisterDatabase> regdb = open_regdb(wanted.options);
  if (!regdb) {
    return tl::unexpected<Error>(regdb.error());
  }
  const auto a = read_side(wanted.sides[0], *regdb, wanted.options);
  if (!a) {
    return tl::unexpected<Error>(a.error());
  }
  const auto b = read_side(wanted.sides[1], *regdb, wanted.options);
  if (!b) {
    return tl::unexpected<Error>(b.error());
  }
  report::ComparisonReport report{.a = sessions_of(*a),
                                  .b = sessions_of(*b),
                                  .comparison = analysis::compare(runs_of(*a), runs_of(*b)),
                                  .conditions = {},
                                  .warnings = compare_warnings(*a, *b)};
  std::optional<Error> not_judged;
  bool failed = false;
  for (const analysis::FailCondition& condition : wanted.conditions) {
    Result<analysis::FailVerdict> verdict = analysis::check(condition, report.comparison);
    if (!verdict) {
      not_judged = verdict.error();
      continue;
    }
    failed = failed || verdict->failed;
    report.conditions.push_back(std::move(*verdict));
  }
  const Status printed =
      write_stdout(wanted.json ? report::render_comparison_json(report)
                               : report::render_comparison_text(report, wanted.text, wanted.all));
  if (!printed) {
    return tl::unexpected<Error>(printed.error());
  }
  if (failed) {
    return kRegression;
  }
  if (not_judged) {
    return tl::unexpected<Error>(*not_judged);
  }
  return 0;
}

}  // namespace

Result<int> run_compare(const std::vector<std::string>& arguments) {
  return run_or_help(parse(arguments), kHelp, print_comparison);
}

}  // namespace gputrace::commands
