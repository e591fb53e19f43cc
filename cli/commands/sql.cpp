// gputrace sql: one read-only query on a session file.
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/query_output.h"
#include "cli/commands/session_folder.h"
#include "daemon/store/query.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kDescription =
    R"(Runs one SQL query on a session file and prints the rows. Without FILE the
newest session of yours is asked.

The file is opened read-only and only SELECT is allowed, so no query can change
a session. Most questions are answered by the view `busy`: a row for each unit
and second (segment, register, unit, start_s, n, busy, fraction).
docs/database.md has the whole schema and worked queries.
)";

constexpr std::string_view kExamples = R"(
Examples:
  gputrace sql "SELECT unit, sum(busy) * 1.0 / sum(n) AS fraction FROM busy
                GROUP BY register, unit ORDER BY fraction DESC LIMIT 5"
  gputrace sql game.gputrace "SELECT * FROM events"
  gputrace sql --csv game.gputrace "SELECT start_s, fraction FROM busy
                WHERE unit = 'EA_BUSY'" > ea.csv
  gputrace sql "SELECT name FROM sqlite_schema"

NULL is printed as NULL (an empty field with --csv, null with --json); blobs as
their size. Exit status: 0; 1 when the file or the query fails; 2 for a wrong
command line.
)";

cxxopts::Options make_options() {
  cxxopts::Options options("gputrace sql", std::string(kDescription));
  options.custom_help("[OPTIONS] [FILE] QUERY");
  options.positional_help("");
  options.add_options()                                                      //
      ("json", "Print a JSON array with an object for each row")             //
      ("csv", "Print comma-separated values (RFC 4180) with a header line")  //
      ("timeout", "Stop a query that takes longer", cxxopts::value<double>()->default_value("30"),
       "SECONDS")  //
      ("h,help", "Show this help");
  // Two plain strings: a list would be split at the commas of the query.
  options.add_options("words")("first", "", cxxopts::value<std::string>())(
      "second", "", cxxopts::value<std::string>());
  options.parse_positional({"first", "second"});
  return options;
}

Result<std::filesystem::path> newest() {
  const Result<std::filesystem::path> folder = sessions_folder();
  return folder ? newest_session(*folder) : folder;
}

Result<QueryFormat> chosen_format(const cxxopts::ParseResult& parsed) {
  if (parsed.count("json") > 0 && parsed.count("csv") > 0) {
    return fail(ErrorCode::kUsage, "--json and --csv exclude each other");
  }
  return parsed.count("json") > 0  ? QueryFormat::kJson
         : parsed.count("csv") > 0 ? QueryFormat::kCsv
                                   : QueryFormat::kText;
}

}  // namespace

Result<int> run_sql(const std::vector<std::string>& arguments) {
  cxxopts::Options options = make_options();
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (parsed->count("help") > 0) {
    fmt::print("{}{}", options.help({""}), kExamples);
    return 0;
  }
  const Result<QueryFormat> format = chosen_format(*parsed);
  if (!format) {
    return tl::unexpected<Error>(format.error());
  }
  if (parsed->count("first") == 0) {
    return fail(ErrorCode::kUsage, "a query is needed: gputrace sql [FILE] QUERY");
  }
  const double timeout_s = (*parsed)["timeout"].as<double>();
  if (!(timeout_s > 0 && timeout_s <= 86'400)) {
    return fail(ErrorCode::kUsage, "--timeout takes seconds: more than 0, at most 86400");
  }
  const bool has_file = parsed->count("second") > 0;
  const auto first = (*parsed)["first"].as<std::string>();
  const Result<std::filesystem::path> file =
      has_file ? Result<std::filesystem::path>(first) : newest();
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  const std::string query = has_file ? (*parsed)["second"].as<std::string>() : first;
  const std::unique_ptr<QueryPrinter> printer = make_query_printer(*format, stdout);
  store::QueryLimits limits;
  limits.time_ns = std::llround(timeout_s * 1e9);
  const Status status =
      store::query_session(*file, query, limits,
                           {[&](std::span<const std::string> names) { printer->columns(names); },
                            [&](std::span<const store::QueryValue> row) -> Status {
                              printer->row(row);
                              return {};
                            }});
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  printer->end();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return fail_errno(errno, "cannot write to standard output");
  }
  return 0;
}

}  // namespace gputrace::commands
