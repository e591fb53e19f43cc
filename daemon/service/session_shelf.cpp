#include "daemon/service/session_shelf.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <optional>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/ipc/control_message.h"
#include "daemon/service/shelf_folder.h"
#include "daemon/store/session_file.h"

namespace gputrace::service {

namespace {

constexpr std::string_view kSessions = "sessions";
constexpr std::string_view kBackground = "background";
constexpr std::size_t kMaxStem = 64;
constexpr int kMaxCopies = 10'000;
constexpr double kNsPerDay = 86'400e9;

std::tm local_time(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / kNsPerSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

/// Only what a session name may have (ipc::is_session_name).
std::string plain_stem(std::string_view stem) {
  std::string plain(stem.substr(0, kMaxStem));
  for (char& c : plain) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-' || c == '+';
    c = kept ? c : '_';
  }
  if (plain.empty() || plain.front() == '.' || plain.front() == '-') {
    plain.insert(0, "session");
  }
  return plain;
}

/// "0000:03:00.0", as sysfs writes it.
bool is_pci_address(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
  };
  return text.size() >= 7 && text.size() <= 16 && std::all_of(text.begin(), text.end(), plain) &&
         text.front() != '.' && text.find("..") == std::string_view::npos;
}

bool is_uid(std::string_view text) {
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  return error == std::errc{} && end == text.data() + text.size() && fmt::format("{}", uid) == text;
}

/// A folder of sessions/ or background/ with what lies in it.
struct Shelf {
  UniqueFd fd;
  std::filesystem::path path;
  bool background = false;
  std::vector<ShelvedFile> files;
};

Result<Shelf> open_shelf(int parent, const std::string& name, const std::filesystem::path& path) {
  Result<UniqueFd> fd = open_folder(parent, name, path);
  if (!fd) {
    return tl::unexpected<Error>(fd.error());
  }
  Result<std::vector<ShelvedFile>> files = shelved_files(fd->get(), path);
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  return Shelf{std::move(*fd), path, false, std::move(*files)};
}

void append_shelves(int parent, const std::filesystem::path& path, bool background,
                    const LogSink& log, std::vector<Shelf>& shelves) {
  const Result<std::vector<std::string>> names = names_in(parent, path);
  if (!names) {
    log(LogLevel::kError, names.error().message);
    return;
  }
  for (const std::string& name : *names) {
    if (background ? !is_pci_address(name) : !is_uid(name)) {
      continue;
    }
    Result<Shelf> shelf = open_shelf(parent, name, path / name);
    if (!shelf) {
      log(LogLevel::kError, shelf.error().message);
      continue;
    }
    shelf->background = background;
    shelves.push_back(std::move(*shelf));
  }
}

Status check_name(std::string_view name) {
  return ipc::is_session_name(name)
             ? Status{}
             : Status(fail(ErrorCode::kInvalidArgument,
                           "what was asked for is not the name of a session (\"NAME.gputrace\")"));
}

/// What a file is, by descriptor; a file with a second name could be changed through that.
Result<UniqueFd> open_session(int folder, const std::string& name,
                              const std::filesystem::path& path) {
  UniqueFd fd(
      ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return fail_errno(errno, "cannot open " + path.string());
  }
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1 || info.st_uid != ::geteuid()) {
    return fail(ErrorCode::kPermissionDenied,
                path.string() + " is not a plain file of the daemon with one name");
  }
  return fd;
}

}  // namespace

Result<SessionShelf> SessionShelf::open(const std::filesystem::path& data_dir, gid_t group) {
  // Without the symbolic links on the way, which SQLite refuses to follow.
  const std::filesystem::path given = (data_dir / "").lexically_normal().parent_path();
  const Result<std::filesystem::path> path = store::without_symlinks_above(given);
  if (!path) {
    return tl::unexpected<Error>(path.error());
  }
  Result<UniqueFd> root = open_folder(AT_FDCWD, path->string(), *path);
  if (!root && root.error().code == ErrorCode::kNotFound) {
    root = make_folder(AT_FDCWD, path->string(), *path, group);
  }
  if (!root) {
    return tl::unexpected<Error>(root.error());
  }
  Result<UniqueFd> sessions =
      make_folder(root->get(), std::string(kSessions), *path / kSessions, std::nullopt);
  if (!sessions) {
    return tl::unexpected<Error>(sessions.error());
  }
  Result<UniqueFd> background =
      make_folder(root->get(), std::string(kBackground), *path / kBackground, group);
  if (!background) {
    return tl::unexpected<Error>(background.error());
  }
  return SessionShelf(*path, std::move(*sessions), std::move(*background));
}

void SessionShelf::finish_interrupted(const LogSink& log) {
  std::vector<Shelf> shelves;
  append_shelves(sessions_.get(), data_dir_ / kSessions, false, log, shelves);
  append_shelves(background_.get(), data_dir_ / kBackground, true, log, shelves);
  for (const Shelf& shelf : shelves) {
    for (const ShelvedFile& file : shelf.files) {
      if (!file.present) {
        continue;
      }
      const auto finished = store::finish_interrupted_session(shelf.path / file.name);
      if (!finished) {
        log(LogLevel::kWarning, finished.error().message);
      } else if (*finished == store::Finishing::kFinished) {
        log(LogLevel::kInfo,
            fmt::format("finished {}, whose recording was cut", (shelf.path / file.name).string()));
      }
    }
  }
}

Result<std::filesystem::path> SessionShelf::new_recording(uid_t uid, std::string_view command_stem,
                                                          std::int64_t realtime_ns) {
  const std::string name = fmt::format("{}", uid);
  const std::filesystem::path path = data_dir_ / kSessions / name;
  const Result<UniqueFd> folder = make_folder(sessions_.get(), name, path, std::nullopt);
  if (!folder) {
    return tl::unexpected<Error>(folder.error());
  }
  const std::tm local = local_time(realtime_ns);
  const std::string stamp =
      fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", local.tm_year + 1900, local.tm_mon + 1,
                  local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
  if (stamp != given_out_stamp_) {
    given_out_stamp_ = stamp;
    given_out_.clear();
  }
  const std::string base = fmt::format("{}-{}", plain_stem(command_stem), stamp);
  for (int copy = 1; copy < kMaxCopies; ++copy) {
    const std::string file = numbered(base, copy);
    if (!given_out_.contains(path / file) && is_free(folder->get(), file)) {
      given_out_.insert(path / file);
      return path / file;
    }
  }
  return fail(ErrorCode::kExists, fmt::format("{} has too many sessions {}", path.string(), base));
}

Result<std::filesystem::path> SessionShelf::new_day_file(std::string_view pci,
                                                         std::int64_t realtime_ns) {
  if (!is_pci_address(pci)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a PCI address", pci));
  }
  struct stat info{};
  if (::fstat(background_.get(), &info) != 0) {
    return fail_errno(errno, "cannot stat " + (data_dir_ / kBackground).string());
  }
  const std::filesystem::path path = data_dir_ / kBackground / pci;
  const Result<UniqueFd> folder =
      make_folder(background_.get(), std::string(pci), path, info.st_gid);
  if (!folder) {
    return tl::unexpected<Error>(folder.error());
  }
  const std::tm local = local_time(realtime_ns);
  const std::string base =
      fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
  for (int copy = 1; copy < kMaxCopies; ++copy) {
    const std::string file = numbered(base, copy);
    if (is_free(folder->get(), file)) {
      return path / file;
    }
  }
  return fail(ErrorCode::kExists, fmt::format("{} has too many files of {}", path.string(), base));
}

Status SessionShelf::share_with_group(const std::filesystem::path& day_file) const {
  const std::string pci = day_file.parent_path().filename().string();
  const std::filesystem::path path = data_dir_ / kBackground / pci;
  if (!is_pci_address(pci) || day_file != path / day_file.filename()) {
    return fail(ErrorCode::kInvalidArgument, day_file.string() + " is not a day file");
  }
  const Result<UniqueFd> folder = open_folder(background_.get(), pci, path);
  if (!folder) {
    return tl::unexpected<Error>(folder.error());
  }
  for (const std::string_view suffix : {"", "-wal", "-shm"}) {
    const std::string name = day_file.filename().string() + std::string(suffix);
    const UniqueFd file(::openat(folder->get(), name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file && errno == ENOENT && !suffix.empty()) {
      continue;
    }
    if (!file || ::fchmod(file.get(), 0640) != 0) {
      return fail_errno(errno, "cannot let the group read " + (path / name).string());
    }
  }
  return {};
}

Result<std::vector<ShelvedSession>> SessionShelf::sessions_of(uid_t uid) const {
  const std::string folder = fmt::format("{}", uid);
  const Result<Shelf> shelf = open_shelf(sessions_.get(), folder, data_dir_ / kSessions / folder);
  if (!shelf) {
    return shelf.error().code == ErrorCode::kNotFound
               ? Result<std::vector<ShelvedSession>>(std::vector<ShelvedSession>{})
               : tl::unexpected<Error>(shelf.error());
  }
  std::vector<ShelvedSession> sessions;
  for (const ShelvedFile& file : shelf->files) {
    if (file.present && ipc::is_session_name(file.name)) {
      sessions.push_back({uid, file.name, file.bytes, file.written_realtime_ns});
    }
  }
  std::stable_sort(sessions.begin(), sessions.end(), [](const auto& a, const auto& b) {
    return a.written_realtime_ns > b.written_realtime_ns;
  });
  return sessions;
}

std::uint64_t SessionShelf::bytes_of(uid_t uid) const {
  const std::string folder = fmt::format("{}", uid);
  const Result<Shelf> shelf = open_shelf(sessions_.get(), folder, data_dir_ / kSessions / folder);
  std::uint64_t bytes = 0;
  if (shelf) {
    for (const ShelvedFile& file : shelf->files) {
      bytes += file.bytes;
    }
  }
  return bytes;
}

Result<UniqueFd> SessionShelf::open_read_only(uid_t uid, std::string_view name) const {
  if (const Status valid = check_name(name); !valid) {
    return tl::unexpected<Error>(valid.error());
  }
  const std::string user = fmt::format("{}", uid);
  const std::string file(name);
  const std::filesystem::path path = data_dir_ / kSessions / user;
  const Result<UniqueFd> folder = open_folder(sessions_.get(), user, path);
  struct stat info{};
  if ((!folder && folder.error().code == ErrorCode::kNotFound) ||
      (folder && ::fstatat(folder->get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 &&
       errno == ENOENT)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("you have no session {}; `gputrace status` says what is kept", name));
  }
  if (!folder) {
    return tl::unexpected<Error>(folder.error());
  }
  if (Result<UniqueFd> plain = open_session(folder->get(), file, path / file); !plain) {
    return plain;
  }
  const auto finished = store::finish_interrupted_session(path / file);
  if (!finished) {
    return tl::unexpected<Error>(finished.error());
  }
  if (*finished == store::Finishing::kInUse) {
    return fail(ErrorCode::kBusy, fmt::format("{} is still being recorded", name));
  }
  return open_session(folder->get(), file, path / file);
}

Status SessionShelf::remove(uid_t uid, std::string_view name) {
  if (Status valid = check_name(name); !valid) {
    return valid;
  }
  const std::string user = fmt::format("{}", uid);
  const std::filesystem::path path = data_dir_ / kSessions / user;
  const Result<UniqueFd> folder = open_folder(sessions_.get(), user, path);
  if (!folder) {
    return tl::unexpected<Error>(folder.error());
  }
  const UniqueFd file(::openat(folder->get(), std::string(name).c_str(),
                               O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  Status removed = remove_files(folder->get(), std::string(name), path);
  struct stat info{};
  // A client that keeps the descriptor it fetched would keep the space too, beyond its limit.
  if (removed && file && ::fstat(file.get(), &info) == 0 && info.st_nlink == 0 &&
      ::ftruncate(file.get(), 0) != 0) {
    return fail_errno(errno, "cannot give back the space of " + (path / name).string());
  }
  return removed;
}

std::vector<std::filesystem::path> SessionShelf::apply_retention(
    const Config::Retention& retention, std::int64_t realtime_ns,
    const std::set<std::filesystem::path>& in_use, const LogSink& log) {
  std::vector<Shelf> shelves;
  append_shelves(sessions_.get(), data_dir_ / kSessions, false, log, shelves);
  append_shelves(background_.get(), data_dir_ / kBackground, true, log, shelves);

  std::vector<std::pair<const Shelf*, const ShelvedFile*>> oldest_first;
  std::uint64_t total = 0;
  for (const Shelf& shelf : shelves) {
    for (const ShelvedFile& file : shelf.files) {
      total += file.bytes;
      if (!in_use.contains(shelf.path / file.name)) {
        oldest_first.emplace_back(&shelf, &file);
      }
    }
  }
  std::stable_sort(oldest_first.begin(), oldest_first.end(), [](const auto& a, const auto& b) {
    return a.second->written_realtime_ns < b.second->written_realtime_ns;
  });

  std::vector<std::filesystem::path> deleted;
  for (const auto& [shelf, file] : oldest_first) {
    const double days = shelf->background ? retention.background_days : retention.sessions_days;
    const auto age_ns = static_cast<double>(realtime_ns - file->written_realtime_ns);
    if (age_ns <= days * kNsPerDay && total <= retention.total_bytes) {
      continue;
    }
    if (const Status removed = remove_files(shelf->fd.get(), file->name, shelf->path); !removed) {
      log(LogLevel::kError, removed.error().message);
      continue;
    }
    total -= file->bytes;
    deleted.push_back(shelf->path / file->name);
  }
  return deleted;
}

Result<DiskSpace> SessionShelf::disk_space() const {
  struct statvfs info{};
  if (::fstatvfs(sessions_.get(), &info) != 0) {
    return fail_errno(errno, "cannot read the free space of " + data_dir_.string());
  }
  return DiskSpace{std::uint64_t{info.f_bavail} * info.f_frsize,
                   std::uint64_t{info.f_blocks} * info.f_frsize};
}

}  // namespace gputrace::service
