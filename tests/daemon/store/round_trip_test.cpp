#include <doctest/doctest.h>
#include <sys/stat.h>

#include "daemon/store/session_reader.h"
#include "daemon/store/session_writer.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using sampler::SampleBlock;
using sampler::SampleState;
using test::SessionRecipe;

/// Bits that behave differently: constant, slow, noisy, equal to another, absent now and then.
SessionRecipe busy_recipe() {
  SessionRecipe recipe;
  recipe.registers = {"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS_SE0"};
  recipe.seconds = 3.25;
  recipe.word = [](std::size_t reg, std::size_t tick) {
    std::mt19937 random(static_cast<unsigned>(tick / 7));
    const auto noisy = static_cast<std::uint32_t>(random());
    return reg == 1 ? (tick % 3 == 0 ? 8U : 0x80000000U) : (noisy & 0x7ffffff0U) | 0x80000000U;
  };
  recipe.state = [](std::size_t reg, std::size_t tick) {
    if (reg == 1 && tick % 500 == 499) {
      return SampleState::kAllOnes;
    }
    return tick >= 1200 && tick < 1300 ? SampleState::kAsleep : SampleState::kValid;
  };
  return recipe;
}

SessionReader open(const std::filesystem::path& path) {
  Result<SessionReader> reader = SessionReader::open(path);
  REQUIRE_MESSAGE(reader, (reader ? "" : reader.error().message));
  return std::move(*reader);
}

TEST_CASE("every word, state and microsecond of a session comes back") {
  const test::TempDir dir;
  const auto path = dir.path() / "a.gputrace";
  const SessionRecipe recipe = busy_recipe();
  const Status made = test::make_session(path, recipe);
  REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
  const SessionReader reader = open(path);
  REQUIRE(reader.segments().size() == 1);
  const StoredSegment& segment = reader.segments()[0];
  std::size_t tick = 0;
  const Status read =
      reader.for_each_block(segment, std::nullopt, [&](const SampleBlock& block) -> Status {
        const SampleBlock expected = test::block_of(recipe, tick, tick + block.size);
        CHECK(block.size > 0);
        CHECK(block.start_ns == expected.start_ns);
        CHECK(block.end_ns == expected.end_ns);
        for (std::size_t i = 0; i < block.size; ++i) {
          REQUIRE(block.time_ns[i] == expected.time_ns[i]);
          for (std::size_t r = 0; r < 3; ++r) {
            REQUIRE(block.states_of(r)[i] == expected.states_of(r)[i]);
            REQUIRE(block.words_of(r)[i] == expected.words_of(r)[i]);
          }
        }
        tick += block.size;
        return {};
      });
  REQUIRE_MESSAGE(read, (read ? "" : read.error().message));
  CHECK(tick == 3250);
  CHECK(segment.totals.ticks == 3250);
}

TEST_CASE("the description, the end and the notes of a session come back") {
  const test::TempDir dir;
  const auto path = dir.path() / "a.gputrace";
  SessionDescription description;
  description.kind = SessionKind::kImport;
  description.label = "first \x1b[31m light";
  description.command = std::vector<std::string>{"game", "", "a,b", "--", "\xff\xfe"};
  description.origin = "radeontop dump trace.txt";
  Result<SessionWriter> writer = SessionWriter::create(path, OnExisting::kRefuse, description);
  REQUIRE(writer);
  SegmentDescription segment = test::segment_of({});
  segment.gpu.pci = "0000:c4:00.0";
  segment.gpu.vendor_id = 0x1002;
  segment.rate_hz = std::nullopt;
  REQUIRE(writer->begin_segment(segment));
  const WindowMean mean{0, 31, segment.start_ns, segment.start_ns + kNsPerSecond, 0.25, 120};
  REQUIRE(writer->write_window_means(std::span(&mean, 1)));
  REQUIRE(writer->write_anchor({5, 6, 7}));
  REQUIRE(writer->write_event({42, "mark", "level 2"}));
  const auto finished = writer->finish({segment.start_ns + kNsPerSecond, std::nullopt, 9});
  REQUIRE(finished);
  CHECK_FALSE(finished->still_wal);

  const SessionReader reader = open(path);
  CHECK(reader.description().kind == SessionKind::kImport);
  CHECK(reader.description().label == description.label);
  CHECK(reader.description().command == description.command);
  CHECK(reader.description().origin == description.origin);
  CHECK_FALSE(reader.description().started);
  REQUIRE(reader.end());
  CHECK(reader.end()->signal == 9);
  CHECK_FALSE(reader.end()->exit_code);
  const SegmentDescription& stored = reader.segments().at(0).description;
  CHECK(stored.gpu.pci == "0000:c4:00.0");
  CHECK(stored.gpu.vendor_id == 0x1002);
  CHECK_FALSE(stored.gpu.device_id);
  CHECK_FALSE(stored.rate_hz);
  CHECK(regdb::to_string(stored.gpu.gc.value()) == "11.0.1");
  CHECK(reader.anchors().value().at(0).realtime_ns == 7);
  CHECK(reader.events().value().at(0).text == "level 2");
  const auto means = reader.window_means(reader.segments()[0]);
  REQUIRE(means);
  CHECK(means->at(0).busy == 0.25);
  CHECK(means->at(0).samples == 120U);
  CHECK(reader.span().value().end_ns == segment.start_ns + kNsPerSecond);
}

TEST_CASE("a session file is private to its user and a finished one stands alone") {
  const test::TempDir dir;
  const auto path = dir.path() / "a.gputrace";
  REQUIRE(test::make_session(path, {}));
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    ++files;
  }
  CHECK(files == 1);
}

TEST_CASE("a block longer than a second is stored as parts of at most one") {
  const test::TempDir dir;
  const auto path = dir.path() / "a.gputrace";
  SessionRecipe recipe = busy_recipe();
  Result<SessionWriter> writer = SessionWriter::create(path, OnExisting::kRefuse, {});
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of(recipe)));
  REQUIRE(writer->write_block(test::block_of(recipe, 0, 3250)));
  REQUIRE(writer->finish({}));
  const SessionReader reader = open(path);
  std::size_t blocks = 0;
  std::size_t ticks = 0;
  REQUIRE(reader.for_each_block(reader.segments()[0], std::nullopt,
                                [&](const SampleBlock& block) -> Status {
                                  ++blocks;
                                  ticks += block.size;
                                  CHECK(block.end_ns - block.start_ns <= kNsPerSecond);
                                  return {};
                                }));
  CHECK(blocks == 4);
  CHECK(ticks == 3250);
}

TEST_CASE("times that run backwards and blocks of another size are refused") {
  const test::TempDir dir;
  Result<SessionWriter> writer =
      SessionWriter::create(dir.path() / "a.gputrace", OnExisting::kRefuse, {});
  REQUIRE(writer);
  SampleBlock block = test::block_of({}, 0, 100);
  CHECK(writer->write_block(block).error().code == ErrorCode::kInvalidArgument);
  REQUIRE(writer->begin_segment(test::segment_of({})));
  std::swap(block.time_ns[3], block.time_ns[90]);
  const Status status = writer->write_block(block);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kInvalidArgument);
  CHECK(status.error().message.find("backwards") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::store
