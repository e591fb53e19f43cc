#include "daemon/base/time.h"

#include <doctest/doctest.h>

#include "tests/support/sanitizers.h"

using namespace gputrace;

TEST_CASE("wall-clock times are printed as RFC 3339 in UTC with milliseconds") {
  CHECK(format_rfc3339_utc(0) == "1970-01-01T00:00:00.000Z");
  CHECK(format_rfc3339_utc(1'796'000'000'123'456'789) == "2026-11-30T00:53:20.123Z");
  CHECK(format_rfc3339_utc(-1) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("the monotonic clock does not run backwards and a past deadline returns") {
  MonotonicClock clock;
  const std::int64_t before = clock.now_ns();
  clock.sleep_until(before - kNsPerSecond);
  CHECK(clock.now_ns() >= before);
}

TEST_CASE("sleep_until does not return before its deadline when no signal arrives") {
  MonotonicClock clock;
  const std::int64_t deadline = clock.now_ns() + 200'000;
  clock.sleep_until(deadline);
  CHECK(clock.now_ns() >= deadline);
}

TEST_CASE("an anchor reads the three clocks within one scheduling delay of each other") {
  const std::int64_t before = monotonic_now_ns();
  const TimeAnchor anchor = read_time_anchor();
  CHECK(anchor.monotonic_ns >= before);
  CHECK(anchor.boottime_ns >= anchor.monotonic_ns);
  CHECK(anchor.realtime_ns > 0);
}

TEST_CASE("CPU time has been used by the time a test runs, and only grows") {
  const std::int64_t before = process_cpu_time_ns();
  CHECK(before > 0);
  CHECK(process_cpu_time_ns() >= before);
}

TEST_CASE("memory that is not mapped cannot be locked, and the message says how much was asked") {
  if (test::kWithAddressSanitizer || test::kWithThreadSanitizer) {
    MESSAGE("skipped: the sanitizers answer mlock(2) themselves");
    return;
  }
  const Status status = lock_memory(nullptr, 4096);
  REQUIRE_FALSE(status);
  CHECK(status.error().message.find("cannot lock 4096 bytes of memory") == 0);
}

TEST_CASE("a priority outside the range of SCHED_FIFO is refused") {
  const Status status = set_fifo_scheduling(1000);
  REQUIRE_FALSE(status);
  CHECK(status.error().message.find("cannot use SCHED_FIFO") == 0);
}
