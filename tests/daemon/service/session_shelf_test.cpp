#include "daemon/service/session_shelf.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "daemon/base/time.h"
#include "daemon/store/session_reader.h"
#include "tests/support/error_text.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::service {
namespace {

using test::error_text;

constexpr std::int64_t kNow = 1'796'000'000 * kNsPerSecond;
constexpr std::int64_t kDay = 86'400 * kNsPerSecond;
constexpr uid_t kUser = 1000;
constexpr std::string_view kPci = "0000:03:00.0";

struct Log {
  std::vector<std::string> lines;
  LogSink sink() {
    return [this](LogLevel level, std::string_view text) {
      lines.push_back(std::string(log_level_name(level)) + ": " + std::string(text));
    };
  }
};

/// A data folder with a shelf in it.
struct Rig {
  test::TempDir dir;
  std::filesystem::path data = dir.path() / "data";
  SessionShelf shelf = opened(data);

  static SessionShelf opened(const std::filesystem::path& data) {
    Result<SessionShelf> shelf = SessionShelf::open(data, ::getegid());
    REQUIRE_MESSAGE(shelf, error_text(shelf));
    return std::move(*shelf);
  }

  [[nodiscard]] std::filesystem::path of_user(std::string_view name, uid_t uid = kUser) const {
    return data / "sessions" / std::to_string(uid) / name;
  }
  /// A file of `bytes` bytes that was written `age_ns` before kNow.
  void put(const std::filesystem::path& file, std::size_t bytes, std::int64_t age_ns = 0) const {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << std::string(bytes, 'x');
    const timespec time{(kNow - age_ns) / kNsPerSecond, 0};
    const std::array<timespec, 2> times{time, time};
    REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0);
  }
};

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info{};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

bool is_there(const std::filesystem::path& path) {
  return std::filesystem::symlink_status(path).type() != std::filesystem::file_type::not_found;
}

/// A recording whose process has died: the file is in WAL mode with its log beside it.
void leave_cut_session(const std::filesystem::path& file) {
  const auto whole = file.parent_path() / "whole";
  test::SessionRecipe recipe;
  Result<store::SessionWriter> writer =
      store::SessionWriter::create(whole, store::OnExisting::kRefuse, {});
  REQUIRE_MESSAGE(writer, error_text(writer));
  REQUIRE(writer->begin_segment(test::segment_of(recipe)));
  REQUIRE(writer->write_block(test::block_of(recipe, 0, 1000)));
  REQUIRE(writer->commit());
  std::filesystem::copy_file(whole, file);
  std::filesystem::copy_file(whole.string() + "-wal", file.string() + "-wal");
  REQUIRE(writer->finish({}));
  std::filesystem::remove(whole);
}

TEST_CASE("the folders of the shelf are made, for the daemon alone and for the group") {
  const Rig rig;
  CHECK(mode_of(rig.data) == 02750);
  CHECK(mode_of(rig.data / "sessions") == 0700);
  CHECK(mode_of(rig.data / "background") == 02750);

  ::chmod((rig.data / "sessions").c_str(), 0755);
  CHECK(Rig::opened(rig.data).data_dir() == rig.data);
  CHECK(mode_of(rig.data / "sessions") == 0700);
  CHECK(Rig::opened(rig.data / "").data_dir() == rig.data);
}

TEST_CASE("a data folder that others may change is refused with what to do") {
  const test::TempDir dir;
  const auto data = dir.path() / "data";
  for (const mode_t mode : {0770, 0707, 01777}) {
    std::filesystem::create_directory(data);
    REQUIRE(::chmod(data.c_str(), mode) == 0);
    const Result<SessionShelf> shelf = SessionShelf::open(data, ::getegid());
    REQUIRE_FALSE(shelf);
    CHECK(shelf.error().message.find("chmod go-w " + data.string()) != std::string::npos);
  }
  REQUIRE(::chmod(data.c_str(), 0755) == 0);
  CHECK(SessionShelf::open(data, ::getegid()));
  std::filesystem::create_symlink(data, dir.path() / "link");
  CHECK(error_text(SessionShelf::open(dir.path() / "link", ::getegid())).find("not a folder") !=
        std::string::npos);
  CHECK_FALSE(SessionShelf::open(dir.path() / "absent/data", ::getegid()));
  if (::geteuid() == 0) {
    REQUIRE(::chown(data.c_str(), 12345, 0) == 0);
    CHECK(error_text(SessionShelf::open(data, ::getegid())).find("belongs to user 12345") !=
          std::string::npos);
  } else {
    MESSAGE("not root: no folder of somebody else can be tried");
  }
}

TEST_CASE("recordings get names of their own, also before their files exist") {
  Rig rig;
  const auto first = rig.shelf.new_recording(kUser, "my game", kNow);
  REQUIRE_MESSAGE(first, error_text(first));
  CHECK(first->parent_path() == rig.of_user("").parent_path());
  CHECK(mode_of(first->parent_path()) == 0700);
  const std::string name = first->filename().string();
  CHECK(name.starts_with("my_game-20"));
  CHECK(name.size() == std::string("my_game-20261130-063000.gputrace").size());

  const auto second = rig.shelf.new_recording(kUser, "my game", kNow + 1);
  REQUIRE(second);
  CHECK(second->filename() == first->stem().string() + "-2.gputrace");
  CHECK(rig.shelf.new_recording(kUser + 1, "my game", kNow).value().filename() == name);

  // A second later the names differ by themselves; what lies there already is left alone.
  Rig again;
  again.put(again.of_user(name + "-wal"), 1);
  REQUIRE(::chmod(again.of_user("").parent_path().c_str(), 0700) == 0);
  CHECK(again.shelf.new_recording(kUser, "my game", kNow).value().filename() == second->filename());
  for (const std::string_view stem : {"", "..", "-rf", "a/../../b", "\xff\n"}) {
    const auto odd = rig.shelf.new_recording(kUser, stem, kNow);
    REQUIRE_MESSAGE(odd, error_text(odd));
    CHECK(odd->parent_path() == first->parent_path());
    CHECK(odd->lexically_normal() == *odd);
    CHECK_FALSE(odd->filename().string().starts_with('-'));
  }
}

TEST_CASE("a day file belongs to its GPU, is numbered, and the group may read it") {
  Rig rig;
  const auto first = rig.shelf.new_day_file(kPci, kNow);
  REQUIRE_MESSAGE(first, error_text(first));
  CHECK(first->parent_path() == rig.data / "background" / kPci);
  CHECK(mode_of(first->parent_path()) == 02750);
  CHECK(first->filename().string().size() == std::string("2026-11-30.gputrace").size());
  rig.put(*first, 10);
  rig.put(first->string() + "-wal", 10);
  REQUIRE(::chmod(first->c_str(), 0600) == 0);
  CHECK(rig.shelf.new_day_file(kPci, kNow).value().filename() ==
        first->stem().string() + "-2.gputrace");
  REQUIRE(rig.shelf.share_with_group(*first));
  CHECK(mode_of(*first) == 0640);
  CHECK(mode_of(first->string() + "-wal") == 0640);

  CHECK_FALSE(rig.shelf.share_with_group(rig.data / "background" / kPci / "absent.gputrace"));
  CHECK_FALSE(rig.shelf.share_with_group(rig.of_user("a.gputrace")));
  for (const std::string_view pci : {"", "..", "../../../etc", "0000:03:00/0", "0000:0g:00.0"}) {
    CAPTURE(pci);
    CHECK_FALSE(rig.shelf.new_day_file(pci, kNow));
  }
}

TEST_CASE("the sessions of a user are listed newest first, with all their bytes") {
  const Rig rig;
  CHECK(rig.shelf.sessions_of(kUser).value().empty());
  CHECK(rig.shelf.bytes_of(kUser) == 0);
  rig.put(rig.of_user("old.gputrace"), 100, kDay);
  rig.put(rig.of_user("new.gputrace"), 10, 5 * kNsPerSecond);
  rig.put(rig.of_user("new.gputrace-wal"), 20);
  rig.put(rig.of_user("new.gputrace-shm"), 30, kDay);
  rig.put(rig.of_user("notes.txt"), 1000);
  rig.put(rig.of_user("other.gputrace", kUser + 1), 7);
  std::filesystem::create_symlink(rig.of_user("old.gputrace"), rig.of_user("link.gputrace"));
  const auto sessions = rig.shelf.sessions_of(kUser);
  REQUIRE_MESSAGE(sessions, error_text(sessions));
  REQUIRE(sessions->size() == 2);
  CHECK(sessions->at(0).name == "new.gputrace");
  CHECK(sessions->at(0).bytes == 60);
  CHECK(sessions->at(0).written_realtime_ns == kNow);
  CHECK(sessions->at(1).name == "old.gputrace");
  CHECK(rig.shelf.bytes_of(kUser) == 160);
}

TEST_CASE("a session is handed out read-only") {
  const Rig rig;
  const auto file = rig.of_user("a.gputrace");
  std::filesystem::create_directories(file.parent_path());
  REQUIRE(test::make_session(file, {}));
  const Result<UniqueFd> fd = rig.shelf.open_read_only(kUser, "a.gputrace");
  REQUIRE_MESSAGE(fd, error_text(fd));
  CHECK((::fcntl(fd->get(), F_GETFL) & O_ACCMODE) == O_RDONLY);
  CHECK((::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(::lseek(fd->get(), 0, SEEK_END) > 512);

  const auto code_of = [&](std::string_view name, uid_t uid = kUser) {
    const Result<UniqueFd> other = rig.shelf.open_read_only(uid, name);
    REQUIRE_FALSE(other);
    return other.error().code;
  };
  CHECK(code_of("a.gputrace", kUser + 1) == ErrorCode::kNotFound);
  CHECK(code_of("b.gputrace") == ErrorCode::kNotFound);
  CHECK(code_of("../1000/a.gputrace") == ErrorCode::kInvalidArgument);
  CHECK(code_of("a.gputrace-wal") == ErrorCode::kInvalidArgument);
  std::filesystem::create_symlink(file, rig.of_user("link.gputrace"));
  CHECK_FALSE(rig.shelf.open_read_only(kUser, "link.gputrace"));
  std::filesystem::create_hard_link(file, rig.of_user("second.gputrace"));
  CHECK(code_of("second.gputrace") == ErrorCode::kPermissionDenied);
}

TEST_CASE("a cut session is finished before it is handed out, one being recorded is not") {
  Rig rig;
  const auto cut = rig.of_user("cut.gputrace");
  std::filesystem::create_directories(cut.parent_path());
  leave_cut_session(cut);
  REQUIRE(rig.shelf.open_read_only(kUser, "cut.gputrace"));
  CHECK_FALSE(is_there(cut.string() + "-wal"));
  CHECK(store::SessionReader::open(cut).value().segments().at(0).totals.ticks == 1000);

  const auto live = rig.of_user("live.gputrace");
  Result<store::SessionWriter> writer =
      store::SessionWriter::create(live, store::OnExisting::kRefuse, {});
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(test::segment_of({})));
  REQUIRE(writer->commit());
  const Result<UniqueFd> busy = rig.shelf.open_read_only(kUser, "live.gputrace");
  REQUIRE_FALSE(busy);
  CHECK(busy.error().code == ErrorCode::kBusy);
  REQUIRE(writer->finish({}));
  CHECK(rig.shelf.open_read_only(kUser, "live.gputrace"));
}

TEST_CASE("what a crash left is finished in every folder, and a broken file stops nothing") {
  Rig rig;
  const auto day = rig.data / "background" / kPci / "2026-11-30.gputrace";
  const auto cut = rig.of_user("z.gputrace");
  for (const auto& file : {day, cut}) {
    std::filesystem::create_directories(file.parent_path());
    leave_cut_session(file);
  }
  rig.put(rig.of_user("broken.gputrace"), 200);
  rig.put(rig.of_user("orphan.gputrace-wal"), 200);
  Log log;
  rig.shelf.finish_interrupted(log.sink());
  CHECK_FALSE(is_there(day.string() + "-wal"));
  CHECK_FALSE(is_there(cut.string() + "-wal"));
  REQUIRE(log.lines.size() == 3);
  CHECK(std::count_if(log.lines.begin(), log.lines.end(), [](const std::string& line) {
          return line.starts_with("warning: ") && line.find("broken.gputrace") != std::string::npos;
        }) == 1);
}

TEST_CASE("a session is removed with what stands beside it, and nothing else is") {
  Rig rig;
  for (const std::string_view name : {"a.gputrace", "a.gputrace-wal", "a.gputrace-shm",
                                      "a.gputrace-journal", "b.gputrace", "a.gputrace.old"}) {
    rig.put(rig.of_user(name), 10);
  }
  std::filesystem::create_symlink(rig.of_user("b.gputrace"), rig.of_user("link.gputrace"));
  REQUIRE(rig.shelf.remove(kUser, "a.gputrace"));
  CHECK_FALSE(is_there(rig.of_user("a.gputrace")));
  CHECK_FALSE(is_there(rig.of_user("a.gputrace-wal")));
  CHECK_FALSE(is_there(rig.of_user("a.gputrace-journal")));
  CHECK(is_there(rig.of_user("a.gputrace.old")));
  const Status again = rig.shelf.remove(kUser, "a.gputrace");
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::kNotFound);
  CHECK_FALSE(rig.shelf.remove(kUser, "link.gputrace"));
  CHECK_FALSE(rig.shelf.remove(kUser, "../1000/b.gputrace"));
  CHECK_FALSE(rig.shelf.remove(kUser + 1, "b.gputrace"));
  CHECK(is_there(rig.of_user("b.gputrace")));
}

TEST_CASE("a removed session takes no space, though somebody still has it open") {
  Rig rig;
  for (const std::string_view name : {"a.gputrace", "b.gputrace"}) {
    rig.put(rig.of_user(name), 4096);
  }
  // Somebody's second name of a file, such as a backup, is not ours to empty.
  std::filesystem::create_hard_link(rig.of_user("b.gputrace"), rig.data / "kept");
  const UniqueFd open_file(::open(rig.of_user("a.gputrace").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(open_file);
  REQUIRE(rig.shelf.remove(kUser, "a.gputrace"));
  REQUIRE(rig.shelf.remove(kUser, "b.gputrace"));
  struct stat info{};
  REQUIRE(::fstat(open_file.get(), &info) == 0);
  CHECK(info.st_size == 0);
  CHECK(std::filesystem::file_size(rig.data / "kept") == 4096);
}

TEST_CASE("retention deletes what is too old, sessions and day files each by their days") {
  Rig rig;
  const auto days = rig.data / "background" / kPci;
  rig.put(rig.of_user("old.gputrace"), 10, 8 * kDay);
  rig.put(rig.of_user("old.gputrace-wal"), 10, 8 * kDay);
  rig.put(rig.of_user("written.gputrace"), 10, 8 * kDay);  // its log is newer
  rig.put(rig.of_user("written.gputrace-wal"), 10, 6 * kDay);
  rig.put(rig.of_user("used.gputrace"), 10, 9 * kDay);
  rig.put(rig.of_user("orphan.gputrace-wal"), 10, 9 * kDay);
  rig.put(rig.of_user("future.gputrace"), 10, -9 * kDay);
  rig.put(rig.of_user("notes.txt"), 10, 100 * kDay);
  rig.put(rig.of_user(".gputrace"), 10, 100 * kDay);
  rig.put(days / "2026-11-20.gputrace", 10, 8 * kDay);
  rig.put(days / "2026-11-10.gputrace", 10, 15 * kDay);
  rig.put(rig.data / "sessions/stray.gputrace", 10, 100 * kDay);
  rig.put(rig.data / "sessions/backup/kept.gputrace", 10, 100 * kDay);
  // Links lead to files that must not be reached through them.
  rig.put(rig.dir.path() / "elsewhere/precious.gputrace", 10, 100 * kDay);
  std::filesystem::create_directory_symlink(rig.dir.path() / "elsewhere",
                                            rig.data / "sessions/1001");
  std::filesystem::create_symlink(rig.dir.path() / "elsewhere/precious.gputrace",
                                  rig.of_user("link.gputrace"));
  Log log;
  const auto deleted =
      rig.shelf.apply_retention({}, kNow, {rig.of_user("used.gputrace")}, log.sink());
  const std::set<std::filesystem::path> expected{
      rig.of_user("old.gputrace"), rig.of_user("orphan.gputrace"), days / "2026-11-10.gputrace"};
  CHECK(std::set(deleted.begin(), deleted.end()) == expected);
  for (const auto& gone : {rig.of_user("old.gputrace"), rig.of_user("old.gputrace-wal"),
                           rig.of_user("orphan.gputrace-wal"), days / "2026-11-10.gputrace"}) {
    CHECK_FALSE(is_there(gone));
  }
  for (const auto& kept :
       {rig.of_user("written.gputrace"), rig.of_user("used.gputrace"),
        rig.of_user("future.gputrace"), rig.of_user("notes.txt"), rig.of_user(".gputrace"),
        rig.of_user("link.gputrace"), days / "2026-11-20.gputrace",
        rig.data / "sessions/stray.gputrace", rig.data / "sessions/backup/kept.gputrace",
        rig.dir.path() / "elsewhere/precious.gputrace"}) {
    CAPTURE(kept.string());
    CHECK(is_there(kept));
  }
  // A link in the place of a user's folder is worth a line.
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find("sessions/1001") != std::string::npos);
}

TEST_CASE("retention deletes the oldest until the total fits, never what is in use") {
  Rig rig;
  const auto day = rig.data / "background" / kPci / "2026-11-30.gputrace";
  rig.put(rig.of_user("1.gputrace"), 1000, 5000 * kNsPerSecond);
  rig.put(rig.of_user("2.gputrace", kUser + 1), 1000, 4000 * kNsPerSecond);
  rig.put(day, 1000, 3000 * kNsPerSecond);
  rig.put(rig.of_user("3.gputrace"), 1000, 2000 * kNsPerSecond);
  rig.put(rig.of_user("3.gputrace-wal"), 500, 2000 * kNsPerSecond);
  Config::Retention retention;
  Log log;
  retention.total_bytes = 4500;
  CHECK(rig.shelf.apply_retention(retention, kNow, {}, log.sink()).empty());
  retention.total_bytes = 3000;
  const auto deleted =
      rig.shelf.apply_retention(retention, kNow, {rig.of_user("1.gputrace")}, log.sink());
  CHECK(deleted == std::vector<std::filesystem::path>{rig.of_user("2.gputrace", kUser + 1), day});
  CHECK(is_there(rig.of_user("1.gputrace")));
  CHECK(is_there(rig.of_user("3.gputrace")));
  CHECK(log.lines.empty());
}

TEST_CASE("the free space of the data folder's disk is known") {
  const Rig rig;
  const Result<DiskSpace> space = rig.shelf.disk_space();
  REQUIRE_MESSAGE(space, error_text(space));
  CHECK(space->total_bytes > 0);
  CHECK(space->free_bytes <= space->total_bytes);
}

}  // namespace
}  // namespace gputrace::service
