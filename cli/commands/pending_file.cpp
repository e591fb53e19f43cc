#include "cli/commands/pending_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

namespace gputrace::commands {

namespace {

/// What SQLite may keep beside a file. One that outlived its file would be taken for part of the
/// next file of that name.
constexpr std::array<std::string_view, 3> kSideFiles = {"-wal", "-shm", "-journal"};

void remove_side_files(const std::filesystem::path& path) noexcept {
  for (const std::string_view suffix : kSideFiles) {
    std::error_code ignored;
    std::filesystem::remove(path.native() + std::string(suffix), ignored);
  }
}

Status check_target(const std::filesystem::path& path, store::OnExisting on_existing) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? Status{} : fail_errno(errno, "cannot write " + path.string());
  }
  if (S_ISLNK(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument,
                path.string() + " is a symbolic link; gputrace does not write through links");
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, path.string() + " is not a regular file");
  }
  if (on_existing == store::OnExisting::kRefuse) {
    return fail(ErrorCode::kExists, path.string() + " exists; --force replaces it");
  }
  return {};
}

}  // namespace

Result<PendingFile> PendingFile::create(std::filesystem::path final_path,
                                        store::OnExisting on_existing) {
  if (!final_path.has_filename()) {
    return fail(ErrorCode::kInvalidArgument, "'" + final_path.string() + "' names no file");
  }
  if (const Status status = check_target(final_path, on_existing); !status) {
    return tl::unexpected(status.error());
  }
  const std::filesystem::path folder =
      final_path.has_parent_path() ? final_path.parent_path() : std::filesystem::path(".");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail_errno(errno, fmt::format("cannot write {} into {}", final_path.filename().string(),
                                         folder.string()));
  }
  std::filesystem::path path =
      folder / fmt::format(".{}.partial-{}", final_path.filename().string(), ::getpid());
  PendingFile pending(std::move(final_path), std::move(path), on_existing);
  pending.remove_partial();  // of a killed process that had our number
  return pending;
}

PendingFile::PendingFile(std::filesystem::path final_path, std::filesystem::path path,
                         store::OnExisting on_existing)
    : final_path_(std::move(final_path)), path_(std::move(path)), on_existing_(on_existing) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : final_path_(std::move(other.final_path_)),
      path_(std::exchange(other.path_, {})),
      on_existing_(other.on_existing_) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  if (this != &other) {
    discard();
    final_path_ = std::move(other.final_path_);
    path_ = std::exchange(other.path_, {});
    on_existing_ = other.on_existing_;
  }
  return *this;
}

PendingFile::~PendingFile() {
  discard();
}

void PendingFile::remove_partial() noexcept {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  remove_side_files(path_);
}

void PendingFile::discard() noexcept {
  if (!path_.empty()) {
    remove_partial();
    path_.clear();
  }
}

bool PendingFile::would_replace(int fd) const {
  struct stat source{};
  struct stat target{};
  return ::fstat(fd, &source) == 0 && ::lstat(final_path_.c_str(), &target) == 0 &&
         source.st_dev == target.st_dev && source.st_ino == target.st_ino;
}

Status PendingFile::keep() {
  if (const Status status = check_target(final_path_, on_existing_); !status) {
    return status;
  }
  remove_side_files(final_path_);  // of the file that is replaced, or of one that is gone
  const unsigned int flags = on_existing_ == store::OnExisting::kRefuse ? RENAME_NOREPLACE : 0;
  int status = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, final_path_.c_str(), flags);
  if (status != 0 && (errno == EINVAL || errno == ENOSYS)) {
    // A file system without RENAME_NOREPLACE; the check above has to do.
    status = ::rename(path_.c_str(), final_path_.c_str());
  }
  if (status != 0) {
    return fail_errno(errno, "cannot rename the finished file to " + final_path_.string());
  }
  path_.clear();
  return {};
}

}  // namespace gputrace::commands
