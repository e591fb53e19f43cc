#include "daemon/service/shelf_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>

#include "daemon/base/time.h"

namespace gputrace::service {

namespace {

constexpr std::string_view kExtension = ".gputrace";
constexpr std::array<std::string_view, 4> kSuffixes{"", "-wal", "-shm", "-journal"};

struct DirectoryCloser {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

/// The session that a file name belongs to; absent for what is none of ours.
std::optional<std::string> session_of(std::string_view name) {
  for (const std::string_view suffix : kSuffixes) {
    if (name.ends_with(suffix)) {
      const std::string_view session = name.substr(0, name.size() - suffix.size());
      if (session.size() > kExtension.size() && session.ends_with(kExtension)) {
        return std::string(session);
      }
    }
  }
  return std::nullopt;
}

std::int64_t modified_ns(const struct stat& info) {
  return std::int64_t{info.st_mtim.tv_sec} * kNsPerSecond + info.st_mtim.tv_nsec;
}

}  // namespace

Result<UniqueFd> open_folder(int parent, const std::string& name,
                             const std::filesystem::path& path) {
  UniqueFd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!folder || ::fstat(folder.get(), &info) != 0) {
    const int error_number = errno;
    if (error_number == ELOOP || error_number == ENOTDIR) {
      return fail(ErrorCode::kExists,
                  fmt::format("{} is not a folder; gputraced follows no symbolic links there",
                              path.string()));
    }
    return fail_errno(error_number, "cannot open the folder " + path.string());
  }
  if (info.st_uid != ::geteuid()) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("the folder {} belongs to user {}, gputraced runs as {}; give it away "
                            "with `chown {} {}`",
                            path.string(), info.st_uid, ::geteuid(), ::geteuid(), path.string()));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("others may write to the folder {}; close it with `chmod go-w {}`",
                            path.string(), path.string()));
  }
  return folder;
}

Result<UniqueFd> make_folder(int parent, const std::string& name, const std::filesystem::path& path,
                             std::optional<gid_t> group) {
  const mode_t mode = group ? 0750 : 0700;
  // A mode set at creation keeps the set-group-ID bit that a folder inherits: chmod(2) by a process
  // outside the group and without CAP_FSETID would clear it. The daemon has one thread.
  const mode_t umask_before = ::umask(0);
  const int made = ::mkdirat(parent, name.c_str(), mode);
  const int error_number = errno;
  ::umask(umask_before);
  if (made != 0 && error_number != EEXIST) {
    return fail_errno(error_number, "cannot create the folder " + path.string());
  }
  Result<UniqueFd> folder = open_folder(parent, name, path);
  struct stat info{};
  if (!folder || ::fstat(folder->get(), &info) != 0) {
    return folder ? Result<UniqueFd>(fail_errno(errno, "cannot stat " + path.string()))
                  : std::move(folder);
  }
  if (group && info.st_gid != *group &&
      ::fchown(folder->get(), static_cast<uid_t>(-1), *group) != 0) {
    return fail_errno(errno, fmt::format("cannot give {} to group {}", path.string(), *group));
  }
  const mode_t wanted = group ? mode | S_ISGID : mode;
  if ((info.st_mode & 07777) != wanted && ::fchmod(folder->get(), wanted) != 0) {
    return fail_errno(errno, fmt::format("cannot set the mode of {}", path.string()));
  }
  return folder;
}

Result<std::vector<std::string>> names_in(int folder, const std::filesystem::path& path) {
  // A descriptor of its own: the position in a folder belongs to the open file.
  UniqueFd fd(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, DirectoryCloser> directory(fd ? ::fdopendir(fd.get()) : nullptr);
  if (!directory) {
    return fail_errno(errno, "cannot read the folder " + path.string());
  }
  static_cast<void>(fd.release());
  std::vector<std::string> names;
  errno = 0;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this stream is ours alone
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
    errno = 0;
  }
  if (errno != 0) {
    return fail_errno(errno, "cannot read the folder " + path.string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<ShelvedFile>> shelved_files(int folder, const std::filesystem::path& path) {
  const Result<std::vector<std::string>> names = names_in(folder, path);
  if (!names) {
    return tl::unexpected<Error>(names.error());
  }
  std::map<std::string, ShelvedFile> files;
  for (const std::string& name : *names) {
    const std::optional<std::string> session = session_of(name);
    struct stat info{};
    if (!session || ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode)) {
      continue;
    }
    ShelvedFile& file = files[*session];
    file.name = *session;
    file.present |= name == *session;
    file.bytes += static_cast<std::uint64_t>(info.st_size);
    file.written_realtime_ns = std::max(file.written_realtime_ns, modified_ns(info));
  }
  std::vector<ShelvedFile> result;
  result.reserve(files.size());
  for (auto& [name, file] : files) {
    result.push_back(std::move(file));
  }
  return result;
}

bool is_free(int folder, const std::string& name) {
  return std::all_of(kSuffixes.begin(), kSuffixes.end(), [&](std::string_view suffix) {
    struct stat info{};
    return ::fstatat(folder, (name + std::string(suffix)).c_str(), &info, AT_SYMLINK_NOFOLLOW) !=
               0 &&
           errno == ENOENT;
  });
}

Status remove_files(int folder, const std::string& name, const std::filesystem::path& path) {
  bool found = false;
  for (const std::string_view suffix : kSuffixes) {
    const std::string each = name + std::string(suffix);
    struct stat info{};
    if (::fstatat(folder, each.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    if (!S_ISREG(info.st_mode)) {
      return fail(ErrorCode::kExists, fmt::format("cannot remove {}: it is not a regular file",
                                                  (path / each).string()));
    }
    if (::unlinkat(folder, each.c_str(), 0) != 0) {
      return fail_errno(errno, "cannot remove " + (path / each).string());
    }
    found = true;
  }
  return found ? Status{}
               : Status(fail(ErrorCode::kNotFound,
                             fmt::format("there is no session {}", (path / name).string())));
}

std::string numbered(std::string_view base, int copy) {
  return copy < 2 ? fmt::format("{}{}", base, kExtension)
                  : fmt::format("{}-{}{}", base, copy, kExtension);
}

}  // namespace gputrace::service
