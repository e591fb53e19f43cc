// The day files of gputraced's background monitoring that speak for the time since some moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// $GPUTRACE_DATA_DIR (absolute), else /var/lib/gputrace; then "background".
[[nodiscard]] std::filesystem::path background_folder();

struct BackgroundFile {
  std::filesystem::path path;
  store::SessionReader session;
  double from_s = 0;  ///< where the time asked for begins in it, from its start; 0 = all of it
  std::int64_t start_realtime_ns = 0;
};

struct BackgroundFiles {
  std::vector<BackgroundFile> files;    ///< in the order of time
  std::vector<std::string> unreadable;  ///< a message for each
};

/// kNotFound says why there is nothing: monitoring is off, or was then. kPermissionDenied says who
/// may read.
[[nodiscard]] Result<BackgroundFiles> background_files_since(const std::filesystem::path& folder,
                                                             std::int64_t since_realtime_ns);

}  // namespace gputrace::commands
