// From gputraced's shelf to a file of the user's: a descriptor is copied beside its final name and
// gets that name when it is whole and on the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cli/commands/pending_file.h"
#include "daemon/base/result.h"
#include "daemon/ipc/control_client.h"
#include "daemon/ipc/message.h"

namespace gputrace::commands {

class SessionCopy {
 public:
  /// Checks that the file may be written; writes nothing. Symbolic links are refused, as is a file
  /// that is there with kRefuse.
  [[nodiscard]] static Result<SessionCopy> prepare(const std::filesystem::path& file,
                                                   ipc::OnExisting on_existing);

  /// Copies all of `fd` (mode 0600, fsync, then the name); returns the file, which has another name
  /// than wished when that was taken and kNumber allows it. kBusy: not whole by `deadline_ns`
  /// (monotonic); nothing is left behind then, nor after any other error.
  [[nodiscard]] Result<std::filesystem::path> copy_from(int fd,
                                                        std::optional<std::int64_t> deadline_ns);

 private:
  [[nodiscard]] Status copy_to_pending(int fd, std::optional<std::int64_t> deadline_ns) const;

  SessionCopy(std::filesystem::path file, ipc::OnExisting on_existing, PendingFile pending)
      : file_(std::move(file)), on_existing_(on_existing), pending_(std::move(pending)) {}

  std::filesystem::path file_;
  ipc::OnExisting on_existing_;
  PendingFile pending_;
};

/// Fetches the session `name`, copies it, and lets the daemon delete its own. While the daemon
/// still writes it, or finishes it after a crash, the fetch is tried again until `deadline_ns`.
[[nodiscard]] Result<std::filesystem::path> fetch_session(const ipc::ControlClient& daemon,
                                                          const std::string& name,
                                                          SessionCopy& copy,
                                                          std::optional<std::int64_t> deadline_ns);

}  // namespace gputrace::commands
