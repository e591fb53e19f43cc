// What is left of a recording whose process is killed at any moment.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <random>

#include "daemon/base/unique_fd.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_reader.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

constexpr std::size_t kTicksPerBlock = 1000;

test::SessionRecipe recipe() {
  test::SessionRecipe recipe;
  recipe.registers = {"GRBM_STATUS", "GRBM_STATUS2"};
  recipe.word = [](std::size_t reg, std::size_t tick) {
    return static_cast<std::uint32_t>((tick * 2654435761U) >> (reg + 3)) & 0x7fffffffU;
  };
  return recipe;
}

/// Writes blocks, and a reading of a sensor with each, as fast as it can; one byte into the pipe
/// before each commit and one after.
[[noreturn]] void write_until_killed(const std::filesystem::path& path, int pipe) {
  auto writer = SessionWriter::create(path, OnExisting::kRefuse, {});
  if (!writer || !writer->begin_segment(test::segment_of(recipe()))) {
    ::_exit(1);
  }
  const auto sensors = writer->define_sensor_source({"hwmon", std::nullopt, {{}}});
  if (!sensors) {
    ::_exit(1);
  }
  for (std::size_t block = 0;; ++block) {
    const auto ticks =
        test::block_of(recipe(), block * kTicksPerBlock, (block + 1) * kTicksPerBlock);
    const store::SensorRun run{
        .start_ns = ticks.start_ns, .end_ns = ticks.end_ns, .value = static_cast<double>(block)};
    const bool written = writer->write_block(ticks).has_value() &&
                         writer->write_sensor_run(sensors->series[0], run).has_value() &&
                         ::write(pipe, "w", 1) == 1 && writer->commit().has_value() &&
                         ::write(pipe, "c", 1) == 1;
    if (!written) {
      ::_exit(1);
    }
  }
}

struct Killed {
  std::size_t commits_seen = 0;
  std::size_t writes_seen = 0;
};

/// Kills the writer after `bytes` bytes of the pipe and `spins` turns of an idle loop, so that the
/// moment falls anywhere inside encoding, writing and syncing.
Killed record_and_kill(const std::filesystem::path& path, std::size_t bytes, std::uint64_t spins) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    write_until_killed(path, write_end.get());
  }
  write_end.reset();
  Killed killed;
  char byte = 0;
  const auto count = [&] {
    killed.commits_seen += byte == 'c' ? 1 : 0;
    killed.writes_seen += byte == 'w' ? 1 : 0;
  };
  for (std::size_t i = 0; i < bytes && ::read(read_end.get(), &byte, 1) == 1; ++i) {
    count();
  }
  volatile std::uint64_t spin = 0;
  while (spin < spins) {
    spin = spin + 1;
  }
  ::kill(pid, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFSIGNALED(status));
  while (::read(read_end.get(), &byte, 1) == 1) {
    count();
  }
  return killed;
}

void check_what_is_left(const std::filesystem::path& path, const Killed& killed) {
  const Result<SessionReader> reader = SessionReader::open(path);
  REQUIRE_MESSAGE(reader, (reader ? "" : reader.error().message));
  CHECK_FALSE(reader->end());
  std::size_t tick = 0;
  std::size_t blocks = 0;
  if (!reader->segments().empty()) {
    const Status read = reader->for_each_block(
        reader->segments()[0], std::nullopt, [&](const sampler::SampleBlock& block) -> Status {
          const auto expected = test::block_of(recipe(), tick, tick + kTicksPerBlock);
          CHECK(block.size == kTicksPerBlock);
          CHECK(block.start_ns == expected.start_ns);
          CHECK(block.time_ns[500] == expected.time_ns[500]);
          CHECK(block.words_of(1)[999] == expected.words_of(1)[999]);
          tick += block.size;
          ++blocks;
          return {};
        });
    REQUIRE_MESSAGE(read, (read ? "" : read.error().message));
    // Totals and plain rows are as old as the last block.
    CHECK(reader->segments()[0].totals.ticks == tick);
  }
  const auto runs = reader->sensor_runs(1, std::nullopt);
  REQUIRE(runs);
  CHECK(runs->size() == blocks);
  CHECK((runs->empty() || runs->back().value == static_cast<double>(blocks - 1)));
  // Every commit that returned is there; of what was being written at most one block more. A block
  // being filled and one being written is what a crash may cost.
  CHECK(blocks >= killed.commits_seen);
  CHECK(killed.writes_seen <= blocks + 2);
}

TEST_CASE("a recording killed at any moment opens, has no gap and lacks at most two blocks") {
  std::mt19937_64 random(20261129);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const test::TempDir dir;
    const auto path = dir.path() / "killed.gputrace";
    const std::size_t bytes = 1 + random() % 60;
    const Killed killed = record_and_kill(path, bytes, random() % 4'000'000);
    check_what_is_left(path, killed);
    // Opening finished it: one file, and the next opening finds nothing to do.
    CHECK_FALSE(std::filesystem::exists(path.string() + "-wal"));
    CHECK(finish_interrupted_session(path).value() == Finishing::kWasComplete);
  }
}

TEST_CASE("an interrupted session keeps its time of change when it is finished") {
  const test::TempDir dir;
  const auto path = dir.path() / "killed.gputrace";
  record_and_kill(path, 6, 0);
  const auto before = std::filesystem::last_write_time(path);
  REQUIRE(finish_interrupted_session(path).value() == Finishing::kFinished);
  CHECK(std::filesystem::last_write_time(path) == before);
}

TEST_CASE("a session that is being recorded can be read and is left to its writer") {
  const test::TempDir dir;
  const auto path = dir.path() / "live.gputrace";
  Result<SessionWriter> writer = SessionWriter::create(path, OnExisting::kRefuse, {});
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(recipe())));
  REQUIRE(writer->write_block(test::block_of(recipe(), 0, 1000)));
  REQUIRE(writer->commit());
  CHECK(finish_interrupted_session(path).value() == Finishing::kInUse);
  {
    const Result<SessionReader> reader = SessionReader::open(path);
    REQUIRE_MESSAGE(reader, (reader ? "" : reader.error().message));
    CHECK_FALSE(reader->end());
    CHECK(reader->segments().at(0).totals.ticks == 1000);
  }
  REQUIRE(writer->write_block(test::block_of(recipe(), 1000, 2000)));
  CHECK_FALSE(writer->finish({}).value().still_wal);
}

TEST_CASE("a reader sees a session that is being recorded as it was when it was opened") {
  const test::TempDir dir;
  const auto path = dir.path() / "live.gputrace";
  Result<SessionWriter> writer = SessionWriter::create(path, OnExisting::kRefuse, {});
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(recipe())));
  REQUIRE(writer->write_block(test::block_of(recipe(), 0, 1000)));
  REQUIRE(writer->commit());
  const Result<SessionReader> reader = SessionReader::open(path);
  REQUIRE(reader);
  CHECK(reader->in_use());
  REQUIRE(writer->write_block(test::block_of(recipe(), 1000, 2000)));
  REQUIRE(writer->commit());
  const StoredSegment& segment = reader->segments().at(0);
  const std::array<BitRef, 1> bits{{{0, 3}}};
  const auto counts = reader->counts(segment, bits, std::nullopt);
  REQUIRE_MESSAGE(counts, (counts ? "" : counts.error().message));
  CHECK(counts->bits[0].busy.size() == 10);
  const auto states = reader->state_counts(segment, std::nullopt);
  REQUIRE(states);
  CHECK(states->at(0).by_state[0] == 1000);
  CHECK(SessionReader::open(path).value().segments().at(0).totals.ticks == 2000);
}

TEST_CASE("with a reader connected a finished session stays in WAL mode until the next opening") {
  const test::TempDir dir;
  const auto path = dir.path() / "live.gputrace";
  Result<SessionWriter> writer = SessionWriter::create(path, OnExisting::kRefuse, {});
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(recipe())));
  REQUIRE(writer->write_block(test::block_of(recipe(), 0, 1000)));
  REQUIRE(writer->commit());
  {
    const Result<SessionReader> connected = SessionReader::open(path);
    REQUIRE(connected);
    const auto finished =
        writer->finish({test::segment_of(recipe()).start_ns + kNsPerSecond, 0, std::nullopt});
    REQUIRE_MESSAGE(finished, (finished ? "" : finished.error().message));
    CHECK(finished->still_wal);
    CHECK(connected->for_each_block(connected->segments()[0], std::nullopt,
                                    [](const sampler::SampleBlock&) -> Status { return {}; }));
  }
  {
    const SessionWriter closed = std::move(*writer);
  }
  CHECK(finish_interrupted_session(path).value() == Finishing::kFinished);
  const Result<SessionReader> reader = SessionReader::open(path);
  REQUIRE(reader);
  const std::optional<SessionEnd>& end = reader->end();
  GPUTRACE_CHECK(end.has_value());
  CHECK(end->exit_code == 0);
  CHECK_FALSE(reader->in_use());
}

}  // namespace
}  // namespace gputrace::store
