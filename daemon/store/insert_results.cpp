#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "daemon/store/result_names.h"
#include "daemon/store/result_rows.h"

namespace gputrace::store {

namespace {

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [value](const auto& row) { return row.first == value; });
  GPUTRACE_CHECK(found != table.end());
  return found->second;
}

/// Binds the columns of a row one after the other.
class RowWriter {
 public:
  explicit RowWriter(Statement& statement) : statement_(statement) {}

  RowWriter& put(const std::string& text) {
    is_sound_ = is_sound_ && text.size() <= kMaxResultText;
    statement_.bind(++column_, text);
    return *this;
  }
  RowWriter& put(const std::optional<std::string>& text) {
    is_sound_ = is_sound_ && text.value_or("").size() <= kMaxResultText;
    statement_.bind_optional(++column_, text);
    return *this;
  }
  RowWriter& put(double value) {
    is_sound_ = is_sound_ && std::isfinite(value);
    statement_.bind(++column_, value);
    return *this;
  }
  RowWriter& put(const std::optional<double>& value) {
    is_sound_ = is_sound_ && std::isfinite(value.value_or(0));
    statement_.bind_optional(++column_, value);
    return *this;
  }
  RowWriter& put(std::int64_t value) {
    statement_.bind(++column_, value);
    return *this;
  }
  template <class Integer>
  RowWriter& put(const std::optional<Integer>& value) {
    is_sound_ = is_sound_ && value.value_or(0) >= 0;
    statement_.bind_optional(++column_, value);
    return *this;
  }
  RowWriter& put(bool value) { return put(std::int64_t{value ? 1 : 0}); }
  RowWriter& put(ResultStatus status) { return name(name_in(kResultStatuses, status)); }
  RowWriter& put(ResultProof proof) { return name(name_in(kResultProofs, proof)); }
  /// A reason may quote anything.
  RowWriter& shortened(const std::string& text) {
    return name(std::string_view(text).substr(0, kMaxResultText));
  }

  /// Returns the row's id.
  Result<std::int64_t> run() {
    if (!is_sound_) {
      return fail(ErrorCode::kInvalidArgument,
                  "a number that is not finite, a negative time or a text that is too long");
    }
    const Result<bool> row = statement_.step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    const std::int64_t id = statement_.integer(0);
    statement_.reset();
    return id;
  }

 private:
  RowWriter& name(std::string_view text) {
    statement_.bind(++column_, text);
    return *this;
  }

  Statement& statement_;
  int column_ = 0;
  bool is_sound_ = true;
};

class ResultWriter {
 public:
  static Result<ResultWriter> create(Database& database) {
    Result<Statement> run = database.prepare(
        "INSERT INTO bench_runs (started_at, device, pci, vendor_id, device_id, revision_id, "
        "driver, driver_info, subgroup_sizes, simulated, quick, cancelled, clock_mhz, "
        "power_w, temperature_c) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
    Result<Statement> test = database.prepare(
        "INSERT INTO bench_tests (run, name, status, why, unit, axis, axis_unit, result_proof, "
        "isa_proof, rate_proof, start_ns, end_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "RETURNING id");
    Result<Statement> point = database.prepare(
        "INSERT INTO bench_points (test, series, x, median, p5, p95, samples, status, why, drifts, "
        "code_bytes, vgprs, waves_per_simd, clock_before_mhz, clock_after_mhz, power_w, start_ns, "
        "end_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
    Result<Statement> count = database.prepare(
        "INSERT INTO bench_counts (test, kernel, operation, formula, isa) VALUES (?, ?, ?, ?, ?) "
        "RETURNING id");
    Result<Statement> value = database.prepare(
        "INSERT INTO bench_values (test, what, value, lower, upper, unit, confidence, source) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
    for (const Result<Statement>* statement : {&run, &test, &point, &count, &value}) {
      if (!*statement) {
        return tl::unexpected<Error>(statement->error());
      }
    }
    return ResultWriter(std::move(*run), std::move(*test), std::move(*point), std::move(*count),
                        std::move(*value));
  }

  Status add(const ResultRun& run) {
    const Result<std::int64_t> id =
        RowWriter(insert_run_)
            .put(run.started_at)
            .put(run.device)
            .put(run.pci)
            .put(run.vendor_id)
            .put(run.device_id)
            .put(run.revision_id)
            .put(run.driver)
            .put(run.driver_info)
            .put(fmt::format("[{}]", fmt::join(run.subgroup_sizes, ",")))
            .put(run.simulated)
            .put(run.quick)
            .put(run.cancelled)
            .put(run.clock_mhz)
            .put(run.power_w)
            .put(run.temperature_c)
            .run();
    if (!id) {
      return fail(id.error(), "the run on " + run.device);
    }
    for (const ResultTest& test : run.tests) {
      if (Status status = add(*id, test); !status) {
        return fail(status.error(), "test " + test.name);
      }
    }
    return {};
  }

 private:
  ResultWriter(Statement run, Statement test, Statement point, Statement count, Statement value)
      : insert_run_(std::move(run)),
        insert_test_(std::move(test)),
        insert_point_(std::move(point)),
        insert_count_(std::move(count)),
        insert_value_(std::move(value)) {}

  Status add(std::int64_t run, const ResultTest& test) {
    const Result<std::int64_t> id = RowWriter(insert_test_)
                                        .put(run)
                                        .put(test.name)
                                        .put(test.status)
                                        .shortened(test.why)
                                        .put(test.unit)
                                        .put(test.axis)
                                        .put(test.axis_unit)
                                        .put(test.result)
                                        .put(test.isa)
                                        .put(test.rate)
                                        .put(test.start_ns)
                                        .put(test.end_ns)
                                        .run();
    if (!id) {
      return tl::unexpected<Error>(id.error());
    }
    for (const ResultSeries& series : test.series) {
      for (const ResultPoint& point : series.points) {
        if (const auto row = add(*id, series.name, point); !row) {
          return tl::unexpected<Error>(row.error());
        }
      }
    }
    for (const ResultCount& count : test.counts) {
      if (const auto row = RowWriter(insert_count_)
                               .put(*id)
                               .put(count.kernel)
                               .put(count.operation)
                               .put(count.formula)
                               .put(count.isa)
                               .run();
          !row) {
        return tl::unexpected<Error>(row.error());
      }
    }
    for (const ResultValue& value : test.values) {
      if (const auto row = RowWriter(insert_value_)
                               .put(*id)
                               .put(value.what)
                               .put(value.value)
                               .put(value.lower)
                               .put(value.upper)
                               .put(value.unit)
                               .put(value.confidence)
                               .put(value.source)
                               .run();
          !row) {
        return tl::unexpected<Error>(row.error());
      }
    }
    return {};
  }

  Result<std::int64_t> add(std::int64_t test, const std::string& series, const ResultPoint& point) {
    return RowWriter(insert_point_)
        .put(test)
        .put(series)
        .put(point.x)
        .put(point.median)
        .put(point.p5)
        .put(point.p95)
        .put(std::int64_t{point.samples})
        .put(point.status)
        .shortened(point.why)
        .put(point.drifts)
        .put(point.code_bytes)
        .put(point.vgprs)
        .put(point.waves_per_simd)
        .put(point.clock_before_mhz)
        .put(point.clock_after_mhz)
        .put(point.power_w)
        .put(point.start_ns)
        .put(point.end_ns)
        .run();
  }

  Statement insert_run_;
  Statement insert_test_;
  Statement insert_point_;
  Statement insert_count_;
  Statement insert_value_;
};

}  // namespace

Status insert_results(Database& database, std::span<const ResultRun> runs) {
  Result<ResultWriter> writer = ResultWriter::create(database);
  if (!writer) {
    return tl::unexpected<Error>(writer.error());
  }
  for (const ResultRun& run : runs) {
    if (Status status = writer->add(run); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace gputrace::store
