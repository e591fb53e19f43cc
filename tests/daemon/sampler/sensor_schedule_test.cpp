#include "daemon/sampler/sensor_schedule.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace gputrace::sampler {
namespace {

using Outcome = SensorSchedule::Outcome;

constexpr std::int64_t kPeriodNs = 100 * kNsPerMs;

/// One source at 10 Hz whose reads take what the test says.
class OneSource {
 public:
  explicit OneSource(double max_rate_hz = 1000)
      : schedule({{"hwmon power1_average", max_rate_hz, true}}, SensorLoopOptions{}) {
    schedule.set_period(static_cast<double>(kPeriodNs));
  }

  /// True when the source was due at this tick; it then ends like this.
  bool tick(Outcome outcome, std::int64_t cost_ns = 20'000) {
    now_ns += kPeriodNs;
    std::vector<std::uint32_t> due;
    schedule.due(now_ns, due);
    if (due.empty()) {
      return false;
    }
    schedule.finish({0, now_ns, now_ns + cost_ns, outcome,
                     outcome == Outcome::kRead ? "" : "Input/output error"});
    return true;
  }
  /// How many of so many ticks it was due at.
  int ticks(int count, Outcome outcome, std::int64_t cost_ns = 20'000) {
    int read = 0;
    for (int i = 0; i < count; ++i) {
      read += tick(outcome, cost_ns) ? 1 : 0;
    }
    return read;
  }
  /// The kinds of what was said since the last call.
  [[nodiscard]] std::vector<std::string> said() {
    std::vector<std::string> kinds;
    for (const SensorNotice& notice : schedule.take_notices()) {
      kinds.push_back(notice.kind);
    }
    return kinds;
  }
  [[nodiscard]] const SensorSourceState& state() const { return schedule.states()[0]; }

  SensorSchedule schedule;
  std::int64_t now_ns = 1000 * kNsPerSecond;
};

using Kinds = std::vector<std::string>;

TEST_CASE("a source that works is read at each tick") {
  OneSource source;
  CHECK(source.ticks(100, Outcome::kRead) == 100);
  CHECK(source.state().reads == 100);
  CHECK(source.state().cost_ns == 100 * 20'000);
  CHECK(source.state().worst_ns == 20'000);
  CHECK(source.state().rate_hz == doctest::Approx(10));
  CHECK(source.state().problem.empty());
  CHECK(source.said().empty());
}

TEST_CASE("a source is read no more often than it is worth, and says the rate that it gets") {
  OneSource source(3);
  CHECK(source.ticks(100, Outcome::kRead) == 25);  // each fourth tick: 3 Hz are not exceeded
  CHECK(source.state().rate_hz == doctest::Approx(2.5));
}

TEST_CASE("one failure is one notice; retries come 1, 2, 4 ... 60 s later; then it is back") {
  OneSource source;
  REQUIRE(source.tick(Outcome::kFailed));
  CHECK(source.said() == Kinds{"sensor_lost"});
  CHECK(source.state().rate_hz == 0);
  CHECK(source.state().problem == "Input/output error");
  std::int64_t failed_ns = source.now_ns;
  for (const int wait_s : {1, 2, 4, 8, 16, 32, 60, 60}) {
    while (!source.tick(Outcome::kFailed)) {
    }
    CHECK(source.now_ns - failed_ns >= wait_s * kNsPerSecond);
    CHECK(source.now_ns - failed_ns <= wait_s * kNsPerSecond + 2 * kPeriodNs);
    failed_ns = source.now_ns;
  }
  CHECK(source.said().empty());
  CHECK(source.state().failed == 9);
  while (!source.tick(Outcome::kRead)) {
  }
  CHECK(source.said() == Kinds{"sensor_back"});
  CHECK(source.state().problem.empty());
  CHECK(source.state().rate_hz == doctest::Approx(10));
  CHECK(source.ticks(10, Outcome::kRead) == 10);
}

TEST_CASE("a source that comes and goes is heard of less and less") {
  OneSource source;
  std::size_t notices = 0;
  for (int tick = 0; tick < 6000; ++tick) {  // ten minutes
    source.tick(source.state().rate_hz == 0 ? Outcome::kRead : Outcome::kFailed);
    notices += source.said().size();
  }
  CHECK(notices >= 4);
  CHECK(notices <= 40);  // at one pair a second they would be 1200
}

TEST_CASE("a source that failed long ago is retried after a second again") {
  OneSource source;
  source.tick(Outcome::kFailed);
  while (!source.tick(Outcome::kRead)) {
  }
  source.ticks(700, Outcome::kRead);
  REQUIRE(source.tick(Outcome::kFailed));
  CHECK(source.ticks(13, Outcome::kRead) > 0);
}

TEST_CASE("answers that cannot be true are counted; only many in a row are a failure") {
  OneSource source;
  for (int i = 0; i < 10; ++i) {
    source.ticks(19, Outcome::kRejected);
    source.tick(Outcome::kRead);
  }
  CHECK(source.state().rejected == 190);
  CHECK(source.said().empty());
  CHECK(source.ticks(20, Outcome::kRejected) == 20);
  CHECK(source.said() == Kinds{"sensor_lost"});
  CHECK(source.state().rate_hz == 0);
  CHECK(source.ticks(9, Outcome::kRejected) == 0);
}

TEST_CASE("a dear source is read so seldom that it costs one part in a hundred, and named once") {
  OneSource source;
  CHECK(source.ticks(600, Outcome::kRead, 8 * kNsPerMs) <= 600 / 8 + 5);
  CHECK(source.said() == Kinds{"sensor_slow"});
  CHECK(source.state().rate_hz == doctest::Approx(1.25));
  CHECK(source.state().problem.find("8.0 ms") != std::string::npos);
  SUBCASE("when it has become cheap it is read at each tick again") {
    source.ticks(100, Outcome::kRead);
    CHECK(source.ticks(10, Outcome::kRead) == 10);
    CHECK(source.state().problem.empty());
    source.ticks(600, Outcome::kRead, 8 * kNsPerMs);
    CHECK(source.said().empty());
  }
}

TEST_CASE("outliers make no source slow") {
  OneSource source;
  for (int i = 0; i < 50; ++i) {
    CHECK(source.tick(Outcome::kRead, 300 * kNsPerMs));
    CHECK(source.ticks(4, Outcome::kRead) == 4);
  }
  CHECK(source.said().empty());
  CHECK(source.state().worst_ns == 300 * kNsPerMs);
}

TEST_CASE("a source that hangs is not due until it has returned, and then after the wait") {
  OneSource source;
  std::vector<std::uint32_t> due;
  source.schedule.due(source.now_ns, due);
  REQUIRE(due.size() == 1);
  source.schedule.hang(0, source.now_ns, source.now_ns + 500 * kNsPerMs);
  CHECK(source.said() == Kinds{"sensor_stuck"});
  CHECK(source.state().late == 1);
  CHECK(source.state().worst_ns == 500 * kNsPerMs);
  CHECK(source.state().rate_hz == 0);
  CHECK(source.ticks(1000, Outcome::kRead) == 0);
  source.schedule.return_late(0, source.now_ns);
  CHECK(source.ticks(9, Outcome::kRead) == 0);
  CHECK(source.ticks(10, Outcome::kRead) > 0);
  CHECK(source.said() == Kinds{"sensor_back"});
}

TEST_CASE("a sleeping GPU is neither a failure nor a read") {
  OneSource source;
  CHECK(source.schedule.may_be_open(0));
  CHECK(source.ticks(50, Outcome::kAsleep) == 50);
  CHECK_FALSE(source.schedule.may_be_open(0));
  CHECK(source.said().empty());
  CHECK(source.state().reads == 0);
  CHECK(source.state().failed == 0);
  CHECK(source.tick(Outcome::kRead));
  CHECK(source.schedule.may_be_open(0));
}

}  // namespace
}  // namespace gputrace::sampler
