// The thread that writes a file, when the disk keeps it for long.
#include "daemon/recorder/writing_thread.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "tests/daemon/recorder/shared_rig.h"

namespace gputrace::recorder {
namespace {

constexpr std::size_t kTicks = 100;

std::unique_ptr<sampler::SampleBlock> block_from(std::int64_t start_ns) {
  auto block = std::make_unique<sampler::SampleBlock>(1, kTicks);
  block->register_count = 1;
  block->size = kTicks;
  block->start_ns = start_ns;
  block->end_ns = start_ns + static_cast<std::int64_t>(kTicks) * kNsPerMs;
  for (std::size_t tick = 0; tick < kTicks; ++tick) {
    block->time_ns[tick] = start_ns + static_cast<std::int64_t>(tick) * kNsPerMs;
    block->states[tick] = sampler::SampleState::kValid;
  }
  block->totals.ticks = kTicks;
  return block;
}

/// In a process of its own, which leaves the shared sampling's thread behind: checks abort.
void finish_while_the_writer_is_kept(const std::filesystem::path& file) {
  const TimeAnchor started = read_time_anchor();
  sampler::OfferedRegister reg;
  reg.name = "GRBM_STATUS";
  store::SegmentDescription segment;
  segment.start_ns = started.monotonic_ns;
  segment.rate_hz = 1000;
  segment.regdb_table = "11.0.0";
  segment.registers = {reg};
  segment.reason = "start";
  store::SessionDescription description;
  description.started = started;
  store::SessionWriter writer =
      store::SessionWriter::create(file, store::OnExisting::kRefuse, description).value();
  GPUTRACE_CHECK(writer.begin_segment(segment) && writer.write_anchor(started));
  auto shared = std::make_shared<SharedSegment>();
  shared->regdb_table = segment.regdb_table;
  shared->rate_hz = 1000;
  shared->registers = segment.registers;

  auto* pool = new SamplingPool(
      [](const GpuRequest&) -> Result<OpenedGpu> { return fail(ErrorCode::kNotFound, "none"); },
      [] {});
  auto feed = std::make_shared<SessionFeed>();
  std::promise<void> kept;
  std::promise<void> release;
  WritingThread writing(
      RecordingFile(std::move(writer), segment, started, DiskReserve(file.parent_path(), 0),
                    [&](const ipc::WarningAnswer&) {
                      kept.set_value();
                      release.get_future().wait();
                    }),
      *pool, {&pool->first(), feed}, {});
  feed->push(Notice{{started.monotonic_ns, "lost", "why"}, "why"});
  kept.get_future().wait();
  for (int i = 0; i < 3; ++i) {
    feed->push(shared, block_from(started.monotonic_ns + i * kNsPerSecond));
  }
  auto finished = std::async(std::launch::async, [&] { return writing.finish(0, std::nullopt); });
  GPUTRACE_CHECK(finished.wait_for(std::chrono::milliseconds(400)) == std::future_status::timeout);
  feed->close();
  release.set_value();
  const ipc::ClosedAnswer closed = finished.get();
  GPUTRACE_CHECK(!closed.cut);
  GPUTRACE_CHECK(closed.samples == 3 * kTicks);
  const store::SessionReader session = store::SessionReader::open(file).value();
  GPUTRACE_CHECK(session.segments().at(0).totals.ticks == 3 * kTicks);
  GPUTRACE_CHECK(!has(event_kinds(session), "warning"));
}

TEST_CASE("a disk that keeps the writer beyond the grace for a read costs no sample") {
  const test::TempDir folder;
  const pid_t pid = ::fork();
  if (pid == 0) {
    finish_while_the_writer_is_kept(folder.path() / "a.gputrace");
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
}

}  // namespace
}  // namespace gputrace::recorder
