// Results of benches in session files: what is stored comes back, and a fault leaves no half of it.
#include "daemon/store/results.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <limits>

#include "daemon/store/query.h"
#include "daemon/store/session_reader.h"
#include "tests/support/change_database.h"
#include "tests/support/error_text.h"
#include "tests/support/in_child.h"
#include "tests/support/make_results.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using std::filesystem::path;
using test::error_text;

constexpr TimeAnchor kStarted{5'000'000'000, 6'000'000'000, 1'790'000'000'000'000'000};

SessionDescription bench() {
  SessionDescription description;
  description.kind = SessionKind::kBench;
  description.started = kStarted;
  description.command = {"gputrace", "bench", "fill"};
  return description;
}

path make(const test::TempDir& dir) {
  path file = dir.path() / "bench.gputrace";
  const std::array runs{test::full_run(), test::bare_run()};
  const Status created =
      create_result_file(file, OnExisting::kRefuse, bench(), {7'000'000'000, 0, {}}, runs);
  REQUIRE_MESSAGE(created, error_text(created));
  return file;
}

std::vector<ResultRun> results_of(const path& file) {
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE_MESSAGE(reader, error_text(reader));
  Result<std::vector<ResultRun>> runs = reader->results();
  REQUIRE_MESSAGE(runs, error_text(runs));
  return std::move(*runs);
}

void check_same(const ResultPoint& a, const ResultPoint& b) {
  CHECK(a.x == b.x);
  CHECK(a.median == b.median);
  CHECK(a.p5 == b.p5);
  CHECK(a.p95 == b.p95);
  CHECK(a.samples == b.samples);
  CHECK(a.status == b.status);
  CHECK(a.why == b.why);
  CHECK(a.drifts == b.drifts);
  CHECK(a.code_bytes == b.code_bytes);
  CHECK(a.vgprs == b.vgprs);
  CHECK(a.waves_per_simd == b.waves_per_simd);
  CHECK(a.clock_before_mhz == b.clock_before_mhz);
  CHECK(a.clock_after_mhz == b.clock_after_mhz);
  CHECK(a.power_w == b.power_w);
  CHECK(a.start_ns == b.start_ns);
  CHECK(a.end_ns == b.end_ns);
}

void check_same(const ResultTest& a, const ResultTest& b) {
  CHECK(a.name == b.name);
  CHECK(a.status == b.status);
  CHECK(a.why == b.why);
  CHECK(a.unit == b.unit);
  CHECK(a.axis == b.axis);
  CHECK(a.axis_unit == b.axis_unit);
  CHECK(a.result == b.result);
  CHECK(a.isa == b.isa);
  CHECK(a.rate == b.rate);
  CHECK(a.start_ns == b.start_ns);
  CHECK(a.end_ns == b.end_ns);
  REQUIRE(a.series.size() == b.series.size());
  for (std::size_t i = 0; i < a.series.size(); ++i) {
    CHECK(a.series[i].name == b.series[i].name);
    REQUIRE(a.series[i].points.size() == b.series[i].points.size());
    for (std::size_t j = 0; j < a.series[i].points.size(); ++j) {
      check_same(a.series[i].points[j], b.series[i].points[j]);
    }
  }
  REQUIRE(a.counts.size() == b.counts.size());
  for (std::size_t i = 0; i < a.counts.size(); ++i) {
    CHECK(a.counts[i].kernel == b.counts[i].kernel);
    CHECK(a.counts[i].operation == b.counts[i].operation);
    CHECK(a.counts[i].formula == b.counts[i].formula);
    CHECK(a.counts[i].isa == b.counts[i].isa);
  }
  REQUIRE(a.values.size() == b.values.size());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    CHECK(a.values[i].what == b.values[i].what);
    CHECK(a.values[i].value == b.values[i].value);
    CHECK(a.values[i].lower == b.values[i].lower);
    CHECK(a.values[i].upper == b.values[i].upper);
    CHECK(a.values[i].unit == b.values[i].unit);
    CHECK(a.values[i].confidence == b.values[i].confidence);
    CHECK(a.values[i].source == b.values[i].source);
  }
}

void check_same(const ResultRun& a, const ResultRun& b) {
  CHECK(a.started_at == b.started_at);
  CHECK(a.device == b.device);
  CHECK(a.pci == b.pci);
  CHECK(a.vendor_id == b.vendor_id);
  CHECK(a.device_id == b.device_id);
  CHECK(a.revision_id == b.revision_id);
  CHECK(a.driver == b.driver);
  CHECK(a.driver_info == b.driver_info);
  CHECK(a.subgroup_sizes == b.subgroup_sizes);
  CHECK(a.simulated == b.simulated);
  CHECK(a.quick == b.quick);
  CHECK(a.cancelled == b.cancelled);
  CHECK(a.clock_mhz == b.clock_mhz);
  CHECK(a.power_w == b.power_w);
  CHECK(a.temperature_c == b.temperature_c);
  REQUIRE(a.tests.size() == b.tests.size());
  for (std::size_t i = 0; i < a.tests.size(); ++i) {
    check_same(a.tests[i], b.tests[i]);
  }
}

TEST_CASE("a file of results without a recording gives back every field, and what was absent") {
  const test::TempDir dir;
  const path file = make(dir);
  const std::vector<ResultRun> runs = results_of(file);
  REQUIRE(runs.size() == 2);
  check_same(runs[0], test::full_run());
  check_same(runs[1], test::bare_run());
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE(reader);
  CHECK(reader->description().kind == SessionKind::kBench);
  CHECK(reader->segments().empty());
  CHECK_FALSE(reader->span());
  REQUIRE(reader->end());
  CHECK(reader->end()->end_ns == 7'000'000'000);
  CHECK_FALSE(reader->in_use());
  CHECK(std::filesystem::status(file).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("results are added to a finished recording, which stays as it was") {
  const test::TempDir dir;
  const path file = dir.path() / "roofline.gputrace";
  SessionDescription description = bench();
  description.kind = SessionKind::kRoofline;
  {
    Result<SessionWriter> writer = SessionWriter::create(file, OnExisting::kRefuse, description);
    REQUIRE(writer);
    const test::SessionRecipe recipe;
    REQUIRE(writer->begin_segment(test::segment_of(recipe)));
    REQUIRE(writer->write_block(test::block_of(recipe, 0, 1000)));
    REQUIRE(writer->finish({}));
  }
  const std::array first{test::full_run()};
  const std::array second{test::bare_run()};
  REQUIRE(append_results(file, first));
  REQUIRE(append_results(file, second));
  const std::vector<ResultRun> runs = results_of(file);
  REQUIRE(runs.size() == 2);
  check_same(runs[0], first[0]);
  check_same(runs[1], second[0]);
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE(reader);
  REQUIRE(reader->segments().size() == 1);
  CHECK(reader->segments()[0].totals.ticks == 1000);
}

TEST_CASE("the view bench has a row for each point, suspect where its test is") {
  const test::TempDir dir;
  ResultRun run = test::full_run();
  run.tests[1].series = {{"constant", {test::point_of(0, 40)}}};
  const path file = dir.path() / "bench.gputrace";
  REQUIRE(create_result_file(file, OnExisting::kRefuse, bench(), {}, std::span(&run, 1)));
  std::string rows;
  REQUIRE(query_session(file, "SELECT test, series, x, x_unit, status FROM bench ORDER BY test", {},
                        {[](std::span<const std::string>) {},
                         [&](std::span<const QueryValue> row) -> Status {
                           for (const std::size_t i : {0U, 1U, 3U, 4U}) {
                             rows += std::get<std::string>(row[i]) + ' ';
                           }
                           rows += std::to_string(std::get<double>(row[2])) + '\n';
                           return {};
                         }}));
  CHECK(rows ==
        "fill.rgba8 constant  suspect 0.000000\n"
        "roofline.sweep wave32 FLOP/B ok 0.250000\n"
        "roofline.sweep wave32 FLOP/B ok 512.000000\n"
        "roofline.sweep wave64 FLOP/B skipped 0.500000\n");
}

TEST_CASE("a reason of any length is shortened, and the results are kept") {
  const test::TempDir dir;
  ResultRun run = test::full_run();
  run.tests[1].why = std::string(100'000, 'x');
  const path file = dir.path() / "bench.gputrace";
  REQUIRE(create_result_file(file, OnExisting::kRefuse, bench(), {}, std::span(&run, 1)));
  CHECK(results_of(file)[0].tests[1].why == std::string(4096, 'x'));
}

TEST_CASE("values that are no results are refused, and nothing of the run is stored") {
  const test::TempDir dir;
  const path file = make(dir);
  ResultRun run = test::full_run();
  SUBCASE("a rate without end") {
    run.tests[0].series[0].points[1].median = std::numeric_limits<double>::infinity();
  }
  SUBCASE("a place on the axis that is no number") {
    run.tests[0].series[0].points[1].x = std::numeric_limits<double>::quiet_NaN();
  }
  SUBCASE("a derived value without end") {
    run.tests[0].values[1].value = std::numeric_limits<double>::infinity();
  }
  SUBCASE("a name of a megabyte") {
    run.tests[0].counts[1].kernel = std::string(1'000'000, 'x');
  }
  SUBCASE("a negative time") {
    run.tests[0].start_ns = -1;
  }
  const Status status = append_results(file, std::span(&run, 1));
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kInvalidArgument);
  CHECK(status.error().message.find("bench.gputrace") != std::string::npos);
  CHECK(status.error().message.find("roofline.sweep") != std::string::npos);
  CHECK(results_of(file).size() == 2);
}

TEST_CASE("files that take no results say why and stay as they are") {
  const test::TempDir dir;
  const std::array runs{test::full_run()};
  SUBCASE("an import") {
    const path file = dir.path() / "a.gputrace";
    SessionDescription description;
    description.kind = SessionKind::kImport;
    REQUIRE(SessionWriter::create(file, OnExisting::kRefuse, description)->finish({}));
    const Status status = append_results(file, runs);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kInvalidArgument);
    CHECK(results_of(file).empty());
  }
  SUBCASE("a file of an older version") {
    const path file = dir.path() / "a.gputrace";
    std::filesystem::copy_file(path(GPUTRACE_FIXTURES) / "sessions/version_2.gputrace", file);
    const Status status = append_results(file, runs);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kUnsupported);
    CHECK(status.error().message.find("format version 2") != std::string::npos);
  }
  SUBCASE("a file of a newer version") {
    const path file = make(dir);
    test::change_database(file, "PRAGMA user_version = 99");
    CHECK(append_results(file, runs).error().code == ErrorCode::kUnsupported);
  }
  SUBCASE("a foreign table beside ours") {
    const path file = make(dir);
    test::change_database(file, "CREATE TABLE t(x)");
    CHECK(append_results(file, runs).error().code == ErrorCode::kCorrupt);
  }
  SUBCASE("a file that is still being recorded") {
    const path file = dir.path() / "a.gputrace";
    std::array<int, 2> done{};
    REQUIRE(::pipe(done.data()) == 0);
    const UniqueFd read_end(done[0]);
    UniqueFd write_end(done[1]);
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    const UniqueFd ready_read(ready[0]);
    UniqueFd ready_write(ready[1]);
    const pid_t recorder = ::fork();
    REQUIRE(recorder >= 0);
    char byte = 0;
    if (recorder == 0) {
      write_end.reset();
      auto writer = SessionWriter::create(file, OnExisting::kRefuse, bench());
      const bool begun = writer && writer->write_anchor(kStarted) && writer->commit();
      const bool told = ::write(ready_write.get(), begun ? "y" : "n", 1) == 1;
      const bool asked = ::read(read_end.get(), &byte, 1) == 0;
      ::_exit(told && asked ? 0 : 1);
    }
    ready_write.reset();
    REQUIRE(::read(ready_read.get(), &byte, 1) == 1);
    REQUIRE(byte == 'y');
    const Status status = append_results(file, runs);
    write_end.reset();
    int end = 0;
    REQUIRE(::waitpid(recorder, &end, 0) == recorder);
    CHECK(end == 0);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kBusy);
  }
  SUBCASE("a symbolic link") {
    const path link = dir.path() / "link.gputrace";
    std::filesystem::create_symlink(make(dir), link);
    CHECK(append_results(link, runs).error().code == ErrorCode::kInvalidArgument);
  }
  SUBCASE("no file") {
    CHECK(append_results(dir.path() / "no.gputrace", runs).error().code == ErrorCode::kNotFound);
  }
  SUBCASE("a name that is taken") {
    const path file = make(dir);
    const Status status = create_result_file(file, OnExisting::kRefuse, bench(), {}, runs);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kExists);
    CHECK(results_of(file).size() == 2);
  }
}

/// With the file size limit of a full disk.
std::string on_full_disk(const std::function<Status()>& store) {
  return test::in_child([&]() -> std::string {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{60'000, 60'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = store();
    return status ? "stored" : status.error().code == ErrorCode::kNoSpace ? "no space" : "other";
  });
}

TEST_CASE("on a full disk results are an error, and the file is what it was or not there") {
  const test::TempDir dir;
  ResultRun run = test::full_run();
  for (int i = 0; i < 3000; ++i) {
    run.tests[0].series[0].points.push_back(test::point_of(i, i));
  }
  const path file = make(dir);
  CHECK(on_full_disk([&] { return append_results(file, std::span(&run, 1)); }) == "no space");
  CHECK(results_of(file).size() == 2);
  const path fresh = dir.path() / "new.gputrace";
  CHECK(on_full_disk([&] {
          return create_result_file(fresh, OnExisting::kRefuse, bench(), {}, std::span(&run, 1));
        }) == "no space");
  CHECK_FALSE(std::filesystem::exists(fresh));
}

}  // namespace
}  // namespace gputrace::store
