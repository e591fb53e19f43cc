// A sensor file of the kernel that does not answer for 5 s, through FUSE, while registers are read
// at 1 kHz.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "daemon/recorder/real_gpu.h"
#include "tests/daemon/recorder/shared_rig.h"
#include "tests/rig/start_or_skip.h"

namespace gputrace::recorder {
namespace {

constexpr std::int64_t kStretchNs = 5 * kNsPerSecond;
constexpr std::uint64_t kFewestReads = 2'000;  // of registers, in a stretch

struct Moment {
  std::int64_t time_ns = 0;
  std::uint64_t register_reads = 0;  ///< that the driver has answered by then
};
struct Stretch {
  Moment begin;
  Moment end;
  [[nodiscard]] std::uint64_t reads() const { return end.register_reads - begin.register_reads; }
  [[nodiscard]] double periods() const {
    return static_cast<double>(end.time_ns - begin.time_ns) / static_cast<double>(kNsPerMs);
  }
};

/// Nothing is answered between the look at the clock and that at the counter.
Moment moment(const rig::RigControl& control) {
  for (;;) {
    const std::uint64_t reads = control.register_reads;
    const std::int64_t now_ns = monotonic_now_ns();
    if (control.register_reads == reads) {
      return {now_ns, reads};
    }
  }
}

/// From now on. Never ends while registers are not read.
Stretch wait_for_stretch(const rig::RigControl& control, const SharedRecorder& recorder) {
  const Moment begin = moment(control);
  recorder.wait_until([&](const auto&) {
    return monotonic_now_ns() > begin.time_ns + kStretchNs &&
           control.register_reads > begin.register_reads + kFewestReads;
  });
  return {begin, moment(control)};
}

std::uint64_t count_between(const std::vector<std::int64_t>& times, std::int64_t begin_ns,
                            std::int64_t end_ns) {
  return static_cast<std::uint64_t>(
      std::count_if(times.begin(), times.end(),
                    [&](std::int64_t time_ns) { return time_ns >= begin_ns && time_ns < end_ns; }));
}

/// Each read that the driver answered is part of a sample in the file; at either end one sample may
/// be half in the stretch. Returns the samples.
std::uint64_t check_all_kept(const Stretch& stretch, const std::vector<std::int64_t>& times,
                             std::uint64_t reads_a_sample) {
  const std::uint64_t samples = count_between(times, stretch.begin.time_ns, stretch.end.time_ns);
  CHECK(stretch.reads() <= (samples + 2) * reads_a_sample);
  CHECK((samples - std::min<std::uint64_t>(samples, 2)) * reads_a_sample <= stretch.reads());
  return samples;
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
  rig::RigControl& control = rig->control();
  const Stretch before = wait_for_stretch(control, recorder);
  control.hold_sensors = 1;
  recorder.wait_until(
      [&](const auto&) { return has(event_kinds(recorder.session("a")), "sensor_stuck"); });
  const Stretch held = wait_for_stretch(control, recorder);
  control.hold_sensors = 0;
  recorder.wait_until(
      [&](const auto&) { return has(event_kinds(recorder.session("a")), "sensor_back"); });
  const ipc::ClosedAnswer closed = client.stop();
  CHECK_FALSE(closed.cut);
  CHECK(closed.dropped == 0);

  const store::SessionReader session = recorder.session("a");
  REQUIRE(session.segments().size() == 1);
  const StoredTicks ticks = ticks_of(session, session.segments()[0]);
  // A read may bring several registers.
  const auto reads_a_sample = static_cast<std::uint64_t>(
      std::llround(static_cast<double>(before.reads()) /
                   static_cast<double>(std::max<std::uint64_t>(
                       count_between(ticks.times, before.begin.time_ns, before.end.time_ns), 1))));
  const std::uint64_t in_control = check_all_kept(before, ticks.times, reads_a_sample);
  const std::uint64_t in_hold = check_all_kept(held, ticks.times, reads_a_sample);
  const double missed = static_cast<double>(session.segments()[0].totals.missed);
  MESSAGE(in_control << " samples in " << before.periods() << " periods before, " << in_hold
                     << " in " << held.periods()
                     << " with sensors that hang; missed in all: " << missed);
  // What a busy machine missed is counted, and nothing else is absent.
  CHECK(static_cast<double>(in_hold) + missed >= held.periods() - 2);
  // Registers do not even wait for the deadline of a source, half a second.
  const std::vector<store::Event> events = session.events().value();
  const auto stuck = std::find_if(events.begin(), events.end(), [](const store::Event& event) {
    return event.kind == "sensor_stuck";
  });
  REQUIRE(stuck != events.end());
  CHECK(count_between(ticks.times, stuck->time_ns - 400 * kNsPerMs, stuck->time_ns) > 0);
  const auto sources = session.sensor_sources().value();
  CHECK(std::any_of(sources.begin(), sources.end(),
                    [](const auto& source) { return source.totals.late > 0; }));
}

}  // namespace
}  // namespace gputrace::recorder
