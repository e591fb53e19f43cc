#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/commands/query_output.h"
#include "daemon/store/query.h"
#include "tests/support/make_results.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::commands {
namespace {

struct WorkedQuery {
  std::string sql;
  std::string output;
};

/// The ```sql blocks of docs/database.md, each with the ```text block that follows.
std::vector<WorkedQuery> worked_queries() {
  std::ifstream file(GPUTRACE_DOCS "/database.md");
  REQUIRE(file);
  std::vector<WorkedQuery> queries;
  std::string* block = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line == "```sql") {
      block = &queries.emplace_back().sql;
    } else if (line == "```text") {
      REQUIRE_FALSE(queries.empty());
      block = &queries.back().output;
    } else if (line == "```") {
      block = nullptr;
    } else if (block != nullptr) {
      *block += line + '\n';
    }
  }
  return queries;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

void record(const std::filesystem::path& file) {
  test::SessionRecipe recipe;
  recipe.registers = {"GRBM_STATUS", "GRBM_STATUS_SE0", "GRBM_STATUS2", "GRBM_STATUS3"};
  recipe.seconds = 12;
  recipe.word = [](std::size_t, std::size_t tick) { return tick % 3 == 0 ? 0xFFFFFFF0U : 0U; };
  auto segment = test::segment_of(recipe);
  store::SessionDescription description;
  description.kind = store::SessionKind::kRoofline;
  auto writer = store::SessionWriter::create(file, store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(segment));
  for (std::size_t second = 0; second < 12; ++second) {
    auto block = test::block_of(recipe, second * 1000, (second + 1) * 1000);
    block.totals.reads.fill(block.totals.ticks);
    block.totals.read_cost_ns.fill(block.totals.ticks * 1500);
    REQUIRE(writer->write_block(block));
  }
  const auto sensors = writer->define_sensor_source(
      {"test",
       std::nullopt,
       {{"package_power", "hwmon power1_average", "PPT", "W", sampler::SensorKind::kGauge, "", ""},
        {"dram_read", "pmu amd_umc", "", "bytes", sampler::SensorKind::kCounter, "", ""}}});
  REQUIRE(sensors);
  for (std::int64_t tick = 0; tick < 120; ++tick) {
    for (const std::int64_t series : sensors->series) {
      const std::int64_t now = recipe.start_ns + tick * 100 * kNsPerMs;
      REQUIRE(writer->write_sensor_run(
          series, {.start_ns = now, .end_ns = now, .value = 30 + static_cast<double>(tick)}));
    }
  }
  REQUIRE(writer->finish({}));
}

/// With rows in every table that the documentation asks.
std::filesystem::path make(const test::TempDir& dir) {
  std::filesystem::path file = dir.path() / "a.gputrace";
  record(file);
  const std::array runs{test::full_run()};
  REQUIRE(store::append_results(file, runs));
  return file;
}

std::string print(QueryFormat format, const std::vector<std::string>& columns,
                  const std::vector<std::vector<store::QueryValue>>& rows) {
  char* data = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&data, &size);
  const auto printer = make_query_printer(format, out);
  printer->columns(columns);
  for (const auto& row : rows) {
    printer->row(row);
  }
  printer->end();
  std::fclose(out);
  std::string text(data, size);
  std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): open_memstream's
  return text;
}

TEST_CASE("the worked queries of docs/database.md run and give the columns shown there") {
  const test::TempDir dir;
  const auto file = make(dir);
  const std::vector<WorkedQuery> queries = worked_queries();
  REQUIRE(queries.size() == 9);
  for (const WorkedQuery& query : queries) {
    CAPTURE(query.sql);
    std::vector<std::string> columns;
    std::size_t rows = 0;
    const Status status = store::query_session(
        file, query.sql, {},
        {[&](std::span<const std::string> names) { columns.assign(names.begin(), names.end()); },
         [&](std::span<const store::QueryValue> row) -> Status {
           for (const store::QueryValue& value : row) {
             CHECK_FALSE(std::holds_alternative<std::monostate>(value));
           }
           ++rows;
           return {};
         }});
    CHECK_MESSAGE(status, (status ? "" : status.error().message));
    CHECK(rows > 0);
    CHECK(columns == words_of(query.output.substr(0, query.output.find('\n'))));
  }
}

TEST_CASE("text output aligns columns, shows NULL and the size of blobs, and is safe to print") {
  const std::vector<std::vector<store::QueryValue>> rows{
      {std::int64_t{7}, std::string("EA_BUSY"), std::monostate{}},
      {0.25, std::string("x\x1b[31m"), store::BlobSize{12}}};
  CHECK(print(QueryFormat::kText, {"n", "unit", "blob"}, rows) ==
        "   n  unit       blob\n"
        "   7  EA_BUSY    NULL\n"
        "0.25  x\\x1b[31m  (12 bytes)\n"
        "(2 rows)\n");
}

TEST_CASE("text output pads by characters, not by bytes") {
  const std::vector<std::vector<store::QueryValue>> rows{
      {std::string("\xC3\xA4\xC3\xB6"), std::int64_t{1}}, {std::string("abc"), std::int64_t{20}}};
  CHECK(print(QueryFormat::kText, {"a", "b"}, rows) ==
        "a     b\n"
        "\xC3\xA4\xC3\xB6    1\n"
        "abc  20\n"
        "(2 rows)\n");
}

TEST_CASE("text output of megabytes loses no row") {
  const std::vector<std::vector<store::QueryValue>> rows(300, {std::string(100'000, 'x')});
  const std::string text = print(QueryFormat::kText, {"a"}, rows);
  CHECK(std::count(text.begin(), text.end(), '\n') == 302);
  CHECK(text.substr(text.size() - 11) == "(300 rows)\n");
}

TEST_CASE("CSV quotes what needs it and tells NULL from the empty text") {
  const std::vector<std::vector<store::QueryValue>> rows{
      {std::string("a,b"), std::string("say \"x\""), std::monostate{}, std::string()}};
  CHECK(print(QueryFormat::kCsv, {"a", "b", "c", "d"}, rows) ==
        "a,b,c,d\r\n\"a,b\",\"say \"\"x\"\"\",,\"\"\r\n");
}

TEST_CASE("JSON keeps types, null and text that is no UTF-8") {
  const std::vector<std::vector<store::QueryValue>> rows{
      {std::int64_t{1}, 0.5, std::monostate{}, std::string("\xff"), store::BlobSize{3}}};
  CHECK(print(QueryFormat::kJson, {"a", "b", "c", "d", "e"}, rows) ==
        "[\n  {\"a\":1,\"b\":0.5,\"c\":null,\"d\":\"\xEF\xBF\xBD\",\"e\":{\"blob_bytes\":3}}\n]\n");
  CHECK(print(QueryFormat::kJson, {"a"}, {}) == "[]\n");
  const std::vector<std::vector<store::QueryValue>> twice{{std::int64_t{1}, std::int64_t{2}}};
  CHECK(print(QueryFormat::kJson, {"a", "a"}, twice) == "[\n  {\"a\":1,\"a:2\":2}\n]\n");
}

}  // namespace
}  // namespace gputrace::commands
