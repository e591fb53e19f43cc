// Session files on disk: is this one of ours, who may open it and how, and what a crash left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/store/database.h"

namespace gputrace::store {

inline constexpr std::uint32_t kApplicationId = 0x67707574;  ///< "gput", in the file's header

/// The folder made canonical, the last component as it is: a symlink there is refused later.
[[nodiscard]] Result<std::filesystem::path> without_symlinks_above(
    const std::filesystem::path& path);

/// Removes NAME, NAME-wal, NAME-shm and NAME-journal where they are regular files.
[[nodiscard]] Status remove_session_file(const std::filesystem::path& path);

/// Not in the process that writes the file: closing the descriptor that reads the header would drop
/// the POSIX locks of SQLite's connection there (https://www.sqlite.org/howtocorrupt.html, 2.2).
/// Opens for reading after checking the header, the version and the whole schema. See
/// SessionReader::open for the errors. A file that a crash left is finished first if the caller
/// may write it.
[[nodiscard]] Result<Database> open_session_database(const std::filesystem::path& path);

/// For adding to a file that its recorder has finished: a crash meanwhile undoes what was added.
/// kUnsupported: its format is older than what would be added. kBusy: it is being recorded, or
/// read. Else as above.
[[nodiscard]] Result<Database> open_finished_session(const std::filesystem::path& path);

enum class Finishing {
  kWasComplete,  ///< nothing to do
  kFinished,     ///< the WAL was brought into the file
  kInUse,        ///< still being recorded, or a reader is connected
};
/// Brings a cut recording into one file that stands alone. Needs write access to the file and its
/// folder (kPermissionDenied). Does not touch a file that is not ours.
[[nodiscard]] Result<Finishing> finish_interrupted_session(const std::filesystem::path& path);

}  // namespace gputrace::store
