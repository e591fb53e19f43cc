#include <fmt/format.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/report/report_builder.h"
#include "cli/commands/report/time_offset.h"
#include "cli/commands/session_folder.h"
#include "cli/report/render_json.h"
#include "cli/report/render_text.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kHelp =
    R"(Says how busy each unit of the GPU was in a session, how surely, and when.

Usage: gputrace report [OPTIONS] [FILE]

Without FILE the newest session of `gputrace list` is taken.

Options:
  --json          print JSON (schema gputrace.report/1) instead of text
  --from TIME     leave out what was before TIME: seconds (12.5) or 1:30 from
                  the session's start
  --to TIME       leave out what was from TIME on
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

Examples:
  gputrace report
  gputrace report --from 1:00 --to 1:30 game.gputrace
  gputrace report --json game.gputrace | jq '.units[] | select(.busy > 0.5)'

Exit status: 0, also when the session has no valid sample (the report says so);
1 when the file cannot be read; 2 for a wrong command line.
)";

struct Arguments {
  std::optional<std::filesystem::path> file;
  bool json = false;
  report::TextOptions text;
  ReportOptions options;
};

bool stdout_has_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

bool locale_is_utf8() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) {
    return false;
  }
  const bool utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return utf8;
}

/// 80 for pipes and most terminals; over 100 columns bars grow, below 80 they shrink.
std::size_t text_width() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return kUsual;
  }
  const std::size_t columns = size.ws_col;
  return columns >= kUsual && columns <= 100 ? kUsual : std::min<std::size_t>(columns, 200);
}

Result<bool> parse_colour(const std::string& when) {
  if (when == "auto") {
    return stdout_has_colour();
  }
  if (when == "always" || when == "never") {
    return when == "always";
  }
  return fail(ErrorCode::kUsage, "--color wants auto, always or never, not '" + when + "'");
}

Status parse_span(const cxxopts::ParseResult& parsed, ReportOptions& options) {
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

/// Absent when help was asked for.
Result<std::optional<Arguments>> parse(const std::vector<std::string>& words) {
  cxxopts::Options options("gputrace report");
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options()("json", "")("from", "", text())("to", "", text())("regdb", "", text())(
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
  const Result<bool> colour = parse_colour((*parsed)["color"].as<std::string>());
  if (!colour) {
    return tl::unexpected<Error>(colour.error());
  }
  arguments.text = {*colour, parsed->count("ascii") > 0 || !locale_is_utf8(), text_width()};
  if (Status status = parse_span(*parsed, arguments.options); !status) {
    return tl::unexpected<Error>(status.error());
  }
  if (parsed->count("regdb") > 0) {
    arguments.options.regdb_folder = (*parsed)["regdb"].as<std::string>();
  }
  if (parsed->count("file") > 0) {
    arguments.file = (*parsed)["file"].as<std::string>();
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

Result<regdb::RegisterDatabase> open_regdb(const ReportOptions& options) {
  return options.regdb_folder ? regdb::RegisterDatabase::with_overlay(*options.regdb_folder)
                              : regdb::RegisterDatabase::built_in();
}

Status write_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return fail_errno(errno, "cannot write to standard output");
  }
  return {};
}

Result<int> print_report(const Arguments& wanted) {
  const Result<regdb::RegisterDatabase> regdb = open_regdb(wanted.options);
  if (!regdb) {
    return tl::unexpected<Error>(regdb.error());
  }
  const Result<std::filesystem::path> path = session_path(wanted);
  if (!path) {
    return tl::unexpected<Error>(path.error());
  }
  const Result<store::SessionReader> session = store::SessionReader::open(*path);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  const Result<report::Report> built = build_report(*session, *path, *regdb, wanted.options);
  if (!built) {
    return tl::unexpected<Error>(built.error());
  }
  const Status written = write_stdout(wanted.json ? report::render_json(*built)
                                                  : report::render_text(*built, wanted.text));
  if (!written) {
    return tl::unexpected<Error>(written.error());
  }
  return 0;
}

}  // namespace

Result<int> run_report(const std::vector<std::string>& arguments) {
  const Result<std::optional<Arguments>> parsed = parse(arguments);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  const std::optional<Arguments>& wanted = *parsed;
  if (!wanted) {
    fmt::print("{}", kHelp);
    return 0;
  }
  return print_report(*wanted);
}

}  // namespace gputrace::commands
