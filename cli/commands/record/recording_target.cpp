#include "cli/commands/record/recording_target.h"

#include <sys/resource.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/commands/session_folder.h"
#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

constexpr rlim_t kRealTimePriority = 1;
constexpr rlim_t kLockedBytes = rlim_t{64} * 1024 * 1024;

/// What root may do and the user may not: a real-time sampling thread in locked memory. Limits
/// outlive the change of user, and only the recorder has them.
void keep_sampling_rights() {
  const rlimit priority{kRealTimePriority, kRealTimePriority};
  const rlimit memory{kLockedBytes, kLockedBytes};
  // Without them the sampling thread says what it could not get.
  ::setrlimit(RLIMIT_RTPRIO, &priority);
  ::setrlimit(RLIMIT_MEMLOCK, &memory);
}

Result<std::filesystem::path> absolute_output(const std::filesystem::path& output) {
  std::error_code error;
  std::filesystem::path file = std::filesystem::absolute(output, error);
  if (error) {
    return fail_errno(error.value(), "cannot find the current folder for " + output.string());
  }
  return file;
}

}  // namespace

Result<std::filesystem::path> sessions_folder_of(const std::optional<InvokingUser>& user) {
  if (!user) {
    return sessions_folder();
  }
  if (!user->home) {
    return fail(ErrorCode::kNotFound, "passwd knows no home of user " + std::to_string(user->uid) +
                                          ", who called sudo; name a file with -o");
  }
  // sudo may have left or replaced HOME and XDG_DATA_HOME: neither says where the user's are.
  return *user->home / ".local/share/gputrace/sessions";
}

std::function<Status()> prepare_writing(const std::optional<InvokingUser>& user,
                                        const std::filesystem::path& folder_to_make) {
  return [user, folder_to_make]() -> Status {
    if (user) {
      keep_sampling_rights();
      if (const Status status = become(*user); !status) {
        return status;
      }
    }
    return folder_to_make.empty() ? Status() : create_sessions_folder(folder_to_make);
  };
}

Result<RecordingTarget> choose_target(const RecordOptions& options) {
  Result<std::optional<InvokingUser>> user = find_invoking_user();
  if (!user) {
    return tl::unexpected(user.error());
  }
  RecordingTarget target;
  target.user = std::move(*user);
  std::filesystem::path folder_to_make;
  if (options.output) {
    Result<std::filesystem::path> file = absolute_output(*options.output);
    if (!file) {
      return tl::unexpected(file.error());
    }
    target.file = std::move(*file);
  } else {
    Result<std::filesystem::path> folder = sessions_folder_of(target.user);
    if (!folder) {
      return tl::unexpected(folder.error());
    }
    target.file =
        default_session_path(*folder, options.command.value_or(std::vector<std::string>()),
                             read_time_anchor().realtime_ns);
    folder_to_make = std::move(*folder);
  }
  target.before_file = prepare_writing(target.user, folder_to_make);
  return target;
}

}  // namespace gputrace::commands
