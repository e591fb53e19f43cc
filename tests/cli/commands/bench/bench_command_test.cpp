#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/bench/bench_list.h"
#include "cli/commands/bench/bench_options.h"
#include "cli/commands/bench/bench_run.h"
#include "tests/kernels/bench/fake_runner.h"
#include "tests/support/error_text.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::commands;  // NOLINT(google-build-using-namespace)

namespace {

class FakeSession final : public BenchSession {
 public:
  test::FakeRunner device_;
  bool cancelled_ = false;
  std::vector<std::string> begun_;
  std::function<void(std::size_t, std::size_t, double)> progress_;

  [[nodiscard]] bench::Runner& runner() override { return device_; }
  [[nodiscard]] bench::PointObserver* observer() override { return nullptr; }
  [[nodiscard]] bench::MeasurementOptions options() override {
    bench::MeasurementOptions options = device_.options();
    options.progress = progress_;
    return options;
  }
  [[nodiscard]] analysis::BenchDevice device() const override {
    analysis::BenchDevice device;
    device.name = "a fake device";
    return device;
  }
  [[nodiscard]] const std::vector<std::string>& notes() const override { return notes_; }
  void begin_test(RunningTest test, double seconds_left) override {
    begun_.push_back(progress_text(test, 0, 0, seconds_left));
  }
  [[nodiscard]] bool cancelled() const override { return cancelled_; }
  [[nodiscard]] Result<std::optional<std::filesystem::path>> finish(
      const analysis::BenchRun&) override {
    return std::nullopt;
  }

 private:
  std::vector<std::string> notes_;
};

FakeSession* current = nullptr;

analysis::TestResult named(std::string id) {
  analysis::TestResult result;
  result.id = std::move(id);
  return result;
}

std::vector<analysis::TestResult> succeed(bench::TestContext& context) {
  if (context.options.progress) {
    context.options.progress(1, 2, 3);
  }
  return {named("good")};
}

std::vector<analysis::TestResult> lose_device(bench::TestContext&) {
  current->device_.broken = Error{ErrorCode::kIo, "the device was lost"};
  analysis::TestResult lost = named("lost");
  lost.status = analysis::TestStatus::kFailed;
  lost.why = "the device was lost";
  return {named("before"), lost};
}

std::vector<analysis::TestResult> press_ctrl_c(bench::TestContext& context) {
  CHECK_FALSE(context.options.cancelled());
  current->cancelled_ = true;
  CHECK(context.options.cancelled());
  return {named("half")};
}

const bench::BenchTest kGood{.id = "good",
                             .summary = "",
                             .needs = "",
                             .quick_s = 10,
                             .full_s = 100,
                             .run = succeed,
                             .cases = nullptr};
const bench::BenchTest kLost{.id = "lost",
                             .summary = "",
                             .needs = "",
                             .quick_s = 20,
                             .full_s = 200,
                             .run = lose_device,
                             .cases = nullptr};
const bench::BenchTest kStopped{.id = "stopped",
                                .summary = "",
                                .needs = "",
                                .quick_s = 1,
                                .full_s = 1,
                                .run = press_ctrl_c,
                                .cases = nullptr};

std::vector<std::string> ids(const analysis::BenchRun& run) {
  std::vector<std::string> names;
  names.reserve(run.tests.size());
  for (const analysis::TestResult& test : run.tests) {
    names.push_back(test.id);
  }
  return names;
}

analysis::BenchRun run_tests(const std::vector<const bench::BenchTest*>& tests,
                             FakeSession& session, bool quick) {
  analysis::BenchRun run;
  run.quick = quick;
  run_bench_tests(tests, session, session.options(), run);
  return run;
}

}  // namespace

TEST_CASE("bench takes tests, all, or list") {
  const auto two = parse_bench_options({"occupancy", "latency", "--quick", "--no-save", "latency"});
  REQUIRE_MESSAGE(two, test::error_text(two));
  REQUIRE(two->tests.size() == 2);  // in the order of the list, each once
  CHECK(two->tests[0]->id == "latency");
  CHECK(two->tests[1]->id == "occupancy");
  CHECK(two->quick);
  CHECK_FALSE(two->save);
  const auto all = parse_bench_options({"all", "--gpu", "sim:780m"});
  REQUIRE(all);
  CHECK(all->tests.size() == bench::bench_tests().size());
  CHECK(all->gpu == "sim:780m");
  CHECK(all->save);
  const auto list = parse_bench_options({"list", "--json"});
  REQUIRE(list);
  CHECK(list->list);
  CHECK(list->json);
  CHECK(parse_bench_options({"--help"})->help);
}

TEST_CASE("a wrong command line of bench is refused with what there is") {
  const auto refused = [](const std::vector<std::string>& words, std::string_view part) {
    const auto parsed = parse_bench_options(words);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::kUsage);
    CHECK_MESSAGE(parsed.error().message.find(part) != std::string::npos, parsed.error().message);
  };
  refused({}, "alu, parallel, latency, stride");
  refused({"latencie"}, "'latencie' is no test");
  refused({"all", "latency"}, "stand alone");
  refused({"list", "latency"}, "stand alone");
  refused({"latency", "--fast"}, "fast");
  refused({"latency", "--color", "red"}, "red");
}

TEST_CASE("the list has every test with its needs and times") {
  const std::string text = bench_list_text();
  const auto json = nlohmann::json::parse(bench_list_json());
  CHECK(json["schema"] == "gputrace.bench-list/1");
  CHECK(json["tests"].size() == bench::bench_tests().size());
  for (const bench::BenchTest& test : bench::bench_tests()) {
    CHECK(text.find(test.id) != std::string::npos);
    CHECK(text.find(test.summary) != std::string::npos);
  }
}

TEST_CASE("a lost device ends its test, and the next one gets a new device") {
  FakeSession session;
  current = &session;
  const std::vector<const bench::BenchTest*> tests{&kLost, &kGood, &kGood};
  const analysis::BenchRun run = run_tests(tests, session, true);
  CHECK(ids(run) == std::vector<std::string>{"before", "lost", "good", "good"});
  CHECK(session.device_.reopened == 1);
  CHECK_FALSE(run.cancelled);
  const Result<int> status = status_of(run);
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "lost failed: the device was lost");
}

TEST_CASE("Ctrl-C ends the bench and keeps what is done") {
  FakeSession session;
  current = &session;
  const std::vector<const bench::BenchTest*> tests{&kGood, &kStopped, &kGood};
  const analysis::BenchRun run = run_tests(tests, session, true);
  CHECK(ids(run) == std::vector<std::string>{"good", "half"});
  CHECK(run.cancelled);
  const Result<int> status = status_of(run);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kBusy);
}

TEST_CASE("the time that is left includes the tests to come") {
  FakeSession session;
  current = &session;
  std::vector<double> left;
  session.progress_ = [&](std::size_t, std::size_t, double seconds) { left.push_back(seconds); };
  const std::vector<const bench::BenchTest*> tests{&kGood, &kLost, &kGood};
  CHECK(run_tests(tests, session, true).tests.size() == 4);
  CHECK(left == std::vector<double>{33, 3});
  left.clear();
  CHECK(run_tests(tests, session, false).tests.size() == 4);
  CHECK(left == std::vector<double>{303, 3});
}

TEST_CASE("progress names the test that begins, with the time of all that are left") {
  FakeSession session;
  current = &session;
  const std::vector<const bench::BenchTest*> tests{&kGood, &kLost, &kGood};
  CHECK(run_tests(tests, session, true).tests.size() == 4);
  CHECK(session.begun_ == std::vector<std::string>{"gputrace: good (1 of 3), about 40 s left",
                                                   "gputrace: lost (2 of 3), about 30 s left",
                                                   "gputrace: good (3 of 3), about 10 s left"});
}

TEST_CASE("progress leaves out what is not known") {
  const RunningTest latency{"latency", 4, 17};
  CHECK(progress_text(latency, 12, 40, 30.2) ==
        "gputrace: latency (4 of 17), 12 of 40 points, about 31 s left");
  CHECK(progress_text(latency, 40, 40, 200) == "gputrace: latency (4 of 17), about 4 min left");
  CHECK(progress_text(latency, 1, 40, -1) == "gputrace: latency (4 of 17), 1 of 40 points");
  CHECK(progress_text(latency, 1, 40, std::numeric_limits<double>::quiet_NaN()) ==
        "gputrace: latency (4 of 17), 1 of 40 points");
  CHECK(progress_text({"latency", 1, 1}, 0, 0, 5) == "gputrace: latency, about 5 s left");
  CHECK(progress_text({}, 3, 20, 5) == "gputrace: 3 of 20 points, about 5 s left");
}
