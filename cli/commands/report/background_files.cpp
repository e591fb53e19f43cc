#include "cli/commands/report/background_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/commands/session_folder.h"
#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kDefaultDataFolder = "/var/lib/gputrace";

Error no_files(const std::filesystem::path& folder) {
  return {ErrorCode::kNotFound,
          fmt::format("there is no background recording in {}: background monitoring is off unless "
                      "an administrator sets `enabled = true` under [background] in "
                      "/etc/gputrace/gputraced.toml and runs `sudo systemctl reload gputraced`",
                      folder.string())};
}

Error not_allowed(const std::filesystem::path& folder) {
  return {ErrorCode::kPermissionDenied,
          fmt::format("cannot read {}: Permission denied; background recordings are for the group "
                      "gputrace: `sudo usermod -aG gputrace $USER`, then log in again",
                      folder.string())};
}

/// The folders of the GPUs.
Result<std::vector<std::filesystem::path>> gpu_folders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) {
    return tl::unexpected(no_files(folder));
  }
  if (error == std::errc::permission_denied) {
    return tl::unexpected(not_allowed(folder));
  }
  std::vector<std::filesystem::path> folders;
  while (!error && entries != std::filesystem::directory_iterator()) {
    std::error_code ignored;
    if (entries->is_directory(ignored)) {
      folders.push_back(entries->path());
    }
    entries.increment(error);
  }
  if (error) {
    return fail_errno(error.value(), "cannot read " + folder.string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// Where the wall clock said `realtime_ns`, on the recording's own clock, which stands still while
/// the machine is suspended. Absent: that was after the last sample.
std::optional<std::int64_t> monotonic_of(const std::vector<TimeAnchor>& anchors,
                                         std::int64_t realtime_ns) {
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const TimeAnchor& anchor = anchors[i];
    if (anchor.realtime_ns < realtime_ns) {
      continue;
    }
    const std::int64_t at = anchor.monotonic_ns - (anchor.realtime_ns - realtime_ns);
    return i == 0 ? at : std::max(at, anchors[i - 1].monotonic_ns);
  }
  if (anchors.empty()) {
    return std::nullopt;
  }
  const TimeAnchor& last = anchors.back();
  return last.monotonic_ns + (realtime_ns - last.realtime_ns);
}

/// Absent when the file ends before that.
Result<std::optional<BackgroundFile>> look_at(const std::filesystem::path& path,
                                              std::int64_t since_realtime_ns) {
  Result<store::SessionReader> session = store::SessionReader::open(path);
  if (!session) {
    return tl::unexpected(session.error());
  }
  const std::optional<store::TimeSpan> span = session->span();
  const std::optional<TimeAnchor> started = session->description().started;
  const Result<std::vector<TimeAnchor>> stored = session->anchors();
  if (!stored) {
    return tl::unexpected(stored.error());
  }
  if (!span || !started) {
    return std::optional<BackgroundFile>();
  }
  std::vector<TimeAnchor> anchors{*started};
  anchors.insert(anchors.end(), stored->begin(), stored->end());
  const std::optional<std::int64_t> from_ns = monotonic_of(anchors, since_realtime_ns);
  if (!from_ns || *from_ns >= span->end_ns) {
    return std::optional<BackgroundFile>();
  }
  const double from_s = std::max(0.0, static_cast<double>(*from_ns - started->monotonic_ns) * 1e-9);
  return BackgroundFile{path, std::move(*session), from_s, started->realtime_ns};
}

}  // namespace

std::filesystem::path background_folder() {
  const char* value = std::getenv("GPUTRACE_DATA_DIR");  // NOLINT(concurrency-mt-unsafe): not set
  const bool absolute = value != nullptr && *value == '/';
  return std::filesystem::path(absolute ? value : kDefaultDataFolder) / "background";
}

Result<BackgroundFiles> background_files_since(const std::filesystem::path& folder,
                                               std::int64_t since_realtime_ns) {
  const Result<std::vector<std::filesystem::path>> folders = gpu_folders(folder);
  if (!folders) {
    return tl::unexpected(folders.error());
  }
  BackgroundFiles found;
  std::size_t seen = 0;
  for (const std::filesystem::path& gpu : *folders) {
    const Result<std::vector<std::filesystem::path>> files = session_files(gpu);
    if (!files && files.error().code == ErrorCode::kPermissionDenied) {
      return tl::unexpected(not_allowed(gpu));
    }
    if (!files) {
      return tl::unexpected(files.error());
    }
    seen += files->size();
    for (const std::filesystem::path& path : *files) {
      Result<std::optional<BackgroundFile>> file = look_at(path, since_realtime_ns);
      if (!file) {
        found.unreadable.push_back(file.error().message);
        continue;
      }
      if (std::optional<BackgroundFile>& overlapping = *file) {
        found.files.push_back(std::move(*overlapping));
      }
    }
  }
  if (seen == 0) {
    return tl::unexpected(no_files(folder));
  }
  if (found.files.empty()) {
    return fail(ErrorCode::kNotFound,
                found.unreadable.empty()
                    ? fmt::format("nothing in {} was recorded since {}", folder.string(),
                                  format_rfc3339_utc(since_realtime_ns))
                    : found.unreadable.front());
  }
  std::stable_sort(found.files.begin(), found.files.end(), [](const auto& a, const auto& b) {
    return a.start_realtime_ns < b.start_realtime_ns;
  });
  return found;
}

}  // namespace gputrace::commands
