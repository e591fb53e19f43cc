#include "cli/commands/bench/bench_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/bench/result_file.h"
#include "cli/commands/session_folder.h"
#include "cli/report/bench_json_input.h"
#include "daemon/store/session_kind.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

namespace {

/// A full run with everything takes a tenth of this.
constexpr std::size_t kMostJsonBytes = 64 << 20;
/// The first bytes of a database (SQLite, Database File Format).
constexpr std::string_view kDatabase = "SQLite format 3";

Result<BenchSource> open_session(const std::filesystem::path& file) {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  const store::SessionKind kind = session->description().kind;
  if (kind != store::SessionKind::kBench && kind != store::SessionKind::kRoofline) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is no bench and no roofline but a {}; recordings are compared by "
                            "`gputrace compare`",
                            file.string(), store::to_string(kind)));
  }
  const Result<std::vector<store::ResultRun>> results = session->results();
  if (!results) {
    return tl::unexpected<Error>(results.error());
  }
  if (results->empty()) {
    return fail(ErrorCode::kInvalidArgument, file.string() + " has no results");
  }
  return BenchSource{file, bench_run(results->back())};
}

Result<std::string> read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return fail(ErrorCode::kInvalidArgument, file.string() + " is a folder");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return fail_errno(errno, "cannot read " + file.string());
  }
  std::string text;
  std::array<char, 65536> chunk{};
  while (in.read(chunk.data(), chunk.size()) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (text.starts_with(kDatabase)) {
      return text;  // a session; its reader reads it
    }
    if (text.size() > kMostJsonBytes) {
      return fail(ErrorCode::kInvalidArgument,
                  file.string() + " is too large to be the JSON of a bench");
    }
  }
  return text;
}

Result<BenchSource> open_file(const std::filesystem::path& file) {
  const Result<std::string> text = read_text(file);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  if (text->starts_with(kDatabase)) {
    return open_session(file);
  }
  Result<analysis::BenchRun> run = report::parse_bench_json(*text);
  if (!run) {
    return fail(run.error(),
                fmt::format("{} is neither a session nor the JSON of a bench", file.string()));
  }
  return BenchSource{file, std::move(*run)};
}

bool shares_a_test(const analysis::BenchRun& a, const analysis::BenchRun& b) {
  return std::ranges::any_of(a.tests, [&b](const analysis::TestResult& test) {
    return std::ranges::find(b.tests, test.id, &analysis::TestResult::id) != b.tests.end();
  });
}

}  // namespace

Result<BenchSource> open_bench_source(const std::string& name) {
  std::error_code error;
  if (std::filesystem::exists(name, error)) {
    return open_file(name);
  }
  const Result<std::filesystem::path> sessions = sessions_folder();
  if (sessions && name.find('/') == std::string::npos) {
    for (const std::filesystem::path& folder : {machine_folder(*sessions), *sessions}) {
      for (const std::string& candidate : {name, name + ".gputrace"}) {
        if (std::filesystem::exists(folder / candidate, error)) {
          return open_session(folder / candidate);
        }
      }
    }
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("there is neither a file {} nor a bench of that name; `gputrace list "
                          "--all` names them",
                          name));
}

Result<BenchSource> earlier_run(const BenchSource& run) {
  const auto none = [&] {
    return fail(ErrorCode::kNotFound,
                fmt::format("no earlier bench of {} with the same tests is stored; name what to "
                            "compare {} with",
                            run.run.device.name, run.file.string()));
  };
  const Result<std::filesystem::path> sessions = sessions_folder();
  if (!sessions) {
    return none();
  }
  const auto files = session_files(machine_folder(*sessions));
  std::optional<BenchSource> newest;
  for (const std::filesystem::path& file : files.value_or(std::vector<std::filesystem::path>())) {
    Result<BenchSource> other = open_session(file);
    // RFC 3339 in UTC sorts as text.
    if (other && other->run.device.name == run.run.device.name &&
        other->run.device.pci == run.run.device.pci && other->run.started_at < run.run.started_at &&
        shares_a_test(other->run, run.run) &&
        (!newest || newest->run.started_at < other->run.started_at)) {
      newest = std::move(*other);
    }
  }
  return newest ? Result<BenchSource>(std::move(*newest)) : none();
}

}  // namespace gputrace::commands
