// A GPU that sleeps when its recording begins, and what becomes of the recording.
#include <doctest/doctest.h>

#include "tests/daemon/recorder/shared_rig.h"

namespace gputrace::recorder {
namespace {

constexpr std::uint64_t kTicksAsleep = 30;

OpenedGpu sleeping_gpu(std::uint64_t over_at) {
  auto reader = two_registers();
  reader->set_state(0, sampler::SampleState::kAsleep);
  reader->set_state(1, sampler::SampleState::kAsleep);
  reader->end_at(over_at);
  OpenedGpu gpu = opened_gpu(std::move(reader));
  gpu.sensors.clear();
  gpu.is_asleep = true;
  gpu.notes = {"it slept"};
  return gpu;
}

OpenedGpu awake_gpu() {
  OpenedGpu gpu = opened_gpu(two_registers());
  gpu.notes = {"not recorded: GRBM_STATUS3"};
  return gpu;
}

/// Opens these in turn, then the last one again and again.
ReaderFactory in_turn(std::vector<std::function<Result<OpenedGpu>()>> openings) {
  return [openings = std::move(openings), next = std::size_t{0}](const GpuRequest&) mutable {
    const std::size_t now = std::min(next++, openings.size() - 1);
    return openings[now]();
  };
}

Result<OpenedGpu> sleeps_a_while() {
  return sleeping_gpu(kTicksAsleep);
}
Result<OpenedGpu> sleeps_on() {
  return sleeping_gpu(test::FakeRegisterReader::kNever);
}
Result<OpenedGpu> is_awake() {
  return awake_gpu();
}

void wait_for_segments(const SharedRecorder& recorder, std::size_t count) {
  recorder.wait_until([&](const auto&) {
    const store::SessionReader session = recorder.session("a");
    return session.segments().size() >= count && session.segments()[count - 1].totals.ticks > 0;
  });
}

/// Ends the session; returns the warnings that it was told.
std::vector<std::string> stop(const SessionClient& client) {
  client.send(ipc::StopOrder{0, std::nullopt, false});
  std::vector<std::string> warnings;
  for (;;) {
    const ipc::Answer answer = client.next();
    if (const auto* warning = std::get_if<ipc::WarningAnswer>(&answer)) {
      warnings.push_back(warning->text);
    } else {
      REQUIRE(std::holds_alternative<ipc::ClosedAnswer>(answer));
      CHECK_FALSE(std::get<ipc::ClosedAnswer>(answer).cut);
      return warnings;
    }
  }
}

ipc::StartOrder with_sensors(ipc::StartOrder order) {
  order.sensor_rate_hz = 10;
  return order;
}

std::vector<std::string> source_names(const store::SessionReader& session) {
  const std::vector<store::StoredSensorSource> sources = session.sensor_sources().value();
  std::vector<std::string> names;
  names.reserve(sources.size());
  for (const store::StoredSensorSource& source : sources) {
    names.push_back(source.source.name);
  }
  return names;
}

/// Samples with this state; every register has as many.
std::uint64_t count_of(const store::SessionReader& session, std::size_t segment,
                       sampler::SampleState state) {
  const auto counts = session.state_counts(session.segments()[segment], std::nullopt).value();
  REQUIRE(counts.size() == 2);
  const auto index = static_cast<std::size_t>(state);
  CHECK(counts[0].by_state[index] == counts[1].by_state[index]);
  return counts[0].by_state[index];
}

TEST_CASE("a GPU that wakes in mid-recording is opened anew at once, with its sensors") {
  const SharedRecorder recorder(in_turn({sleeps_a_while, is_awake}));
  const SessionClient client = recorder.attach();
  const ipc::ReadyAnswer ready = client.start(with_sensors(recorder.order("a", 1000)));
  CHECK(ready.notes == std::vector<std::string>{"it slept"});
  wait_for_segments(recorder, 2);
  // What nobody could know before is told, and that alone.
  const std::vector<std::string> warnings = stop(client);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("a GPU of the test: not recorded: GRBM_STATUS3") != std::string::npos);

  const store::SessionReader session = recorder.session("a");
  REQUIRE(session.segments().size() == 2);
  CHECK(session.segments()[0].totals.ticks == kTicksAsleep);
  CHECK(count_of(session, 0, sampler::SampleState::kAsleep) == kTicksAsleep);
  CHECK(session.segments()[1].description.reason == "the GPU woke up");
  CHECK(count_of(session, 1, sampler::SampleState::kValid) == session.segments()[1].totals.ticks);
  const std::vector<std::string> kinds = event_kinds(session);
  CHECK(has(kinds, "runtime_suspend"));
  CHECK(has(kinds, "runtime_resume"));
  CHECK(has(kinds, "note"));
  for (const char* kind : {"lost", "device_gone", "device_back", "read_error"}) {
    CHECK_FALSE(has(kinds, kind));
  }
  CHECK(has(source_names(session), "hwmon power1_average"));
}

TEST_CASE("a GPU that sleeps all the time is a recording that says so") {
  const SharedRecorder recorder(in_turn({sleeps_on}));
  const SessionClient client = recorder.attach();
  CHECK(client.start(with_sensors(recorder.order("a", 1000))).gpu_name == "a GPU of the test");
  wait_for_segments(recorder, 1);
  CHECK(recorder.health().present);
  CHECK(stop(client).empty());
  const store::SessionReader session = recorder.session("a");
  REQUIRE(session.segments().size() == 1);
  CHECK(session.segments()[0].description.reason == "start");
  CHECK(source_names(session).empty());
}

TEST_CASE("a GPU that fell asleep again before it could be opened is waited for further") {
  const SharedRecorder recorder(in_turn({sleeps_a_while, sleeps_a_while, is_awake}));
  const SessionClient client = recorder.attach();
  CHECK(client.start(recorder.order("a", 1000)).gpu_name == "a GPU of the test");
  wait_for_segments(recorder, 3);
  CHECK(stop(client).size() == 1);
  const store::SessionReader session = recorder.session("a");
  REQUIRE(session.segments().size() == 3);
  CHECK(session.segments()[1].description.reason == "the GPU fell asleep again");
  CHECK(session.segments()[2].description.reason == "the GPU woke up");
  const std::vector<std::string> kinds = event_kinds(session);
  CHECK(std::count(kinds.begin(), kinds.end(), "runtime_suspend") == 1);
  CHECK(std::count(kinds.begin(), kinds.end(), "runtime_resume") == 1);
}

TEST_CASE("a GPU that woke and cannot be opened is told once and tried again") {
  for (const ErrorCode code : {ErrorCode::kPermissionDenied, ErrorCode::kNotFound}) {
    const auto refused = [code]() -> Result<OpenedGpu> { return fail(code, "no way in"); };
    const SharedRecorder recorder(in_turn({sleeps_a_while, refused, refused, is_awake}));
    const SessionClient client = recorder.attach();
    CHECK(client.start(recorder.order("a", 1000)).gpu_name == "a GPU of the test");
    recorder.wait_until([](const ipc::HealthReport& health) { return !health.present; });
    wait_for_segments(recorder, 2);
    const std::vector<std::string> warnings = stop(client);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find(code == ErrorCode::kNotFound
                               ? "the GPU was asleep and is gone: no way in"
                               : "the GPU woke up and cannot be recorded: no way in") !=
          std::string::npos);
    const store::SessionReader session = recorder.session("a");
    CHECK(session.segments()[1].description.reason == "the GPU is back");
    const std::vector<std::string> kinds = event_kinds(session);
    CHECK(std::count(kinds.begin(), kinds.end(), "device_gone") == 1);
    CHECK(std::count(kinds.begin(), kinds.end(), "device_back") == 1);
  }
}

TEST_CASE("monitoring is refused a GPU that sleeps, and gets it when it is awake") {
  const SharedRecorder recorder(in_turn({sleeps_on, is_awake}));
  ipc::StartOrder order = recorder.order("a", 1000);
  order.purpose = ipc::Purpose::kBackground;
  const SessionClient refused = recorder.attach();
  refused.send(order);
  const ipc::Answer answer = refused.next();
  REQUIRE(std::holds_alternative<ipc::FailedAnswer>(answer));
  CHECK(std::get<ipc::FailedAnswer>(answer).error.code == ErrorCode::kBusy);
  CHECK_FALSE(std::filesystem::exists(recorder.file("a")));
  const SessionClient accepted = recorder.attach();
  CHECK(accepted.start(order).notes == std::vector<std::string>{"not recorded: GRBM_STATUS3"});
  CHECK(stop(accepted).empty());
}

}  // namespace
}  // namespace gputrace::recorder
