#include "cli/commands/bench/bench_compare.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/commands/bench/bench_compare_options.h"
#include "cli/commands/bench/bench_documents.h"
#include "cli/commands/bench/bench_source.h"
#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/bench/result_file.h"
#include "cli/report/bench_json.h"
#include "daemon/store/results.h"
#include "tests/support/error_text.h"
#include "tests/support/make_results.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::commands;  // NOLINT(google-build-using-namespace)

namespace {

std::string refusal(const std::vector<std::string>& words) {
  const auto parsed = parse_bench_compare_options(words);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::kUsage);
  return parsed.error().message;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void write_session(const std::filesystem::path& path, const store::ResultRun& run,
                   store::SessionKind kind = store::SessionKind::kBench) {
  std::filesystem::create_directories(path.parent_path());
  store::SessionDescription description;
  description.kind = kind;
  description.command = std::vector<std::string>{"gputrace", "bench"};
  const Status made = store::create_result_file(path, store::OnExisting::kReplace, description, {},
                                                std::vector{run});
  REQUIRE_MESSAGE(made, test::error_text(made));
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// XDG_DATA_HOME for as long as it is there.
class DataHome {
 public:
  explicit DataHome(const std::filesystem::path& path) {
    if (const char* before = std::getenv("XDG_DATA_HOME")) {
      before_ = before;
    }
    ::setenv("XDG_DATA_HOME", path.c_str(), 1);
  }
  DataHome(const DataHome&) = delete;
  DataHome& operator=(const DataHome&) = delete;
  ~DataHome() { ::setenv("XDG_DATA_HOME", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("bench compare takes one or two runs and conditions with commas") {
  const auto two = parse_bench_compare_options(
      {"a", "--fail-on", "atomics.global/add, one word<-5%", "--fail-on=slower>5%", "b", "--json"});
  REQUIRE_MESSAGE(two, test::error_text(two));
  CHECK(two->a == std::vector<std::string>{"a"});
  CHECK(two->b == std::vector<std::string>{"b"});
  CHECK(two->json);
  REQUIRE(two->conditions.size() == 2);
  CHECK(two->conditions[0].name == "add, one word");
  CHECK(two->conditions[1].test.empty());
  CHECK(parse_bench_compare_options({"a"})->b.empty());
  const auto repeats = parse_bench_compare_options({"a,b", "c,d,e"});
  REQUIRE_MESSAGE(repeats, test::error_text(repeats));
  CHECK(repeats->a == std::vector<std::string>{"a", "b"});
  CHECK(repeats->b == std::vector<std::string>{"c", "d", "e"});
  CHECK(parse_bench_compare_options({"published:list"}));
  CHECK(parse_bench_compare_options({"--help"})->help);
}

TEST_CASE("a wrong command line of bench compare is refused") {
  CHECK(contains(refusal({}), "one or two"));
  refusal({"a", "b", "c"});
  CHECK(contains(refusal({"a", "b", "--fail-on"}), "needs a condition"));
  CHECK(contains(refusal({"a", "b", "--fail-on", "slower"}), "neither"));
  CHECK(contains(refusal({"published:x", "a"}), "name the run first"));
  CHECK(contains(refusal({"published:x"}), "name the run first"));
  CHECK(contains(refusal({"a", "published:x", "--fail-on", "slower>5%"}), "intervals"));
  refusal({"a", "b", "--color", "red"});
  CHECK(contains(refusal({""}), "no name"));
  CHECK(contains(refusal({"a,a", "b"}), "no repeat of itself"));
  CHECK(contains(refusal({"a,,b", "c"}), "empty name"));
  CHECK(contains(refusal({"a,b"}), "second side"));
  CHECK(contains(refusal({"a,b", "published:x"}), "beside one run"));
  CHECK(contains(refusal({"a", "b,published:x"}), "beside one run"));
  std::size_t column = 0;
  for (const char c : bench_compare_help()) {
    column = c == '\n' ? 0 : column + 1;
    CHECK(column <= 80);
  }
}

TEST_CASE("runs are found by file, by name, and as JSON") {
  const test::TempDir folder;
  const DataHome home(folder.path());
  const auto file = folder.path() / "gputrace" / "machine" / "bench-a.gputrace";
  write_session(file, test::full_run());
  for (const std::string& name :
       {file.string(), std::string("bench-a.gputrace"), std::string("bench-a")}) {
    CAPTURE(name);
    const auto source = open_bench_source(name);
    REQUIRE_MESSAGE(source, test::error_text(source));
    CHECK(source->run.device.name == "AMD Radeon 780M");
    CHECK(source->run.tests.size() == 2);
  }
  const auto json = folder.path() / "a.json";
  std::ofstream(json) << report::render_bench_json(bench_run(test::full_run()));
  const auto read_back = open_bench_source(json.string());
  REQUIRE_MESSAGE(read_back, test::error_text(read_back));
  CHECK(read_back->run.tests.size() == 2);
}

TEST_CASE("what is no run of the bench is refused with what it is") {
  const test::TempDir folder;
  const DataHome home(folder.path());
  const auto message = [](const std::filesystem::path& path) {
    const auto source = open_bench_source(path.string());
    REQUIRE_FALSE(source);
    return source.error().message;
  };
  CHECK(contains(message("nothing-here"), "gputrace list --all"));
  CHECK(contains(message(folder.path()), "folder"));
  std::ofstream(folder.path() / "text") << "hello\n";
  CHECK(contains(message(folder.path() / "text"), "neither a session nor"));
  write_session(folder.path() / "cal.gputrace", test::full_run(), store::SessionKind::kCalibration);
  CHECK(contains(message(folder.path() / "cal.gputrace"), "calibration"));
}

TEST_CASE("one run alone is compared with the newest earlier one of its device") {
  const test::TempDir folder;
  const DataHome home(folder.path());
  const auto machine = folder.path() / "gputrace" / "machine";
  store::ResultRun run = test::full_run();
  write_session(machine / "now.gputrace", run);
  const auto now = open_bench_source("now");
  REQUIRE(now);
  REQUIRE_FALSE(earlier_run(*now));
  CHECK(contains(earlier_run(*now).error().message, "no earlier bench"));
  run.started_at = "2026-11-29T14:00:00Z";
  write_session(machine / "yesterday.gputrace", run);
  run.started_at = "2026-11-28T14:00:00Z";
  write_session(machine / "before.gputrace", run);
  run.started_at = "2026-12-01T14:00:00Z";
  write_session(machine / "later.gputrace", run);
  run.started_at = "2026-11-30T13:00:00Z";
  run.device = "another GPU";
  write_session(machine / "other.gputrace", run);
  run = test::full_run();
  run.started_at = "2026-11-30T13:30:00Z";
  run.tests.resize(1);
  run.tests[0].name = "another.test";
  write_session(machine / "else.gputrace", run);
  const auto earlier = earlier_run(*now);
  REQUIRE_MESSAGE(earlier, test::error_text(earlier));
  CHECK(earlier->file.filename() == "yesterday.gputrace");
}

TEST_CASE("the exit status is 3 when a condition holds") {
  const test::TempDir folder;
  const DataHome home(folder.path());
  store::ResultRun run = test::full_run();
  const auto set_drifts = [&run](bool drifts) {
    for (store::ResultTest& test : run.tests) {
      for (store::ResultSeries& series : test.series) {
        for (store::ResultPoint& point : series.points) {
          point.drifts = drifts;
        }
      }
    }
  };
  set_drifts(false);
  const auto a = (folder.path() / "a.gputrace").string();
  const auto b = (folder.path() / "b.gputrace").string();
  write_session(a, run);
  for (store::ResultPoint& point : run.tests[0].series[0].points) {
    for (auto* value : {&point.median, &point.p5, &point.p95}) {
      *value = value->value_or(0) / 2;
    }
  }
  write_session(b, run);
  const auto status = [](const std::vector<std::string>& words) {
    const auto result = run_bench_compare(words);
    return result ? *result : -1;
  };
  CHECK(status({a, b, "--json"}) == 0);
  CHECK(status({a, b, "--fail-on", "slower>5%"}) == 3);
  CHECK(status({a, b, "--fail-on", "roofline.sweep/wave32<-40%"}) == 3);
  CHECK(status({b, a, "--fail-on", "slower>5%"}) == 0);
  const auto again = (folder.path() / "again.gputrace").string();
  std::filesystem::copy_file(a, again);
  CHECK(status({a + "," + again, b, "--fail-on", "slower>5%"}) == 3);
  CHECK(status({a, again, "--fail-on", "slower>0%"}) == 0);
  CHECK(status({a + ",nowhere", b}) == -1);
  // A disturbed run alone is no witness; with repeats it is.
  set_drifts(true);
  const auto busy = (folder.path() / "busy.gputrace").string();
  write_session(busy, run);
  CHECK(status({a, busy, "--fail-on", "slower>5%"}) == -1);
  CHECK(status({a, busy}) == 0);
  CHECK(status({a + "," + again, busy, "--fail-on", "slower>5%"}) == 3);
  CHECK(status({a, b, "--fail-on", "nothing<-40%"}) == -1);
  CHECK(status({a, "published:780m"}) == 0);
  CHECK(status({a, "published:voodoo"}) == -1);
  CHECK(status({"published:list"}) == 0);
}

TEST_CASE("drawings get a folder and the names of tests, and replace only drawings") {
  const test::TempDir folder;
  const auto drawings = folder.path() / "new" / "folder";
  const analysis::BenchRun run = bench_run(test::full_run());
  const Status written = write_drawings(run, drawings);
  REQUIRE_MESSAGE(written, test::error_text(written));
  CHECK(read(drawings / "roofline.sweep.svg").starts_with("<svg"));
  CHECK(write_drawings(run, drawings));  // again
  std::ofstream(drawings / "roofline.sweep.svg") << "my notes";
  const Status refused = write_drawings(run, drawings);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(read(drawings / "roofline.sweep.svg") == "my notes");
  std::ofstream(folder.path() / "file") << "x";
  CHECK_FALSE(create_drawings_folder(folder.path() / "file"));
  CHECK_FALSE(write_drawings(analysis::BenchRun(), drawings));
  // Names from files lead nowhere else.
  analysis::BenchRun hostile = run;
  hostile.tests[0].id = "../../escape";
  REQUIRE(write_drawings(hostile, drawings));
  CHECK(std::filesystem::exists(drawings / "_._.._escape.svg"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "escape.svg"));
  const auto page = folder.path() / "page.html";
  REQUIRE(write_bench_page(run, page));
  CHECK(read(page).starts_with("<!DOCTYPE html>"));
}
