// Session files whose folder, log or owner is somebody else's.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "daemon/base/unique_fd.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_reader.h"
#include "tests/support/make_results.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using std::filesystem::path;

constexpr uid_t kNobody = 65534;

/// Runs `body` in a child that may write only its own files, and returns what it says.
std::string as_ordinary_user(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      ::_exit(1);
    }
    const std::string said = body();
    ::_exit(::write(write_end.get(), said.data(), said.size()) == static_cast<ssize_t>(said.size())
                ? 0
                : 1);
  }
  write_end.reset();
  std::string said;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(read_end.get(), buffer.data(), buffer.size())) > 0;) {
    said.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
  return said;
}

/// A recording whose process died: the samples are in the -wal beside it.
void make_cut(const path& file) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    auto writer = SessionWriter::create(file, OnExisting::kReplace, {});
    const test::SessionRecipe recipe;
    const bool written = writer && writer->begin_segment(test::segment_of(recipe)) &&
                         writer->write_block(test::block_of(recipe, 0, 1000)) && writer->commit();
    ::_exit(written ? 0 : 1);  // without the destructors: as if killed
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
  REQUIRE(std::filesystem::exists(file.string() + "-wal"));
}

std::string open_and_describe(const path& file) {
  const Result<SessionReader> reader = SessionReader::open(file);
  if (!reader) {
    return reader.error().message;
  }
  const auto& segments = reader->segments();
  return segments.empty() ? "no segment" : std::to_string(segments[0].totals.ticks) + " ticks";
}

/// Readable by all, writable by nobody who is not root.
void make_read_only(const path& folder, const path& file) {
  for (const char* suffix : {"", "-wal"}) {
    const path each = file.string() + suffix;
    if (std::filesystem::exists(each)) {
      REQUIRE(::chmod(each.c_str(), 0444) == 0);
    }
  }
  REQUIRE(::chmod(folder.c_str(), 0555) == 0);
}

TEST_CASE("results cannot be added to a file that may only be read, which stays as it was") {
  const test::TempDir dir;
  const path file = dir.path() / "bench.gputrace";
  const std::array runs{test::full_run()};
  SessionDescription description;
  description.kind = SessionKind::kBench;
  REQUIRE(create_result_file(file, OnExisting::kRefuse, description, {}, runs));
  make_read_only(dir.path(), file);
  const std::string said = as_ordinary_user([&] {
    const Status status = append_results(file, runs);
    return status ? std::string("stored") : status.error().message;
  });
  CHECK(said.find("bench.gputrace") != std::string::npos);
  REQUIRE(::chmod(dir.path().c_str(), 0700) == 0);
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE(reader);
  CHECK(reader->results().value().size() == 1);
}

TEST_CASE("a cut recording that the reader may not finish says who can, and how else") {
  const test::TempDir dir;
  const path file = dir.path() / "cut.gputrace";
  make_cut(file);
  std::filesystem::remove(file.string() + "-shm");
  make_read_only(dir.path(), file);
  const std::string said = as_ordinary_user([&] { return open_and_describe(file); });
  CAPTURE(said);
  CHECK(said.find("its recording was cut") != std::string::npos);
  CHECK(said.find(::geteuid() == 0 ? "as root" : "make both writable") != std::string::npos);
  CHECK(said.find("together with its -wal") != std::string::npos);
  const std::string finishing = as_ordinary_user([&] {
    const auto finished = finish_interrupted_session(file);
    return finished ? std::string("finished") : finished.error().message;
  });
  CHECK(finishing == said);
  CHECK(std::filesystem::exists(file.string() + "-wal"));
  REQUIRE(::chmod(dir.path().c_str(), 0700) == 0);
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  REQUIRE(::chmod((file.string() + "-wal").c_str(), 0600) == 0);
  CHECK(open_and_describe(file) == "1000 ticks");
  CHECK_FALSE(std::filesystem::exists(file.string() + "-wal"));
}

TEST_CASE("a copy of a cut recording with its log can be finished by whoever made the copy") {
  const test::TempDir dir;
  const path file = dir.path() / "cut.gputrace";
  make_cut(file);
  make_read_only(dir.path(), file);
  const test::TempDir other;
  REQUIRE(::chmod(other.path().c_str(), 0777) == 0);
  const path copy = other.path() / "copy.gputrace";
  const std::string said = as_ordinary_user([&] {
    std::filesystem::copy_file(file, copy);
    std::filesystem::copy_file(file.string() + "-wal", copy.string() + "-wal");
    ::chmod(copy.c_str(), 0600);
    ::chmod((copy.string() + "-wal").c_str(), 0600);
    return open_and_describe(copy);
  });
  CHECK(said == "1000 ticks");
  CHECK_FALSE(std::filesystem::exists(copy.string() + "-wal"));
  REQUIRE(::chmod(dir.path().c_str(), 0700) == 0);
}

TEST_CASE("a finished file that stayed in WAL mode is read where nothing can be written") {
  const test::TempDir dir;
  const path file = dir.path() / "wal.gputrace";
  REQUIRE(test::make_session(file, {}));
  {
    Result<Database> database = Database::open(file, Database::Mode::kReadWrite);
    REQUIRE(database);
    REQUIRE(database->scalar_text("PRAGMA journal_mode=WAL").value() == "wal");
  }
  std::filesystem::remove(file.string() + "-wal");
  make_read_only(dir.path(), file);
  CHECK(as_ordinary_user([&] { return open_and_describe(file); }) == "2000 ticks");
  REQUIRE(::chmod(dir.path().c_str(), 0700) == 0);
}

TEST_CASE("what lies beside a session is not taken for a part of it when it cannot be one") {
  const test::TempDir dir;
  const path file = dir.path() / "a.gputrace";
  const std::array<std::function<void(const path&)>, 3> makers{
      [](const path& beside) { std::filesystem::create_symlink("/etc/passwd", beside); },
      [](const path& beside) { REQUIRE(::mkfifo(beside.c_str(), 0600) == 0); },
      [](const path& beside) { std::filesystem::create_directory(beside); }};
  REQUIRE(test::make_session(file, {}));
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    for (const auto& make : makers) {
      const path beside = file.string() + suffix;
      make(beside);
      const std::string said = open_and_describe(file);
      CHECK(said.find(beside.filename().string() + " is not a regular file") != std::string::npos);
      CHECK_FALSE(finish_interrupted_session(file));
      std::filesystem::remove(beside);
      CHECK(open_and_describe(file) == "2000 ticks");
    }
  }
}

TEST_CASE("a log that somebody else put beside a session is refused") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can give a file to another user");
    return;
  }
  const test::TempDir dir;
  const path file = dir.path() / "a.gputrace";
  make_cut(file);
  REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(file.c_str(), 0644) == 0);
  REQUIRE(::chown((file.string() + "-wal").c_str(), kNobody, kNobody) == 0);
  const std::string said = open_and_describe(file);
  CHECK(said.find("a.gputrace-wal belongs to") != std::string::npos);
  CHECK(said.find("the session to root") != std::string::npos);
  REQUIRE(::chown((file.string() + "-wal").c_str(), 0, 0) == 0);
  CHECK(open_and_describe(file) == "1000 ticks");
}

}  // namespace
}  // namespace gputrace::store
