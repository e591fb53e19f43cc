// Sessions of the monitoring: bursts, and a disk that fills.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/daemon/recorder/shared_rig.h"

namespace gputrace::recorder {
namespace {

constexpr std::int64_t kEveryNs = 500 * kNsPerMs;
constexpr std::int64_t kLengthNs = 100 * kNsPerMs;

ipc::StartOrder background_order(const SharedRecorder& recorder) {
  ipc::StartOrder order = recorder.order("day", 1000);
  order.purpose = ipc::Purpose::kBackground;
  order.bursts = ipc::Bursts{0.1, 0.5};
  return order;
}

/// Every sample of the file lies in a burst; returns how many.
std::size_t check_bursts(const store::SessionReader& session) {
  std::size_t samples = 0;
  for (const store::StoredSegment& segment : session.segments()) {
    const StoredTicks ticks = ticks_of(session, segment);
    samples += ticks.times.size();
    for (const std::int64_t time_ns : ticks.times) {
      CHECK(time_ns % kEveryNs <= kLengthNs + kNsPerMs);  // a period may reach over its end
    }
    for (const store::TimeSpan& block : ticks.blocks) {
      CHECK(block.end_ns - block.start_ns <= kLengthNs + 2 * kNsPerMs);
    }
    CHECK(segment.totals.ticks + segment.totals.missed <=
          (static_cast<std::uint64_t>((segment.end_ns - segment.description.start_ns) / kEveryNs) +
           2) *
              102);
  }
  return samples;
}

TEST_CASE("background monitoring samples in bursts into a file that the group may read") {
  SharedRecorder recorder;
  const SessionClient monitoring = recorder.attach();
  REQUIRE(monitoring.start(background_order(recorder)).simulated == false);
  struct stat info{};
  REQUIRE(::stat(recorder.file("day").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0640);
  recorder.wait_until([&](const auto&) {
    const store::SessionReader session = recorder.session("day");
    return session.segments()[0].totals.ticks > 250;
  });
  CHECK_FALSE(monitoring.stop().cut);
  const store::SessionReader session = recorder.session("day");
  CHECK(session.description().kind == store::SessionKind::kBackground);
  CHECK(check_bursts(session) > 250);
  // The time between the bursts is not covered: its cells have no sample at all.
  const store::SegmentCounts counts =
      session.counts(session.segments()[0], {}, std::nullopt).value();
  const auto& valid = counts.registers[0].valid;
  CHECK(std::count(valid.begin(), valid.end(), 0U) > 2);
}

TEST_CASE("while others sample without pause the monitoring keeps the bursts alone") {
  SharedRecorder recorder;
  const SessionClient monitoring = recorder.attach();
  REQUIRE(monitoring.start(background_order(recorder)).simulated == false);
  const SessionClient recording = recorder.attach();
  REQUIRE(recording.start(recorder.order("all", 1000)).simulated == false);
  recorder.wait_until([&](const auto&) {
    const store::SessionReader session = recorder.session("day");
    return session.segments().back().totals.ticks > 150;
  });
  const ipc::ClosedAnswer all = recording.stop();
  const ipc::ClosedAnswer bursts = monitoring.stop();
  CHECK(all.samples.value_or(0) > 2 * bursts.samples.value_or(0));
  CHECK(check_bursts(recorder.session("day")) == bursts.samples);
}

TEST_CASE("bursts that cannot be sampled are refused") {
  SharedRecorder recorder;
  for (const ipc::Bursts& bursts : {ipc::Bursts{0.1, 0.05}, ipc::Bursts{0.001, 5}}) {
    const SessionClient session = recorder.attach();
    ipc::StartOrder order = background_order(recorder);
    order.rate_hz = 500;
    order.bursts = bursts;
    session.send(order);
    const ipc::Answer answer = session.next();
    REQUIRE(std::holds_alternative<ipc::FailedAnswer>(answer));
    CHECK(std::get<ipc::FailedAnswer>(answer).error.code == ErrorCode::kInvalidArgument);
  }
}

TEST_CASE("a recording does not begin on a disk that has less than its reserve") {
  SharedRecorder recorder;
  const SessionClient session = recorder.attach();
  ipc::StartOrder order = recorder.order("a", 1000);
  order.reserve_bytes = std::uint64_t{1} << 60U;
  session.send(order);
  const ipc::Answer answer = session.next();
  REQUIRE(std::holds_alternative<ipc::FailedAnswer>(answer));
  CHECK(std::get<ipc::FailedAnswer>(answer).error.code == ErrorCode::kNoSpace);
  CHECK_FALSE(std::filesystem::exists(recorder.file("a")));
}

/// Mounts a small tmpfs that only this process and its children see.
bool mount_small_disk(const std::filesystem::path& folder) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=32m") == 0;
}

/// In a process of its own: checks abort.
void record_over_a_full_disk(const std::filesystem::path& folder) {
  SharedRecorder recorder;
  const SessionClient session = recorder.attach();
  ipc::StartOrder order = recorder.order("a", 1000);
  order.file = (folder / "a.gputrace").string();
  order.reserve_bytes = std::uint64_t{16} << 20U;
  GPUTRACE_CHECK(!session.start(order).simulated);
  const std::filesystem::path filler = folder / "filler";
  std::ofstream(filler, std::ios::binary) << std::string(std::size_t{20} << 20U, 'x');
  const auto warning = session.answer<ipc::WarningAnswer>();
  GPUTRACE_CHECK(!warning.recording_ended);
  GPUTRACE_CHECK(warning.text.find("reserve") != std::string::npos);
  session.send(ipc::MarkOrder{monotonic_now_ns(), "while the disk was full"});
  std::filesystem::remove(filler);
  recorder.wait_until([&](const auto&) {
    return has(event_kinds(store::SessionReader::open(order.file).value()), "disk_reserve_over");
  });
  const ipc::ClosedAnswer closed = session.stop();
  GPUTRACE_CHECK(!closed.cut);
  const store::SessionReader written = store::SessionReader::open(order.file).value();
  GPUTRACE_CHECK(has(event_kinds(written), "disk_reserve"));
  GPUTRACE_CHECK(has(event_kinds(written), "mark"));
  std::uint64_t dropped = 0;
  for (const store::StoredSegment& segment : written.segments()) {
    dropped += segment.totals.dropped_ticks;
  }
  GPUTRACE_CHECK(dropped == closed.dropped);
}

TEST_CASE("below the reserve nothing is written, and what is missing is told") {
  const test::TempDir folder;
  const pid_t pid = ::fork();  // the mount namespace must not outlive this test
  if (pid == 0) {
    if (!mount_small_disk(folder.path())) {
      ::_exit(77);
    }
    record_over_a_full_disk(folder.path());
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    MESSAGE("skipped: no privilege for a mount namespace");
    return;
  }
  CHECK(status == 0);
}

}  // namespace
}  // namespace gputrace::recorder
