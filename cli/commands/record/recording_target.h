// Where a recording goes and as whom it is written.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "cli/commands/record/invoking_user.h"
#include "cli/commands/record/record_options.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct RecordingTarget {
  std::filesystem::path file;        ///< absolute
  std::optional<InvokingUser> user;  ///< who called sudo
  /// For the recorder, between opening the GPU and creating the file: becomes `user`, makes the
  /// sessions folder. As root neither may be done in a folder that a user controls.
  std::function<Status()> before_file;
};

/// Where the sessions of this user are: `user` if sudo was used, else who runs this process.
[[nodiscard]] Result<std::filesystem::path> sessions_folder_of(
    const std::optional<InvokingUser>& user);
/// RecordingTarget::before_file. `folder_to_make` may be empty.
[[nodiscard]] std::function<Status()> prepare_writing(const std::optional<InvokingUser>& user,
                                                      const std::filesystem::path& folder_to_make);

[[nodiscard]] Result<RecordingTarget> choose_target(const RecordOptions& options);

}  // namespace gputrace::commands
