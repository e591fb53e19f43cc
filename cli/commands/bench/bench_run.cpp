#include "cli/commands/bench/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "cli/report/terminal_text.h"
#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

using analysis::TestResult;
using analysis::TestStatus;

/// A software rasteriser computes what a GPU has units for, and a simulated GPU must compute how
/// long each new kernel takes.
constexpr double kCpuShare = 2;

double share_s(const bench::BenchTest& test, BenchSession& session, bool quick) {
  const bool on_cpu = session.runner().facts().is_cpu || session.runner().simulated();
  return (quick ? test.quick_s : test.full_s) * (on_cpu ? kCpuShare : 1);
}

bench::MeasurementOptions options_of(const BenchSession& session,
                                     const bench::MeasurementOptions& own, double this_s,
                                     double later_s) {
  bench::MeasurementOptions options = own;
  const std::int64_t now_ns =
      options.clock != nullptr ? options.clock->now_ns() : MonotonicClock().now_ns();
  options.share_end_ns = now_ns + std::llround(this_s * 1e9);
  options.cancelled = [&session, cancelled = own.cancelled] {
    return session.cancelled() || (cancelled && cancelled());
  };
  if (own.progress) {
    options.progress = [progress = own.progress, later_s](std::size_t done, std::size_t of,
                                                          double seconds_left) {
      progress(done, of, seconds_left + later_s);
    };
  }
  return options;
}

TestResult not_run(const bench::BenchTest& test, const Error& why) {
  TestResult result;
  result.id = test.id;
  result.status = TestStatus::kFailed;
  result.why = why.message;
  return result;
}

}  // namespace

std::vector<std::string> typed_command(std::string_view command,
                                       const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"gputrace", std::string(command)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

analysis::BenchRun begin_run(BenchSession& session, bool quick) {
  analysis::BenchRun run;
  run.device = session.device();
  run.started_at = format_rfc3339_utc(read_time_anchor().realtime_ns);
  run.quick = quick;
  bench::PointObserver& observer = *session.observer();
  run.clock_mhz = observer.clock_mhz();
  run.power_w = observer.power_w();
  run.temperature_c = observer.temperature_c();
  return run;
}

void run_bench_tests(std::span<const bench::BenchTest* const> tests, BenchSession& session,
                     const bench::MeasurementOptions& options, analysis::BenchRun& run) {
  double later_s = 0;
  for (const bench::BenchTest* test : tests) {
    later_s += share_s(*test, session, run.quick);
  }
  bench::TestContext context{.runner = session.runner(),
                             .observer = session.observer(),
                             .options = options,
                             .quick = run.quick,
                             .earlier = &run.tests};
  bool reopen = false;
  std::size_t number = 0;
  for (const bench::BenchTest* test : tests) {
    ++number;
    const double this_s = share_s(*test, session, run.quick);
    later_s -= this_s;
    if (session.cancelled()) {
      break;
    }
    // What a failed test left behind is not known; a new device is.
    if (const Status reopened = reopen ? session.runner().reopen() : Status(); !reopened) {
      run.tests.push_back(not_run(*test, reopened.error()));
      continue;
    }
    session.begin_test({std::string(test->id), number, tests.size()}, this_s + later_s);
    context.options = options_of(session, options, this_s, later_s);
    reopen = false;
    for (TestResult& result : test->run(context)) {
      reopen = reopen || result.status == TestStatus::kFailed;
      run.tests.push_back(std::move(result));
    }
  }
  run.cancelled = session.cancelled();
}

Status tell_stored(const Result<std::optional<std::filesystem::path>>& stored) {
  if (!stored) {
    return fail(stored.error(), "the results are not stored");
  }
  if (const std::optional<std::filesystem::path>& path = *stored; path.has_value()) {
    fmt::print(stderr, "gputrace: stored in {}\n",
               report::escape_for_terminal(path->string(), false));
  }
  return {};
}

Result<int> status_of(const analysis::BenchRun& run) {
  if (run.cancelled) {
    return fail(ErrorCode::kBusy, "stopped by a signal: the results are not complete");
  }
  const auto failed = std::ranges::find(run.tests, TestStatus::kFailed, &TestResult::status);
  if (failed != run.tests.end()) {
    return fail(ErrorCode::kIo, fmt::format("{} failed: {}", failed->id, failed->why));
  }
  return 0;
}

}  // namespace gputrace::commands
