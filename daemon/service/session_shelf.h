// The daemon's session files: DATA_DIR/sessions/UID/NAME (0700 folders, 0600 files) and the day
// files of background monitoring, DATA_DIR/background/PCI/YYYY-MM-DD.gputrace (group may read).
// Retention deletes whole files. Symlinks are never followed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/service/config.h"

namespace gputrace::service {

struct ShelvedSession {
  uid_t uid = 0;
  std::string name;
  std::uint64_t bytes = 0;  ///< with -wal and -shm
  std::int64_t written_realtime_ns = 0;
};

struct DiskSpace {
  std::uint64_t free_bytes = 0;  ///< without what is kept for root, as recorders count it
  std::uint64_t total_bytes = 0;
};

class SessionShelf {
 public:
  /// Makes the folders; refuses a data folder that is not ours or that others may write to. Call
  /// it before capabilities are dropped: `group` need not be one of ours.
  [[nodiscard]] static Result<SessionShelf> open(const std::filesystem::path& data_dir,
                                                 gid_t group);

  /// Finishes what a crash or power cut left, in every folder. Errors are logged, one a file.
  void finish_interrupted(const LogSink& log);

  /// A file that does not exist yet, "CMD-20261130-063000.gputrace", in the (made) folder of `uid`.
  /// The same name is not given twice, also when the first file has not been created so far.
  [[nodiscard]] Result<std::filesystem::path> new_recording(uid_t uid,
                                                            std::string_view command_stem,
                                                            std::int64_t realtime_ns);
  /// The day file of a GPU for the local date of `realtime_ns`; numbered when there is one already.
  [[nodiscard]] Result<std::filesystem::path> new_day_file(std::string_view pci,
                                                           std::int64_t realtime_ns);
  /// Lets the group read a day file that the recorder has created (0600), with what SQLite keeps
  /// beside it.
  [[nodiscard]] Status share_with_group(const std::filesystem::path& day_file) const;

  /// Of one user, newest first.
  [[nodiscard]] Result<std::vector<ShelvedSession>> sessions_of(uid_t uid) const;
  [[nodiscard]] std::uint64_t bytes_of(uid_t uid) const;
  /// `name` must be a session name (ipc::is_session_name). A file left in WAL mode is finished
  /// first. kBusy while it is being recorded.
  [[nodiscard]] Result<UniqueFd> open_read_only(uid_t uid, std::string_view name) const;
  [[nodiscard]] Status remove(uid_t uid, std::string_view name);

  /// Deletes what is older than its days, then the oldest until the total fits. Files in `in_use`
  /// are never deleted. Returns what was deleted.
  std::vector<std::filesystem::path> apply_retention(const Config::Retention& retention,
                                                     std::int64_t realtime_ns,
                                                     const std::set<std::filesystem::path>& in_use,
                                                     const LogSink& log);
  [[nodiscard]] Result<DiskSpace> disk_space() const;
  [[nodiscard]] const std::filesystem::path& data_dir() const { return data_dir_; }

 private:
  SessionShelf(std::filesystem::path data_dir, UniqueFd sessions, UniqueFd background)
      : data_dir_(std::move(data_dir)),
        sessions_(std::move(sessions)),
        background_(std::move(background)) {}

  std::filesystem::path data_dir_;
  UniqueFd sessions_;
  UniqueFd background_;
  std::string given_out_stamp_;  ///< the second of given_out_
  std::set<std::filesystem::path> given_out_;
};

}  // namespace gputrace::service
