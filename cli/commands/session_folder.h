// Where a user's sessions are: $XDG_DATA_HOME/gputrace/sessions, else ~/.local/share/... (0700).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// The folder's path; not created. kNotFound when neither XDG_DATA_HOME nor HOME says where.
[[nodiscard]] Result<std::filesystem::path> sessions_folder();
/// Creates the folder and its parents, 0700.
[[nodiscard]] Status create_sessions_folder(const std::filesystem::path& folder);
/// "game-20261129-222715.gputrace": from the command's file name and local time; made unique with
/// "-2", "-3" when taken. Characters that a shell or a file system minds are replaced.
[[nodiscard]] std::filesystem::path default_session_path(const std::filesystem::path& folder,
                                                         std::span<const std::string> command,
                                                         std::int64_t realtime_ns);
/// The sessions there (*.gputrace), last written first. kNotFound when there is no such folder.
[[nodiscard]] Result<std::vector<std::filesystem::path>> session_files(
    const std::filesystem::path& folder);
/// The newest session there; kNotFound says how to make one.
[[nodiscard]] Result<std::filesystem::path> newest_session(const std::filesystem::path& folder);

}  // namespace gputrace::commands
