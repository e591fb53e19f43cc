#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/daemon/recorder/shared_rig.h"

namespace gputrace::recorder {
namespace {

std::uint64_t ticks_of_segment(const store::SessionReader& session, std::size_t index) {
  return session.segments().size() > index ? session.segments()[index].totals.ticks : 0;
}

TEST_CASE("sessions share a loop at the highest rate, and each says the rate it got") {
  SharedRecorder recorder;
  const SessionClient slow = recorder.attach();
  REQUIRE(slow.start(recorder.order("slow", 100)).gpu_name == "a GPU of the test");
  recorder.wait_until(
      [&](const auto&) { return ticks_of_segment(recorder.session("slow"), 0) > 0; });
  const SessionClient fast = recorder.attach();
  REQUIRE(fast.start(recorder.order("fast", 1000)).gpu_name == "a GPU of the test");
  recorder.wait_until([&](const ipc::HealthReport& health) {
    return health.rate_hz == 1000 && health.sessions == 2 &&
           ticks_of_segment(recorder.session("slow"), 1) > 0;
  });
  const ipc::ClosedAnswer fast_closed = fast.stop();
  recorder.wait_until([&](const ipc::HealthReport& health) {
    return health.rate_hz == 100 && health.sessions == 1 &&
           ticks_of_segment(recorder.session("slow"), 2) > 0;
  });
  const ipc::ClosedAnswer slow_closed = slow.stop();

  const store::SessionReader session = recorder.session("slow");
  REQUIRE(session.segments().size() == 3);
  CHECK(session.segments()[0].description.rate_hz == 100);
  CHECK(session.segments()[1].description.rate_hz == 1000);
  CHECK(session.segments()[1].description.reason == "rate changed to 1000 Hz");
  CHECK(session.segments()[2].description.rate_hz == 100);
  std::int64_t end_ns = 0;
  std::uint64_t samples = 0;
  for (const store::StoredSegment& segment : session.segments()) {
    const StoredTicks ticks = ticks_of(session, segment);
    CHECK(ticks.times.size() == segment.totals.ticks);
    samples += ticks.times.size();
    for (const store::TimeSpan& block : ticks.blocks) {
      CHECK(block.start_ns >= end_ns);  // none lies over another: a sample is stored once
      end_ns = block.end_ns;
    }
  }
  CHECK(samples == slow_closed.samples);
  // While both ran, both have all samples of the loop.
  const store::SessionReader other = recorder.session("fast");
  REQUIRE(other.segments().size() == 1);
  CHECK(other.segments()[0].description.rate_hz == 1000);
  CHECK(other.segments()[0].totals.ticks == fast_closed.samples);
  CHECK(session.segments()[1].totals.ticks >= fast_closed.samples);
  CHECK(session.segments()[1].totals.cpu_ns > 0);
}

TEST_CASE("a session that joins at the running rate gets what comes after it") {
  SharedRecorder recorder;
  const SessionClient first = recorder.attach();
  REQUIRE(first.start(recorder.order("first", 1000)).simulated == false);
  recorder.wait_until(
      [&](const auto&) { return ticks_of_segment(recorder.session("first"), 0) > 0; });
  const SessionClient second = recorder.attach();
  const std::int64_t before_ns = monotonic_now_ns();
  REQUIRE(second.start(recorder.order("second", 500)).simulated == false);
  recorder.wait_until(
      [&](const auto&) { return ticks_of_segment(recorder.session("second"), 0) > 0; });
  const ipc::ClosedAnswer closed = second.stop();
  CHECK_FALSE(closed.cut);
  CHECK(first.stop().samples > closed.samples);
  CHECK(recorder.session("first").segments().size() == 1);
  const store::SessionReader session = recorder.session("second");
  REQUIRE(session.segments().size() == 1);
  CHECK(session.segments()[0].description.rate_hz == 1000);
  const StoredTicks ticks = ticks_of(session, session.segments()[0]);
  CHECK(ticks.times.front() > before_ns);
  CHECK(ticks.times.size() == session.segments()[0].totals.ticks);
}

TEST_CASE("a read that hangs: health says so, sessions can be closed, new ones are refused") {
  SharedRecorder recorder([] {
    auto reader = two_registers();
    reader->block_at(30);
    return reader;
  });
  const SessionClient session = recorder.attach();
  REQUIRE(session.start(recorder.order("a", 1000)).simulated == false);
  recorder.wait_until([](const ipc::HealthReport& health) { return health.stuck_s > 1; });
  const SessionClient refused = recorder.attach();
  refused.send(recorder.order("b", 1000));
  const ipc::Answer answer = refused.next();
  REQUIRE(std::holds_alternative<ipc::FailedAnswer>(answer));
  CHECK(std::get<ipc::FailedAnswer>(answer).error.code == ErrorCode::kBusy);
  CHECK_FALSE(session.stop().cut);
  CHECK(has(event_kinds(recorder.session("a")), "warning"));
  recorder.wait_until([](const ipc::HealthReport& health) { return health.sessions == 0; });
}

TEST_CASE("a GPU that is unplugged and comes back, as health and the file tell it") {
  SharedRecorder recorder([opened = 0]() mutable {
    auto reader = two_registers();
    if (opened++ == 0) {
      reader->lose_at(20, 0, "ENODEV");
      reader->lose_at(20, 1, "ENODEV");
    }
    return reader;
  });
  const SessionClient session = recorder.attach();
  REQUIRE(session.start(recorder.order("a", 1000)).simulated == false);
  recorder.wait_until([](const ipc::HealthReport& health) { return !health.present; });
  recorder.wait_until([](const ipc::HealthReport& health) { return health.present; });
  recorder.wait_until([&](const auto&) { return ticks_of_segment(recorder.session("a"), 1) > 0; });
  CHECK_FALSE(session.stop().cut);
  CHECK(has(event_kinds(recorder.session("a")), "device_back"));
}

TEST_CASE("when the control socket closes every file is finished and the process ends") {
  SharedRecorder recorder;
  const SessionClient first = recorder.attach();
  const SessionClient second = recorder.attach();
  REQUIRE(first.start(recorder.order("first", 100)).simulated == false);
  REQUIRE(second.start(recorder.order("second", 1000)).simulated == false);
  recorder.close_control();
  CHECK_FALSE(first.answer<ipc::ClosedAnswer>().cut);
  CHECK_FALSE(second.answer<ipc::ClosedAnswer>().cut);
  recorder.wait_until_gone();
  for (const char* name : {"first", "second"}) {
    const std::optional<store::SessionEnd> end = recorder.session(name).end();
    REQUIRE(end.has_value());
    CHECK_FALSE(end->exit_code);
  }
}

TEST_CASE("SIGKILL of the recorder leaves files that open") {
  SharedRecorder recorder;
  const SessionClient first = recorder.attach();
  const SessionClient second = recorder.attach();
  REQUIRE(first.start(recorder.order("first", 1000)).simulated == false);
  REQUIRE(second.start(recorder.order("second", 1000)).simulated == false);
  recorder.wait_until([&](const auto&) {
    return ticks_of_segment(recorder.session("first"), 0) > 0 &&
           ticks_of_segment(recorder.session("second"), 0) > 0;
  });
  REQUIRE(::kill(recorder.pid(), SIGKILL) == 0);
  recorder.wait_until_gone();
  for (const char* name : {"first", "second"}) {
    const store::SessionReader session = recorder.session(name);
    CHECK_FALSE(session.end().has_value());
    CHECK(ticks_of(session, session.segments()[0]).times.size() ==
          session.segments()[0].totals.ticks);
  }
}

TEST_CASE("a session that vanishes without a stop is finished, and others go on") {
  SharedRecorder recorder;
  const SessionClient stays = recorder.attach();
  REQUIRE(stays.start(recorder.order("stays", 1000)).simulated == false);
  {
    const SessionClient vanishes = recorder.attach();
    REQUIRE(vanishes.start(recorder.order("vanishes", 1000)).simulated == false);
    recorder.wait_until([](const ipc::HealthReport& health) { return health.sessions == 2; });
  }
  recorder.wait_until([&](const ipc::HealthReport& health) {
    return health.sessions == 1 && recorder.session("vanishes").end().has_value();
  });
  CHECK_FALSE(stays.stop().cut);
}

TEST_CASE("a live session gets the counts of each second and no file") {
  SharedRecorder recorder;
  const SessionClient live = recorder.attach();
  ipc::StartOrder order = recorder.order("none", 1000);
  order.purpose = ipc::Purpose::kLive;
  order.file.clear();
  CHECK(live.start(order).file.empty());
  const auto window = live.answer<ipc::WindowAnswer>();
  CHECK(window.end_ns > window.start_ns);
  REQUIRE(window.registers.size() == 2);
  CHECK(window.registers[0].name == "GRBM_STATUS");
  CHECK(window.registers[0].valid > 0);
  for (unsigned bit = 0; bit < 32; ++bit) {  // the reader's word is 0x3028
    CHECK(window.registers[0].busy[bit] ==
          ((0x3028U >> bit & 1U) != 0 ? window.registers[0].valid : 0));
  }
  const auto next = live.answer<ipc::WindowAnswer>();
  CHECK(next.start_ns == window.end_ns);
  CHECK(live.stop().file.empty());
  CHECK(std::filesystem::is_empty(recorder.file("none").parent_path()));
}

}  // namespace
}  // namespace gputrace::recorder
