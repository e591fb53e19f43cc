#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "daemon/store/result_names.h"
#include "daemon/store/result_rows.h"

namespace gputrace::store {

namespace {

/// Reads the columns of a row one after the other.
class RowReader {
 public:
  RowReader(const Statement& row, int first_column) : row_(row), column_(first_column) {}

  [[nodiscard]] std::string text() {
    const int column = column_++;
    if (row_.blob(column).size() > kMaxResultText) {
      is_sound_ = false;
      return {};
    }
    return row_.text(column);
  }
  [[nodiscard]] std::optional<std::string> optional_text() {
    const bool absent = row_.is_null(column_);
    std::string value = text();
    return absent ? std::nullopt : std::optional(std::move(value));
  }
  [[nodiscard]] double real() {
    const double value = row_.real(column_++);
    is_sound_ = is_sound_ && std::isfinite(value);
    return value;
  }
  [[nodiscard]] std::optional<double> optional_real() {
    const bool absent = row_.is_null(column_);
    const double value = real();
    return absent ? std::nullopt : std::optional(value);
  }
  [[nodiscard]] std::int64_t integer(std::int64_t most) {
    const std::int64_t value = row_.integer(column_++);
    is_sound_ = is_sound_ && value >= 0 && value <= most;
    return value;
  }
  [[nodiscard]] std::uint32_t count() {
    return static_cast<std::uint32_t>(integer(std::numeric_limits<std::uint32_t>::max()));
  }
  [[nodiscard]] std::optional<std::uint32_t> optional_count() {
    const bool absent = row_.is_null(column_);
    const std::uint32_t value = count();
    return absent ? std::nullopt : std::optional(value);
  }
  [[nodiscard]] std::optional<std::int64_t> optional_time() {
    const bool absent = row_.is_null(column_);
    const std::int64_t value = integer(std::numeric_limits<std::int64_t>::max());
    return absent ? std::nullopt : std::optional(value);
  }
  [[nodiscard]] bool flag() { return integer(1) == 1; }
  [[nodiscard]] ResultStatus status() { return named(kResultStatuses); }
  [[nodiscard]] ResultProof proof() { return named(kResultProofs); }
  /// "[32,64]".
  [[nodiscard]] std::vector<std::uint32_t> sizes() {
    const std::string list = text();
    std::vector<std::uint32_t> sizes;
    const std::string_view view(list);
    is_sound_ = is_sound_ && view.size() >= 2 && view.front() == '[' && view.back() == ']';
    const char* end = view.data() + (is_sound_ ? view.size() - 1 : 0);
    for (const char* at = view.data() + (is_sound_ ? 1 : 0); is_sound_ && at < end;) {
      const auto [next, error] = std::from_chars(at, end, sizes.emplace_back());
      is_sound_ = error == std::errc() && (next == end || *next == ',') &&
                  sizes.size() <= kMaxSubgroupSizes;
      at = next == end ? end : next + 1;
    }
    return sizes;
  }

  [[nodiscard]] Status finish(std::string_view what) const {
    return is_sound_ ? Status()
                     : fail(ErrorCode::kCorrupt, fmt::format("{} with an impossible value", what));
  }

 private:
  template <class Table>
  typename Table::value_type::first_type named(const Table& table) {
    const std::string name = text();
    const auto* found = std::find_if(table.begin(), table.end(),
                                     [&](const auto& row) { return row.second == name; });
    is_sound_ = is_sound_ && found != table.end();
    return found == table.end() ? table.front().first : found->first;
  }

  const Statement& row_;
  int column_;
  bool is_sound_ = true;
};

/// Where a row's test is: a run's, and the index in it.
using Tests = std::map<std::int64_t, std::pair<std::size_t, std::size_t>>;

Status load_runs(Database& database, std::vector<ResultRun>& runs,
                 std::map<std::int64_t, std::size_t>& by_id) {
  return for_each_row(
      database,
      "SELECT id, started_at, device, pci, vendor_id, device_id, revision_id, driver, driver_info, "
      "subgroup_sizes, simulated, quick, cancelled, clock_mhz, power_w, "
      "temperature_c FROM bench_runs ORDER BY id",
      [&](const Statement& row) -> Status {
        if (runs.size() == kMaxResultRuns) {
          return fail(ErrorCode::kCorrupt, "too many runs of a bench");
        }
        by_id[row.integer(0)] = runs.size();
        RowReader columns(row, 1);
        ResultRun& run = runs.emplace_back();
        run.started_at = columns.text();
        run.device = columns.text();
        run.pci = columns.optional_text();
        run.vendor_id = columns.optional_count();
        run.device_id = columns.optional_count();
        run.revision_id = columns.optional_count();
        run.driver = columns.text();
        run.driver_info = columns.text();
        run.subgroup_sizes = columns.sizes();
        run.simulated = columns.flag();
        run.quick = columns.flag();
        run.cancelled = columns.flag();
        run.clock_mhz = columns.optional_real();
        run.power_w = columns.optional_real();
        run.temperature_c = columns.optional_real();
        return columns.finish("a run of a bench");
      });
}

Status load_tests(Database& database, std::vector<ResultRun>& runs,
                  const std::map<std::int64_t, std::size_t>& by_id, Tests& tests) {
  return for_each_row(
      database,
      "SELECT id, run, name, status, why, unit, axis, axis_unit, result_proof, isa_proof, "
      "rate_proof, start_ns, end_ns FROM bench_tests ORDER BY id",
      [&](const Statement& row) -> Status {
        const auto run = by_id.find(row.integer(1));
        if (run == by_id.end() || tests.size() == kMaxResultTests) {
          return fail(ErrorCode::kCorrupt, "a test of a bench without its run, or too many");
        }
        std::vector<ResultTest>& of_run = runs[run->second].tests;
        tests[row.integer(0)] = {run->second, of_run.size()};
        RowReader columns(row, 2);
        ResultTest& test = of_run.emplace_back();
        test.name = columns.text();
        test.status = columns.status();
        test.why = columns.text();
        test.unit = columns.text();
        test.axis = columns.text();
        test.axis_unit = columns.text();
        test.result = columns.proof();
        test.isa = columns.proof();
        test.rate = columns.proof();
        test.start_ns = columns.optional_time();
        test.end_ns = columns.optional_time();
        return columns.finish("a test of a bench");
      });
}

void read_point(RowReader& columns, ResultTest& test) {
  std::string series = columns.text();
  if (test.series.empty() || test.series.back().name != series) {
    test.series.push_back({std::move(series), {}});
  }
  ResultPoint& point = test.series.back().points.emplace_back();
  point.x = columns.real();
  point.median = columns.optional_real();
  point.p5 = columns.optional_real();
  point.p95 = columns.optional_real();
  point.samples = columns.count();
  point.status = columns.status();
  point.why = columns.text();
  point.drifts = columns.flag();
  point.code_bytes = columns.optional_real();
  point.vgprs = columns.optional_real();
  point.waves_per_simd = columns.optional_real();
  point.clock_before_mhz = columns.optional_real();
  point.clock_after_mhz = columns.optional_real();
  point.power_w = columns.optional_real();
  point.start_ns = columns.optional_time();
  point.end_ns = columns.optional_time();
}

void read_count(RowReader& columns, ResultTest& test) {
  ResultCount& count = test.counts.emplace_back();
  count.kernel = columns.text();
  count.operation = columns.text();
  count.formula = columns.real();
  count.isa = columns.optional_real();
}

void read_value(RowReader& columns, ResultTest& test) {
  ResultValue& value = test.values.emplace_back();
  value.what = columns.text();
  value.value = columns.real();
  value.lower = columns.optional_real();
  value.upper = columns.optional_real();
  value.unit = columns.text();
  value.confidence = columns.text();
  value.source = columns.text();
}

/// Rows whose first column is the test that they belong to.
Status load_rows_of_tests(Database& database, std::string_view sql, std::vector<ResultRun>& runs,
                          const Tests& tests,
                          const std::function<void(RowReader&, ResultTest&)>& read) {
  std::size_t rows = 0;
  return for_each_row(database, sql, [&](const Statement& row) -> Status {
    const auto owner = tests.find(row.integer(0));
    if (owner == tests.end() || ++rows > kMaxRowsOfTests) {
      return fail(ErrorCode::kCorrupt, "a result of a bench without its test, or too many");
    }
    RowReader columns(row, 1);
    read(columns, runs[owner->second.first].tests[owner->second.second]);
    return columns.finish("a result of a bench");
  });
}

}  // namespace

Result<std::vector<ResultRun>> load_results(Database& database) {
  std::vector<ResultRun> runs;
  std::map<std::int64_t, std::size_t> run_by_id;
  Tests tests;
  Status status = load_runs(database, runs, run_by_id);
  if (status) {
    status = load_tests(database, runs, run_by_id, tests);
  }
  if (status) {
    status = load_rows_of_tests(
        database,
        "SELECT test, series, x, median, p5, p95, samples, status, why, drifts, code_bytes, vgprs, "
        "waves_per_simd, clock_before_mhz, clock_after_mhz, power_w, start_ns, end_ns "
        "FROM bench_points ORDER BY id",
        runs, tests, read_point);
  }
  if (status) {
    status = load_rows_of_tests(
        database, "SELECT test, kernel, operation, formula, isa FROM bench_counts ORDER BY id",
        runs, tests, read_count);
  }
  if (status) {
    status = load_rows_of_tests(
        database,
        "SELECT test, what, value, lower, upper, unit, confidence, source FROM bench_values "
        "ORDER BY id",
        runs, tests, read_value);
  }
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return runs;
}

}  // namespace gputrace::store
