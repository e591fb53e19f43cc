// A sensor file of the kernel that does not answer for 5 s, through FUSE, while registers are read
// at 1 kHz.
#include <doctest/doctest.h>

#include <algorithm>

#include "daemon/recorder/real_gpu.h"
#include "tests/daemon/recorder/shared_rig.h"
#include "tests/rig/start_or_skip.h"

namespace gputrace::recorder {
namespace {

constexpr std::int64_t kHeldNs = 5 * kNsPerSecond;

/// Holds a source of the slow loop for 5 s; returns when that was.
store::TimeSpan hold_sensors(rig::RigControl& control, const SharedRecorder& recorder) {
  control.hold_sensors = 1;
  recorder.wait_until(
      [&](const auto&) { return has(event_kinds(recorder.session("a")), "sensor_stuck"); });
  const std::int64_t start_ns = monotonic_now_ns();
  recorder.wait_until([&](const auto&) { return monotonic_now_ns() > start_ns + kHeldNs; });
  const std::int64_t end_ns = monotonic_now_ns();
  control.hold_sensors = 0;
  return {start_ns, end_ns};
}

TEST_CASE("sensors that hang for 5 s cost no register sample at 1 kHz, and come back") {
  const auto rig = rig::start_or_skip(rig::offset_words());
  if (!rig) {
    return;
  }
  os::SystemRoots roots;
  roots.sys = rig->sys();
  roots.dev = rig->dev();
  roots.proc = rig->root() / "proc";
  SharedRecorder recorder(
      [roots](const GpuRequest& request) { return open_real_gpu(request, roots); });
  const SessionClient client = recorder.attach();
  ipc::StartOrder order = recorder.order("a", 1000);
  order.source = "drm";
  REQUIRE_FALSE(client.start(order).simulated);
  recorder.wait_until([&](const auto&) {
    return !recorder.session("a").sensor_sources().value().empty() &&
           recorder.session("a").segments()[0].totals.ticks > 1000;
  });
  const store::TimeSpan held = hold_sensors(rig->control(), recorder);
  recorder.wait_until(
      [&](const auto&) { return has(event_kinds(recorder.session("a")), "sensor_back"); });
  const ipc::ClosedAnswer closed = client.stop();
  CHECK_FALSE(closed.cut);
  CHECK(closed.dropped == 0);

  const store::SessionReader session = recorder.session("a");
  REQUIRE(session.segments().size() == 1);
  const StoredTicks ticks = ticks_of(session, session.segments()[0]);
  const auto in_hold = static_cast<double>(std::count_if(
      ticks.times.begin(), ticks.times.end(),
      [&](std::int64_t time_ns) { return time_ns >= held.start_ns && time_ns < held.end_ns; }));
  const double expected =
      static_cast<double>(held.end_ns - held.start_ns) / static_cast<double>(kNsPerMs);
  const double missed = static_cast<double>(session.segments()[0].totals.missed);
  MESSAGE(in_hold << " samples in " << expected
                  << " periods; missed in all of the run: " << missed);
  // What a busy machine missed is counted, and nothing else is absent.
  CHECK(in_hold + missed >= expected - 2);
  std::int64_t longest_ns = 0;
  for (std::size_t i = 1; i < ticks.times.size(); ++i) {
    longest_ns = std::max(longest_ns, ticks.times[i] - ticks.times[i - 1]);
  }
  CHECK(longest_ns < kHeldNs / 5);
  const auto sources = session.sensor_sources().value();
  CHECK(std::any_of(sources.begin(), sources.end(),
                    [](const auto& source) { return source.totals.late > 0; }));
}

}  // namespace
}  // namespace gputrace::recorder
