#include "daemon/store/session_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "daemon/store/session_schema.h"

namespace gputrace::store {

namespace {

// https://www.sqlite.org/fileformat2.html, "The Database Header".
constexpr std::size_t kHeaderSize = 100;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kWriteVersionAt = 18;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::uint8_t kWalVersion = 2;
// The same document, "The Rollback Journal".
constexpr std::string_view kJournalMagic{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8};

struct Header {
  std::uint32_t version = 0;
  bool wal = false;
  /// A power cut while SQLite changed the file itself (when it is created, and when its log is
  /// given up at the end): only a writer can read it, by undoing the change first.
  bool journal = false;
  [[nodiscard]] bool interrupted() const { return wal || journal; }
  uid_t owner = 0;
  timespec modified{};
};

std::uint32_t big_endian(const std::array<std::uint8_t, kHeaderSize>& bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes[at]) << 24 |
         static_cast<std::uint32_t>(bytes[at + 1]) << 16 |
         static_cast<std::uint32_t>(bytes[at + 2]) << 8 | bytes[at + 3];
}

/// Reads the header without SQLite, which would wait on a FIFO and create files beside others'.
Result<Header> read_header(const std::filesystem::path& path) {
  const UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd) {
    if (errno == ELOOP) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("cannot open {}: it is a symbolic link; name the file it points to",
                              path.string()));
    }
    return fail_errno(errno, "cannot open " + path.string());
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) {
    return fail_errno(errno, "cannot stat " + path.string());
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is not a regular file", path.string()));
  }
  std::array<std::uint8_t, kHeaderSize> bytes{};
  const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) {
    return fail_errno(errno, "cannot read " + path.string());
  }
  if (got == 0) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is empty", path.string()));
  }
  if (bytes == std::array<std::uint8_t, kHeaderSize>{}) {
    // Pages reach the disk in any order.
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} has no first page; its creation was cut short", path.string()));
  }
  if (static_cast<std::size_t>(got) < kHeaderSize ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} is not a gputrace session (no SQLite header)", path.string()));
  }
  if (big_endian(bytes, kApplicationIdAt) != kApplicationId) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} is a SQLite file of another program, not a gputrace session",
                            path.string()));
  }
  const std::uint32_t version = big_endian(bytes, kUserVersionAt);
  if (version > kSchemaVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} has format version {}, this gputrace reads up to {}; a newer "
                            "gputrace can read it",
                            path.string(), version, kSchemaVersion));
  }
  if (version == 0) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{} states no format version; its creation was cut short", path.string()));
  }
  return Header{version, bytes[kWriteVersionAt] == kWalVersion, false, info.st_uid, info.st_mtim};
}

std::filesystem::path beside(const std::filesystem::path& path, std::string_view suffix) {
  return path.string() + std::string(suffix);
}

bool may_write(const std::filesystem::path& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 &&
         ::faccessat(AT_FDCWD, path.parent_path().c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

std::string user_name(uid_t uid) {
  std::vector<char> buffer(4096);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : fmt::format("user {}", uid);
}

/// A WAL that this process may not bring into the file.
Error cut_and_not_writable(const std::filesystem::path& path, const Header& header) {
  const std::string who =
      header.owner == ::geteuid()
          ? "make both writable and try again"
          : fmt::format("run `gputrace report` on it as {}", user_name(header.owner));
  return {ErrorCode::kPermissionDenied,
          fmt::format("cannot read {}: its recording was cut, and finishing it needs write access "
                      "to the file and its folder; {}, or copy the file together with its -wal "
                      "into a folder of your own",
                      path.string(), who)};
}

/// SQLite takes what lies beside the file for a part of it, and would write a stranger's log into
/// it when it is finished. (It follows no symbolic links there.)
Status check_files_beside(const std::filesystem::path& path, const Header& header) {
  for (const std::string_view suffix : {"-wal", "-shm", "-journal"}) {
    const std::filesystem::path file = beside(path, suffix);
    struct stat info{};
    if (::lstat(file.c_str(), &info) != 0) {
      continue;
    }
    if (!S_ISREG(info.st_mode)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("cannot open {}: {} is not a regular file", path.string(),
                              file.filename().string()));
    }
    // SQLite writes -shm anew when nobody has the file open.
    const bool trusted = info.st_uid == header.owner || info.st_uid == 0 ||
                         info.st_uid == ::geteuid() || suffix == "-shm";
    if (!trusted) {
      return fail(ErrorCode::kPermissionDenied,
                  fmt::format("cannot open {}: {} belongs to {}, the session to {}; copy the "
                              "session alone into a folder of your own",
                              path.string(), file.filename().string(), user_name(info.st_uid),
                              user_name(header.owner)));
    }
  }
  return {};
}

/// Whether SQLite would undo a change with NAME-journal. One that names a second journal is never
/// ours, and SQLite would delete the file that it names.
Result<bool> has_journal(const std::filesystem::path& path) {
  const std::filesystem::path file = beside(path, "-journal");
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || info.st_size == 0) {
    return false;
  }
  std::array<char, kJournalMagic.size()> first{};
  std::array<char, kJournalMagic.size()> last{};
  if (::pread(fd.get(), first.data(), first.size(), 0) < 0) {
    return fail_errno(errno, "cannot read " + file.string());
  }
  const off_t last_at = info.st_size - static_cast<off_t>(last.size());
  if (last_at > 0 &&
      ::pread(fd.get(), last.data(), last.size(), last_at) == static_cast<ssize_t>(last.size()) &&
      std::string_view(last.data(), last.size()) == kJournalMagic) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("cannot open {}: {} is not a journal of gputrace; copy the session "
                            "alone into a folder of your own",
                            path.string(), file.filename().string()));
  }
  return first[0] != '\0';  // SQLite zeroes the first byte of a journal that is done with
}

Result<Header> checked_header(const std::filesystem::path& path) {
  Result<Header> header = read_header(path);
  if (!header) {
    return header;
  }
  if (const Status status = check_files_beside(path, *header); !status) {
    return tl::unexpected<Error>(status.error());
  }
  const Result<bool> journal = has_journal(path);
  if (!journal) {
    return tl::unexpected<Error>(journal.error());
  }
  header->journal = *journal;
  return header;
}

Result<Database> open_for_reading(const std::filesystem::path& path, const Header& header) {
  if (!header.wal) {
    return Database::open(path, Database::Mode::kReadOnly);
  }
  std::error_code ignored;
  const bool has_wal = std::filesystem::exists(beside(path, "-wal"), ignored);
  if (!has_wal && !may_write(path)) {
    // No WAL, so nobody is writing and the file is whole; but SQLite would want to create one.
    return Database::open(path, Database::Mode::kImmutable);
  }
  return Database::open(path, Database::Mode::kReadOnly);
}

}  // namespace

Result<std::filesystem::path> without_symlinks_above(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error || !absolute.has_filename()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' does not name a file", path.string()));
  }
  const std::filesystem::path folder = std::filesystem::canonical(absolute.parent_path(), error);
  if (error) {
    return fail_errno(error.value(), "cannot open " + path.string());
  }
  return folder / absolute.filename();
}

Status remove_session_file(const std::filesystem::path& path) {
  for (const std::string_view suffix : {"", "-wal", "-shm", "-journal"}) {
    const std::filesystem::path file = beside(path, suffix);
    struct stat info{};
    if (::lstat(file.c_str(), &info) != 0) {
      continue;
    }
    if (!S_ISREG(info.st_mode)) {
      return fail(ErrorCode::kExists,
                  fmt::format("{} exists and is not a regular file; gputrace replaces only those",
                              file.string()));
    }
    if (::unlink(file.c_str()) != 0) {
      return fail_errno(errno, "cannot remove " + file.string());
    }
  }
  return {};
}

Result<Database> open_session_database(const std::filesystem::path& path) {
  const Result<std::filesystem::path> file = without_symlinks_above(path);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  // Another user's session is left as it is, even by root: its owner's tools will finish it.
  Result<Header> header = checked_header(*file);
  if (header && header->interrupted() && may_write(*file) && header->owner == ::geteuid()) {
    const Result<Finishing> finished = finish_interrupted_session(*file);
    if (!finished) {
      return tl::unexpected<Error>(finished.error());
    }
    header = checked_header(*file);
  }
  if (!header) {
    return tl::unexpected<Error>(header.error());
  }
  Result<Database> database = open_for_reading(*file, *header);
  if (!database) {
    return database;
  }
  // Others lock the file for a moment when they finish it, or try to. One transaction for the whole
  // reading: what a recorder commits meanwhile must not contradict what was read before.
  const Status setup = database->execute(
      "PRAGMA busy_timeout=2000; PRAGMA cell_size_check=ON; PRAGMA query_only=ON; BEGIN;");
  const Result<std::string> first_read =
      database->scalar_text("SELECT count(*) FROM sqlite_schema");
  if (!setup || !first_read) {
    const Error& error = setup ? first_read.error() : setup.error();
    if (header->interrupted() && error.code != ErrorCode::kCorrupt &&
        error.code != ErrorCode::kBusy) {
      return tl::unexpected<Error>(cut_and_not_writable(*file, *header));
    }
    return fail(error, "cannot read " + path.string());
  }
  if (const Status status = check_schema(*database, path); !status) {
    return tl::unexpected<Error>(status.error());
  }
  return database;
}

Result<Database> open_finished_session(const std::filesystem::path& path) {
  const Result<std::filesystem::path> file = without_symlinks_above(path);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  const Result<Header> header = checked_header(*file);
  if (!header) {
    return tl::unexpected<Error>(header.error());
  }
  const std::string what = "cannot add to " + path.string();
  if (header->version != kSchemaVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: it has format version {} and stays as it is; this needs {}", what,
                            header->version, kSchemaVersion));
  }
  if (header->interrupted()) {
    const Result<Finishing> finished = finish_interrupted_session(*file);
    if (!finished) {
      return tl::unexpected<Error>(finished.error());
    }
    if (*finished == Finishing::kInUse) {
      return fail(ErrorCode::kBusy, what + ": it is still being recorded, or read");
    }
  }
  Result<Database> database = Database::open(*file, Database::Mode::kReadWrite);
  if (!database) {
    return fail(database.error(), what);
  }
  const Status setup = database->execute(
      "PRAGMA busy_timeout=2000; PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL;");
  if (!setup) {
    return fail(setup.error(), what);
  }
  if (const Status status = check_schema(*database, path); !status) {
    return tl::unexpected<Error>(status.error());
  }
  return database;
}

Result<Finishing> finish_interrupted_session(const std::filesystem::path& path) {
  const Result<std::filesystem::path> file = without_symlinks_above(path);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  const Result<Header> header = checked_header(*file);
  if (!header) {
    return tl::unexpected<Error>(header.error());
  }
  if (!header->interrupted()) {
    return Finishing::kWasComplete;
  }
  if (!may_write(*file)) {
    return tl::unexpected<Error>(cut_and_not_writable(*file, *header));
  }
  const std::string what = "cannot finish " + path.string();
  Result<Database> database = Database::open(*file, Database::Mode::kReadWrite);
  if (!database) {
    return fail(database.error(), what);
  }
  // A foreign trigger or view cannot run: nothing below reads or writes a table. The first read
  // undoes what a journal has.
  const Result<std::string> read = database->scalar_text("PRAGMA schema_version");
  const Result<std::string> mode =
      read ? database->scalar_text("PRAGMA journal_mode=DELETE") : read;
  if (!mode) {
    return mode.error().code == ErrorCode::kBusy ? Result<Finishing>(Finishing::kInUse)
                                                 : fail(mode.error(), what);
  }
  const Result<bool> journal = has_journal(*file);
  if (*mode != "delete" || !journal || *journal) {
    return Finishing::kInUse;
  }
  // The recording is no newer for being finished now: "the newest session" goes by this time.
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, header->modified};
  ::utimensat(AT_FDCWD, file->c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  return Finishing::kFinished;
}

}  // namespace gputrace::store
