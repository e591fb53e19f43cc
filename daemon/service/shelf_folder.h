// One folder of session files, by descriptor: nothing here follows a symbolic link.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::service {

/// A session with what SQLite keeps beside it. What only stands beside (its session was removed)
/// counts too, so that it is removed in its turn.
struct ShelvedFile {
  std::string name;      ///< "NAME.gputrace"
  bool present = false;  ///< false: only -wal, -shm or -journal are there
  std::uint64_t bytes = 0;
  std::int64_t written_realtime_ns = 0;
};

/// The folder `name` in `parent` (a descriptor or AT_FDCWD). kNotFound, or refused when it is not a
/// folder of ours. `path` is for messages.
[[nodiscard]] Result<UniqueFd> open_folder(int parent, const std::string& name,
                                           const std::filesystem::path& path);
/// The same, made when it is not there. With a group it is the group's to read (02750), else 0700.
[[nodiscard]] Result<UniqueFd> make_folder(int parent, const std::string& name,
                                           const std::filesystem::path& path,
                                           std::optional<gid_t> group);

[[nodiscard]] Result<std::vector<std::string>> names_in(int folder,
                                                        const std::filesystem::path& path);
/// Regular files that are sessions or belong to one, in order of their names.
[[nodiscard]] Result<std::vector<ShelvedFile>> shelved_files(int folder,
                                                             const std::filesystem::path& path);
/// No file of this name, nor one that SQLite would take for a part of it.
[[nodiscard]] bool is_free(int folder, const std::string& name);
/// Removes NAME and what stands beside it where these are regular files. kNotFound: none of them.
[[nodiscard]] Status remove_files(int folder, const std::string& name,
                                  const std::filesystem::path& path);
/// "NAME.gputrace", "NAME-2.gputrace": the first that is free.
[[nodiscard]] std::string numbered(std::string_view base, int copy);

}  // namespace gputrace::service
