// A disk that fills while recording, played by a file size limit in a child process.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "daemon/store/session_reader.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

test::SessionRecipe recipe() {
  test::SessionRecipe recipe;
  recipe.word = [](std::size_t, std::size_t tick) {
    return static_cast<std::uint32_t>(tick * 2654435761U) & 0x7fffffffU;
  };
  return recipe;
}

/// 0 = wrote on for ever; 1 = no session; 2 = another error; 3 = kNoSpace, which stays.
int write_until_full(const std::filesystem::path& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{300'000, 300'000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  auto writer = SessionWriter::create(path, OnExisting::kRefuse, {});
  if (!writer || !writer->begin_segment(test::segment_of(recipe()))) {
    return 1;
  }
  for (std::size_t block = 0; block < 500; ++block) {
    Status status =
        writer->write_block(test::block_of(recipe(), block * 1000, block * 1000 + 1000));
    if (status) {
      status = writer->commit();
    }
    if (!status) {
      const bool stays = !writer->commit() && !writer->write_event({1, "mark", "x"});
      const bool end_failed = !writer->finish({}).has_value();
      return status.error().code == ErrorCode::kNoSpace && stays && end_failed ? 3 : 2;
    }
  }
  return 0;
}

TEST_CASE("when the disk is full the error says so and what was committed stays readable") {
  const test::TempDir dir;
  const auto path = dir.path() / "full.gputrace";
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::_exit(write_until_full(path));
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  const Result<SessionReader> reader = SessionReader::open(path);
  REQUIRE_MESSAGE(reader, (reader ? "" : reader.error().message));
  CHECK_FALSE(reader->end());
  std::size_t tick = 0;
  REQUIRE(reader->for_each_block(
      reader->segments().at(0), std::nullopt, [&](const sampler::SampleBlock& block) -> Status {
        const auto expected = test::block_of(recipe(), tick, tick + block.size);
        CHECK(block.words_of(0)[7] == expected.words_of(0)[7]);
        tick += block.size;
        return {};
      }));
  CHECK(tick > 5000);
  CHECK(reader->segments()[0].totals.ticks == tick);
}

}  // namespace
}  // namespace gputrace::store
