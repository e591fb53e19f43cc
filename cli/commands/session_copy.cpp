#include "cli/commands/session_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
/// So often the disk has to keep up, that the deadline is not missed in one long sync at the end.
constexpr std::size_t kPiecesPerSync = 16;
constexpr int kMaxNumber = 10'000;
constexpr int kRetryMs = 50;
constexpr std::int64_t kAnswerNs = 5 * kNsPerSecond;

/// How long the daemon may take for an answer.
std::int64_t time_to_answer(std::optional<std::int64_t> deadline_ns) {
  return deadline_ns
             ? std::clamp<std::int64_t>(*deadline_ns - monotonic_now_ns(), kNsPerMs, kAnswerNs)
             : kAnswerNs;
}

bool is_over(std::optional<std::int64_t> deadline_ns) {
  return deadline_ns && monotonic_now_ns() >= *deadline_ns;
}

store::OnExisting for_file(ipc::OnExisting on_existing) {
  return on_existing == ipc::OnExisting::kReplace ? store::OnExisting::kReplace
                                                  : store::OnExisting::kRefuse;
}

std::filesystem::path numbered(const std::filesystem::path& file, int number) {
  return file.parent_path() /
         fmt::format("{}-{}{}", file.stem().string(), number, file.extension().string());
}

Status write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno != EINTR) {
      return fail_errno(errno, "write");
    }
    const auto done = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    bytes += done;
    size -= done;
  }
  return {};
}

/// An error says only what went wrong; the caller says with which file.
Status copy_bytes(int from, int to, std::optional<std::int64_t> deadline_ns) {
  std::vector<char> piece(kPieceBytes);
  off_t at = 0;
  for (std::size_t pieces = 1;; ++pieces) {
    if (is_over(deadline_ns)) {
      return fail(ErrorCode::kBusy, "it takes too long");
    }
    const ssize_t got = ::pread(from, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail_errno(errno, "cannot read what gputraced handed over");
    }
    if (got == 0) {
      break;
    }
    if (const Status status = write_all(to, piece.data(), static_cast<std::size_t>(got)); !status) {
      return status;
    }
    if (pieces % kPiecesPerSync == 0 && ::fdatasync(to) != 0) {
      return fail_errno(errno, "sync");
    }
    at += got;
  }
  return ::fsync(to) == 0 ? Status() : fail_errno(errno, "sync");
}

void sync_folder(const std::filesystem::path& folder) {
  const UniqueFd fd(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) {
    // A file system that cannot do this has no better way: the file itself is on the disk.
    ::fsync(fd.get());
  }
}

}  // namespace

Result<SessionCopy> SessionCopy::prepare(const std::filesystem::path& file,
                                         ipc::OnExisting on_existing) {
  Result<PendingFile> pending = PendingFile::create(file, for_file(on_existing));
  for (int number = 2; !pending && pending.error().code == ErrorCode::kExists &&
                       on_existing == ipc::OnExisting::kNumber && number <= kMaxNumber;
       ++number) {
    pending = PendingFile::create(numbered(file, number), for_file(on_existing));
  }
  if (!pending) {
    return tl::unexpected(pending.error());
  }
  return SessionCopy(file, on_existing, std::move(*pending));
}

Result<std::filesystem::path> SessionCopy::copy_from(int fd,
                                                     std::optional<std::int64_t> deadline_ns) {
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kCorrupt, "what gputraced handed over is not a regular file");
  }
  for (int attempts = 0;; ++attempts) {
    const Status copied = copy_to_pending(fd, deadline_ns);
    const Status kept = copied ? pending_.keep() : copied;
    if (kept) {
      sync_folder(pending_.final_path().parent_path());
      return pending_.final_path();
    }
    pending_.discard_content();
    if (!copied || kept.error().code != ErrorCode::kExists ||
        on_existing_ != ipc::OnExisting::kNumber || attempts == kMaxNumber) {
      return tl::unexpected(kept.error());
    }
    Result<SessionCopy> next = prepare(file_, on_existing_);
    if (!next) {
      return tl::unexpected(next.error());
    }
    pending_ = std::move(next->pending_);
  }
}

Status SessionCopy::copy_to_pending(int fd, std::optional<std::int64_t> deadline_ns) const {
  const std::string what = fmt::format("cannot write {}", pending_.final_path().string());
  const UniqueFd out(
      ::open(pending_.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) {
    return fail_errno(errno, what);
  }
  const Status status = copy_bytes(fd, out.get(), deadline_ns);
  return status ? status : fail(status.error(), what);
}

Result<std::filesystem::path> fetch_session(const ipc::ControlClient& daemon,
                                            const std::string& name, SessionCopy& copy,
                                            std::optional<std::int64_t> deadline_ns) {
  Result<ipc::ReceivedReply> answer =
      daemon.ask(ipc::FetchRequest{name}, time_to_answer(deadline_ns));
  while (!answer && answer.error().code == ErrorCode::kBusy && deadline_ns &&
         !is_over(deadline_ns)) {
    ::poll(nullptr, 0, kRetryMs);
    answer = daemon.ask(ipc::FetchRequest{name}, time_to_answer(deadline_ns));
  }
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  if (std::get_if<ipc::SessionFileReply>(&answer->reply) == nullptr || !answer->fd) {
    return fail(ErrorCode::kCorrupt, "gputraced answered something else than a session");
  }
  Result<std::filesystem::path> file = copy.copy_from(answer->fd.get(), deadline_ns);
  if (file) {
    // Should this fail, the daemon's retention deletes its file later.
    [[maybe_unused]] const Result<ipc::ReceivedReply> done =
        daemon.ask(ipc::DoneRequest{name}, time_to_answer(deadline_ns));
  }
  return file;
}

}  // namespace gputrace::commands
