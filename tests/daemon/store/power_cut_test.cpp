// What is left of a recording when the power goes at any moment: the disk keeps what was synced,
// and of the rest nothing, everything or some sectors.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <random>
#include <vector>

#include "daemon/store/session_file.h"
#include "daemon/store/session_reader.h"
#include "tests/support/error_text.h"
#include "tests/support/make_session.h"
#include "tests/support/power_cut_vfs.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using test::error_text;
using test::PowerCutVfs;
using test::Unsynced;

constexpr std::size_t kTicksPerBlock = 1000;  // a second
constexpr std::string_view kName = "cut.gputrace";

/// A recording with the moments, counted in disk operations, at which calls returned.
struct Recording {
  test::TempDir folder;
  test::SessionRecipe recipe;
  PowerCutVfs disk{folder.path()};
  std::size_t created = 0;
  std::vector<std::size_t> committed;
  std::size_t finished = 0;

  [[nodiscard]] std::size_t commits_before(std::size_t moment) const {
    return static_cast<std::size_t>(std::upper_bound(committed.begin(), committed.end(), moment) -
                                    committed.begin());
  }
};

void record(Recording& recording, std::size_t registers, std::size_t blocks) {
  test::SessionRecipe& recipe = recording.recipe;
  recipe.registers.clear();
  for (std::size_t i = 0; i < registers; ++i) {
    recipe.registers.push_back("REG" + std::to_string(i));
  }
  // Bits of chance are not compressed: a block is as large as blocks can be.
  recipe.word = [](std::size_t reg, std::size_t tick) {
    std::uint64_t x = tick * 0x9e3779b97f4a7c15U + reg * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 30U) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>(x >> 33U);
  };
  Result<SessionWriter> writer =
      SessionWriter::create(recording.folder.path() / kName, OnExisting::kRefuse, {});
  REQUIRE_MESSAGE(writer, error_text(writer));
  recording.created = recording.disk.operations();
  REQUIRE(writer->begin_segment(test::segment_of(recipe)));
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * kTicksPerBlock;
    const Status written =
        writer->write_block(test::block_of(recipe, first, first + kTicksPerBlock));
    REQUIRE_MESSAGE(written, error_text(written));
    const Status committed = writer->commit();
    REQUIRE_MESSAGE(committed, error_text(committed));
    recording.committed.push_back(recording.disk.operations());
  }
  const auto finished = writer->finish({recipe.start_ns + 1, 0, std::nullopt});
  REQUIRE_MESSAGE(finished, error_text(finished));
  REQUIRE_FALSE(finished->still_wal);
  recording.finished = recording.disk.operations();
}

/// Blocks in the file, each compared with what was recorded; the reader's error otherwise.
Result<std::size_t> blocks_in(const SessionReader& reader, const test::SessionRecipe& recipe) {
  std::size_t tick = 0;
  if (reader.segments().empty()) {
    return 0;
  }
  const Status read = reader.for_each_block(
      reader.segments()[0], std::nullopt, [&](const sampler::SampleBlock& block) -> Status {
        const std::size_t last = recipe.registers.size() - 1;
        const bool as_recorded =
            block.size == kTicksPerBlock &&
            block.start_ns == recipe.start_ns + static_cast<std::int64_t>(tick) * kNsPerMs &&
            block.words_of(0)[0] == recipe.word(0, tick) &&
            block.words_of(last)[999] == recipe.word(last, tick + 999);
        tick += block.size;
        return as_recorded ? Status{} : fail(ErrorCode::kCorrupt, "a gap or another block");
      });
  if (!read) {
    return tl::unexpected<Error>(read.error());
  }
  if (reader.segments()[0].totals.ticks != tick) {
    return fail(ErrorCode::kCorrupt, "totals and blocks differ");
  }
  return tick / kTicksPerBlock;
}

/// Opens what the disk has after the cut, as the daemon does when it starts again.
void check_image(const Recording& recording, std::size_t moment,
                 const std::filesystem::path& file) {
  const Result<Finishing> finishing = finish_interrupted_session(file);
  const Result<SessionReader> reader = SessionReader::open(file);
  if (moment < recording.created) {
    // Nothing was recorded yet. The file may be absent or say that its creation was cut short.
    const bool told = reader || reader.error().code == ErrorCode::kNotFound ||
                      reader.error().message.ends_with("is empty") ||
                      reader.error().message.ends_with("its creation was cut short");
    CHECK_MESSAGE(told, error_text(reader));
    return;
  }
  REQUIRE_MESSAGE(finishing, error_text(finishing));
  REQUIRE_MESSAGE(reader, error_text(reader));
  const Result<std::size_t> blocks = blocks_in(*reader, recording.recipe);
  REQUIRE_MESSAGE(blocks, error_text(blocks));
  // Of what was being written when the power went there may be one block more.
  CHECK(*blocks >= recording.commits_before(moment));
  CHECK(*blocks <= recording.commits_before(moment) + 1);
  if (moment == recording.finished) {
    CHECK(reader->end());
  }
  CHECK(finish_interrupted_session(file).value() == Finishing::kWasComplete);
}

void check_cut(const Recording& recording, std::size_t moment, std::mt19937_64& random) {
  const auto unsynced = static_cast<Unsynced>(random() % 3);
  CAPTURE(moment);
  CAPTURE(unsynced);
  const test::TempDir dir;
  const auto folder = dir.path() / "disk";
  test::write_image(recording.disk.after_cut(moment, unsynced, random), folder);
  if (random() % 4 == 0) {
    // Shared memory of the log is never synced: whatever it holds must not matter.
    std::ofstream(folder / (std::string(kName) + "-shm")) << std::string(32'768, '\xa5');
  }
  const bool there = std::filesystem::exists(folder / kName);
  REQUIRE((there || moment < recording.created));
  std::optional<test::DiskImage> second;
  {
    // The power goes once more while the file is being finished.
    const PowerCutVfs disk(folder);
    check_image(recording, moment, folder / kName);
    if (disk.operations() > 0) {
      second = disk.after_cut(random() % (disk.operations() + 1), unsynced, random);
    }
  }
  if (second) {
    test::write_image(*second, folder);
    const PowerCutVfs disk(folder);
    check_image(recording, moment, folder / kName);
  }
}

TEST_CASE("a power cut at any moment leaves a file that opens, with all that was committed") {
  Recording recording;
  record(recording, 2, 8);
  std::mt19937_64 random(20261130);
  // The first and last moments are where files are created and put together.
  std::vector<std::size_t> moments{0, recording.created, recording.finished};
  while (moments.size() < GPUTRACE_POWER_CUTS) {
    const std::size_t last = recording.disk.operations();
    switch (random() % 4) {
      case 0:
        moments.push_back(random() % (recording.created + 20));
        break;
      case 1:
        moments.push_back(recording.committed.back() +
                          random() % (last + 1 - recording.committed.back()));
        break;
      default:
        moments.push_back(random() % (last + 1));
    }
  }
  for (const std::size_t moment : moments) {
    check_cut(recording, moment, random);
  }
}

TEST_CASE("a power cut while the log is brought into the file in mid-recording loses nothing") {
  Recording recording;
  record(recording, 8, 90);
  const std::vector<std::size_t> changes = recording.disk.main_file_changes();
  std::vector<std::size_t> during;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(during), [&](std::size_t moment) {
    return moment > recording.created + 50 && moment < recording.committed.back();
  });
  REQUIRE(during.size() > 1000);
  std::mt19937_64 random(20261201);
  for (int i = 0; i < GPUTRACE_POWER_CUTS / 20; ++i) {
    const std::size_t near =
        during[i % 2 == 0 ? random() % during.size() : (random() % 2 == 0 ? 0 : during.size() - 1)];
    check_cut(recording, near + random() % 200 - std::min<std::size_t>(near, 100), random);
  }
}

}  // namespace
}  // namespace gputrace::store
