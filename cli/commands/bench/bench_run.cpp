#include "cli/commands/bench/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

using analysis::TestResult;
using analysis::TestStatus;

double about_seconds(const bench::BenchTest& test, bool quick) {
  return quick ? test.quick_s : test.full_s;
}

bench::MeasurementOptions options_of(const BenchSession& session,
                                     const bench::MeasurementOptions& own, double later_s) {
  bench::MeasurementOptions options = own;
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

std::string failure_of(const analysis::BenchRun& run) {
  const auto failed = std::find_if(run.tests.begin(), run.tests.end(), [](const TestResult& test) {
    return test.status == TestStatus::kFailed;
  });
  return failed == run.tests.end() ? std::string()
                                   : fmt::format("{} failed: {}", failed->id, failed->why);
}

analysis::BenchRun run_bench_tests(std::span<const bench::BenchTest* const> tests,
                                   BenchSession& session, bool quick) {
  analysis::BenchRun run;
  run.device = session.device();
  run.started_at = format_rfc3339_utc(read_time_anchor().realtime_ns);
  run.quick = quick;
  if (bench::PointObserver* observer = session.observer(); observer != nullptr) {
    run.clock_mhz = observer->clock_mhz();
    run.power_w = observer->power_w();
    run.temperature_c = observer->temperature_c();
  }
  double later_s = 0;
  for (const bench::BenchTest* test : tests) {
    later_s += about_seconds(*test, quick);
  }
  const bench::MeasurementOptions own = session.options();
  bool reopen = false;
  for (const bench::BenchTest* test : tests) {
    later_s -= about_seconds(*test, quick);
    if (session.cancelled()) {
      break;
    }
    // What a failed test left behind is not known; a new device is.
    if (const Status reopened = reopen ? session.runner().reopen() : Status(); !reopened) {
      run.tests.push_back(not_run(*test, reopened.error()));
      continue;
    }
    bench::TestContext context{.runner = session.runner(),
                               .observer = session.observer(),
                               .options = options_of(session, own, later_s),
                               .quick = quick};
    reopen = false;
    for (TestResult& result : test->run(context)) {
      reopen = reopen || result.status == TestStatus::kFailed;
      run.tests.push_back(std::move(result));
    }
  }
  run.cancelled = session.cancelled();
  return run;
}

}  // namespace gputrace::commands
