// Files that are no session, no longer one, or made to hurt.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "daemon/store/session_file.h"
#include "daemon/store/session_reader.h"
#include "tests/support/change_database.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using std::filesystem::path;
using test::change_database;

path make(const test::TempDir& dir) {
  path file = dir.path() / "a.gputrace";
  test::SessionRecipe recipe;
  recipe.seconds = 5;
  REQUIRE(test::make_session(file, recipe));
  return file;
}

Error open_error(const path& file) {
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE_FALSE(reader);
  CHECK(reader.error().message.find(file.filename().string()) != std::string::npos);
  return reader.error();
}

bool says(const Error& error, std::string_view text) {
  return error.message.find(text) != std::string::npos;
}

/// Opens and reads everything; the first error, if any.
Status read_all(const path& file) {
  const Result<SessionReader> reader = SessionReader::open(file);
  if (!reader) {
    return tl::unexpected<Error>(reader.error());
  }
  const std::vector<BitRef> bits{{0, 31}, {0, 0}};
  for (const StoredSegment& segment : reader->segments()) {
    Status read = reader->for_each_block(segment, std::nullopt,
                                         [](const sampler::SampleBlock&) -> Status { return {}; });
    const auto counts = reader->counts(segment, bits, std::nullopt);
    const auto states = reader->state_counts(segment, std::nullopt);
    const auto means = reader->window_means(segment);
    if (!read) {
      return read;
    }
    if (!counts) {
      return tl::unexpected<Error>(counts.error());
    }
    if (!states || !means) {
      return tl::unexpected<Error>(states ? means.error() : states.error());
    }
  }
  return {};
}

TEST_CASE("what is no session file is refused by what it is") {
  const test::TempDir dir;
  const path file = dir.path() / "x.gputrace";
  SUBCASE("missing") {
    CHECK(open_error(file).code == ErrorCode::kNotFound);
  }
  SUBCASE("a folder that is missing") {
    CHECK(open_error(dir.path() / "no/x.gputrace").code == ErrorCode::kNotFound);
  }
  SUBCASE("empty") {
    const std::ofstream empty(file);
    CHECK(says(open_error(file), "is empty"));
  }
  SUBCASE("text") {
    std::ofstream(file) << std::string(300, 'x');
    CHECK(says(open_error(file), "not a gputrace session"));
  }
  SUBCASE("a folder") {
    std::filesystem::create_directory(file);
    CHECK(says(open_error(file), "not a regular file"));
  }
  SUBCASE("a FIFO") {
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    CHECK(says(open_error(file), "not a regular file"));
  }
  SUBCASE("a symbolic link to a session") {
    std::filesystem::create_symlink(make(dir), file);
    CHECK(says(open_error(file), "symbolic link"));
  }
  SUBCASE("a database of another program") {
    change_database(file, "CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    const Error error = open_error(file);
    CHECK(error.code == ErrorCode::kCorrupt);
    CHECK(says(error, "another program"));
  }
}

TEST_CASE("blocks out of order are an error, not samples that a look at a part leaves out") {
  const test::TempDir dir;
  const path file = make(dir);
  SUBCASE("the file as it was written") {
    CHECK(read_all(file));
  }
  SUBCASE("two blocks of one segment") {
    change_database(file,
                    "UPDATE blocks SET id = -1 WHERE id = 2; UPDATE blocks SET id = 2 WHERE id = 3;"
                    "UPDATE blocks SET id = 3 WHERE id = -1");
    const Status read = read_all(file);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::kCorrupt);
    CHECK(says(read.error(), "out of order"));
  }
  SUBCASE("a block of another segment between them") {
    change_database(file, "UPDATE blocks SET segment = 2 WHERE id = 3");
    const Status read = read_all(file);
    REQUIRE_FALSE(read);
    CHECK(says(read.error(), "out of order"));
  }
}

TEST_CASE("a session in a folder reached through a symbolic link opens") {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path() / "real");
  std::filesystem::create_directory_symlink(dir.path() / "real", dir.path() / "link");
  REQUIRE(test::make_session(dir.path() / "link/a.gputrace", {}));
  CHECK(SessionReader::open(dir.path() / "link/a.gputrace"));
}

TEST_CASE("a journal that names a file, which SQLite would delete, is refused") {
  const test::TempDir dir;
  const path file = make(dir);
  const path victim = dir.path() / "victim";
  std::ofstream(victim) << "precious";
  const std::string name = victim.string();
  const std::string magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  std::uint32_t sum = 0;
  for (const char c : name) {
    sum += static_cast<std::uint32_t>(c);
  }
  const auto big_endian = [](std::size_t value) {
    return std::string{static_cast<char>(value >> 24U), static_cast<char>(value >> 16U),
                       static_cast<char>(value >> 8U), static_cast<char>(value)};
  };
  // No page to put back; sector and page size 512. https://www.sqlite.org/fileformat2.html, 3
  const std::string head =
      magic + big_endian(0) + big_endian(1) + big_endian(10) + big_endian(512) + big_endian(512);
  std::ofstream(file.string() + "-journal")
      << head << std::string(512 - head.size(), '\0') << big_endian(1) << name
      << big_endian(name.size()) << big_endian(sum) << magic;
  CHECK(says(open_error(file), "is not a journal of gputrace"));
  CHECK_FALSE(finish_interrupted_session(file));
  CHECK(std::filesystem::exists(victim));
}

TEST_CASE("a newer format version is refused with both versions named") {
  const test::TempDir dir;
  const path file = make(dir);
  change_database(file, "PRAGMA user_version = 7");
  const Error error = open_error(file);
  CHECK(error.code == ErrorCode::kUnsupported);
  CHECK(says(error, "format version 7"));
}

TEST_CASE("a schema that is not that of its version is refused") {
  const test::TempDir dir;
  const path file = make(dir);
  SUBCASE("an extra view") {
    change_database(file, "CREATE VIEW evil AS SELECT 1");
  }
  SUBCASE("a trigger") {
    change_database(file, "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM blocks; END");
  }
  SUBCASE("a view in the place of a table") {
    change_database(file,
                    "DROP TABLE events; CREATE VIEW events AS SELECT 1 AS id, 2 AS time_ns, 'x' AS "
                    "kind, 'y' AS text");
  }
  SUBCASE("a missing table") {
    change_database(file, "DROP TABLE anchors");
  }
  const Error error = open_error(file);
  CHECK(error.code == ErrorCode::kCorrupt);
  CHECK(says(error, "tables are not those"));
}

TEST_CASE("rows with impossible values are errors, not crashes or gigabytes") {
  const test::TempDir dir;
  const path file = make(dir);
  SUBCASE("negative ticks") {
    change_database(file, "UPDATE blocks SET ticks = -1 WHERE id = 2");
  }
  SUBCASE("gigantic ticks") {
    change_database(file, "UPDATE blocks SET ticks = 1 << 40 WHERE id = 2");
  }
  SUBCASE("other ticks") {
    change_database(file, "UPDATE blocks SET ticks = 999 WHERE id = 2");
  }
  SUBCASE("a block before its segment") {
    change_database(file, "UPDATE blocks SET start_ns = -5 WHERE id = 2");
  }
  SUBCASE("a segment of 300 years") {
    change_database(file, "UPDATE segments SET start_ns = 0, end_ns = 9000000000000000000");
  }
  SUBCASE("a blob of another version") {
    change_database(file, "UPDATE blocks SET planes = x'ff00'");
  }
  SUBCASE("an empty blob") {
    change_database(file, "UPDATE blocks SET summary = x''");
  }
  SUBCASE("a zstd frame that claims 4 GiB") {
    // Magic, descriptor (single segment, 8-byte content size), size; no data.
    change_database(file, "UPDATE blocks SET planes = x'0128b52ffde00000000001000000'");
  }
  SUBCASE("a lateness histogram of words") {
    change_database(file, "UPDATE segments SET lateness = '[a]'");
  }
  SUBCASE("40 registers") {
    change_database(file,
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
                    "INSERT INTO registers (segment, position, name, dword_offset, source, reads, "
                    "read_cost_ns) SELECT 1, i, 'X', 0, '', 0, 0 FROM n");
  }
  SUBCASE("a kind that nobody knows") {
    change_database(file, "UPDATE session SET kind = 'party'");
  }
  SUBCASE("no session row") {
    change_database(file, "DELETE FROM session");
  }
  SUBCASE("a mean above 1") {
    change_database(file, "INSERT INTO window_means VALUES (1, 1, 0, 0, 1, 7.5, NULL)");
  }
  const Status status = read_all(file);
  REQUIRE_FALSE(status);
  CHECK(says(status.error(), "a.gputrace"));
}

TEST_CASE("a truncated session is an error or a shorter one, never a crash") {
  const test::TempDir dir;
  const path file = make(dir);
  const auto size = std::filesystem::file_size(file);
  std::size_t refused = 0;
  for (std::uintmax_t left = 0; left < size; left += size / 37) {
    const path copy = dir.path() / "cut.gputrace";
    std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy, left);
    refused += read_all(copy) ? 0 : 1;
  }
  CHECK(refused >= 36);
}

TEST_CASE("a session with random damage is an error or readable, never a crash") {
  const test::TempDir dir;
  const path file = make(dir);
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::mt19937_64 random(7);
  std::size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 8; ++i) {
      damaged[100 + random() % (damaged.size() - 100)] = static_cast<char>(random());
    }
    const path copy = dir.path() / "damaged.gputrace";
    std::ofstream(copy, std::ios::binary | std::ios::trunc) << damaged;
    const Status status = read_all(copy);
    refused += status ? 0 : 1;
  }
  CHECK(refused > 30);
}

TEST_CASE("an existing file is kept unless it may be replaced, and never through a link") {
  const test::TempDir dir;
  const path file = make(dir);
  const auto size = std::filesystem::file_size(file);
  const auto refused = SessionWriter::create(file, OnExisting::kRefuse, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(says(refused.error(), "--force"));
  CHECK(std::filesystem::file_size(file) == size);

  const path link = dir.path() / "link.gputrace";
  std::filesystem::create_symlink(file, link);
  CHECK(SessionWriter::create(link, OnExisting::kReplace, {}).error().code == ErrorCode::kExists);
  CHECK(std::filesystem::file_size(file) == size);
  CHECK(std::filesystem::is_symlink(link));

  CHECK(SessionWriter::create(file, OnExisting::kReplace, {}));
}

TEST_CASE("a folder that is missing or not writable is said when the session is created") {
  const test::TempDir dir;
  CHECK(SessionWriter::create(dir.path() / "no/a.gputrace", OnExisting::kRefuse, {}).error().code ==
        ErrorCode::kNotFound);
  CHECK(SessionWriter::create("/proc/a.gputrace", OnExisting::kRefuse, {}).error().code !=
        ErrorCode::kExists);
}

}  // namespace
}  // namespace gputrace::store
