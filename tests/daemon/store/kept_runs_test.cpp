// Runs of readings that are kept in memory are those that came, whatever they are.
#include "daemon/store/kept_runs.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "daemon/store/session_reader.h"
#include "tests/support/change_database.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

struct Row {
  std::int64_t series = 0;
  SensorRun run;
};

/// Bits, since -0 equals 0.
bool same(const Row& a, const Row& b) {
  return std::tuple(a.series, a.run.start_ns, a.run.end_ns, a.run.readings,
                    std::bit_cast<std::uint64_t>(a.run.value)) ==
         std::tuple(b.series, b.run.start_ns, b.run.end_ns, b.run.readings,
                    std::bit_cast<std::uint64_t>(b.run.value));
}

std::vector<Row> rows_of(const KeptRuns& kept) {
  std::vector<Row> rows;
  REQUIRE(kept.for_each([&](std::int64_t series, const SensorRun& run) -> Status {
    rows.push_back({series, run});
    return {};
  }));
  return rows;
}

void check_same(const std::vector<Row>& a, const std::vector<Row>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(same(a[i], b[i]));
  }
}

std::vector<Row> odd_rows() {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return {{1, {0, 0, 1, 0.0}},
          {2, {5, 5, 1, -0.0}},
          {1, {0, 0, 7, 0x1p52}},
          {1, {1, 900, std::numeric_limits<std::uint32_t>::max(), -0x1p52}},
          {3, {100, 100, 1, 0x1p53}},
          {100'000, {7, 8, 1, -1e300}},
          {1, {900, kEnd - 1, 2, 1e-310}},
          {3, {kEnd, kEnd, 1, 45.125}},
          {1, {kEnd, kEnd, 1, 3}}};
}

TEST_CASE("runs are given back as they came") {
  KeptRuns kept(std::size_t{8} << 20U);
  REQUIRE(kept.begin());
  std::vector<Row> rows = odd_rows();
  std::mt19937_64 random(1);
  std::vector<std::int64_t> end_ns(9);
  for (int i = 0; i < 300'000; ++i) {  // several chunks
    const auto series = static_cast<std::int64_t>(4 + random() % 5);
    std::int64_t& end = end_ns[static_cast<std::size_t>(series)];
    const std::int64_t start = end + 100'000'000 + static_cast<std::int64_t>(random() % 100'000);
    end = start + (random() % 4 == 0 ? static_cast<std::int64_t>(random() % 1'000'000'000) : 0);
    const auto readings = static_cast<std::uint32_t>(end > start ? 2 + random() % 9 : 1);
    const double value = static_cast<double>(random() % 1'000'000) / (random() % 2 == 0 ? 1 : 64);
    rows.push_back({series, {start, end, readings, value}});
  }
  std::int64_t id = 0;
  for (const Row& row : rows) {
    REQUIRE(kept.add(++id, row.series, row.run));
  }
  kept.finish();
  CHECK(kept.filled());
  CHECK_FALSE(kept.rest_behind().has_value());
  check_same(rows_of(kept), rows);
  CHECK_FALSE(kept.begin());
  kept.forget();
  CHECK_FALSE(kept.filled());
  CHECK(rows_of(kept).empty());
}

TEST_CASE("what there is no room for is left out, and it is said from where on") {
  KeptRuns kept(std::size_t{1} << 20U);
  REQUIRE(kept.begin());
  std::vector<Row> rows;
  std::int64_t id = 0;
  while (true) {
    const Row row{1, {id * 1000, id * 1000, 1, std::sqrt(static_cast<double>(id))}};
    if (!kept.add(10 + id, row.series, row.run)) {
      break;
    }
    rows.push_back(row);
    ++id;
  }
  CHECK(id > 50'000);
  CHECK_FALSE(kept.add(10 + id, 1, {id * 1000, id * 1000, 1, 0}));
  kept.finish();
  REQUIRE(kept.rest_behind().has_value());
  CHECK(*kept.rest_behind() == 10 + id - 1);
  check_same(rows_of(kept), rows);
}

std::filesystem::path make_file(const test::TempDir& dir, int readings) {
  std::filesystem::path file = dir.path() / "a.gputrace";
  const test::SessionRecipe recipe;
  auto writer = SessionWriter::create(file, OnExisting::kReplace, {});
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(recipe)));
  REQUIRE(writer->write_block(test::block_of(recipe, 0, 100)));
  sampler::SensorDescription power;
  power.name = "package_power";
  const auto defined = writer->define_sensor_source({"hwmon", std::nullopt, {power}});
  REQUIRE(defined);
  std::mt19937_64 random(2);
  for (int i = 0; i < readings; ++i) {
    const std::int64_t at =
        recipe.start_ns + i * 100'000'000LL + static_cast<std::int64_t>(random() % 65'536);
    const double value = static_cast<double>(random()) * 0x1p-60;
    REQUIRE(writer->write_sensor_run(defined->series.front(), {at, at, 1, value}));
  }
  REQUIRE(writer->finish({recipe.start_ns + readings * 100'000'000LL, 0, std::nullopt}));
  return file;
}

std::vector<Row> read_runs(const SessionReader& reader, std::optional<TimeSpan> span) {
  std::vector<Row> rows;
  REQUIRE(
      reader.for_each_sensor_run(span, [&](std::int64_t series, const SensorRun& run) -> Status {
        rows.push_back({series, run});
        return {};
      }));
  return rows;
}

TEST_CASE("a second pass over a file gives what the first gave, where not all of it fits too") {
  const test::TempDir dir;
  // Some 10 bytes each, which are noise: the end of the second file does not fit.
  for (const int readings : {100, 2'700'000}) {
    const auto file = make_file(dir, readings);
    const auto reader = SessionReader::open(file);
    REQUIRE(reader);
    const std::vector<Row> first = read_runs(*reader, std::nullopt);
    CHECK(first.size() == static_cast<std::size_t>(readings));
    check_same(read_runs(*reader, std::nullopt), first);
    const std::int64_t middle_ns = first[first.size() / 2].run.start_ns;
    const std::vector<Row> half = read_runs(*reader, TimeSpan{middle_ns, middle_ns + 950'000'000});
    CHECK(half.size() == 10);
  }
}

TEST_CASE("a pass that was broken off leaves nothing behind for the next one") {
  const test::TempDir dir;
  const auto file = make_file(dir, 50);
  const auto reader = SessionReader::open(file);
  REQUIRE(reader);
  int seen = 0;
  const Status refused = reader->for_each_sensor_run(std::nullopt, [&](auto, auto&) -> Status {
    return ++seen == 20 ? fail(ErrorCode::kBusy, "enough") : Status();
  });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "enough");
  CHECK(read_runs(*reader, std::nullopt).size() == 50);
}

TEST_CASE("readings out of order are an error of each pass") {
  const test::TempDir dir;
  const auto file = make_file(dir, 50);
  test::change_database(file, "UPDATE sensor_runs SET start_ns = 1 WHERE id = 40");
  const auto reader = SessionReader::open(file);
  REQUIRE(reader);
  for (int pass = 0; pass < 2; ++pass) {
    int seen = 0;
    const Status read = reader->for_each_sensor_run(std::nullopt, [&](auto, auto&) -> Status {
      ++seen;
      return {};
    });
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::kCorrupt);
    CHECK(seen == 39);
  }
}

}  // namespace
}  // namespace gputrace::store
