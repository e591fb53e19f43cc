#include "cli/commands/session_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kExtension = ".gputrace";
constexpr std::size_t kMaxStem = 64;

std::optional<std::filesystem::path> absolute_from_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  // The XDG base directory specification has relative paths ignored.
  return value != nullptr && value[0] == '/' ? std::optional(std::filesystem::path(value))
                                             : std::nullopt;
}

/// The command's file name with what a shell or a file system minds replaced.
std::string stem_of(std::span<const std::string> command) {
  std::string stem =
      command.empty() ? "" : std::filesystem::path(command.front()).filename().string();
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-' || c == '+';
    c = plain ? c : '_';
  }
  stem.resize(std::min(stem.size(), kMaxStem));
  if (stem.empty() || stem.front() == '.' || stem.front() == '-') {
    stem.insert(0, "session");
  }
  return stem;
}

}  // namespace

Result<std::filesystem::path> sessions_folder() {
  if (const auto data = absolute_from_environment("XDG_DATA_HOME")) {
    return *data / "gputrace/sessions";
  }
  if (const auto home = absolute_from_environment("HOME")) {
    return *home / ".local/share/gputrace/sessions";
  }
  return fail(ErrorCode::kNotFound,
              "neither XDG_DATA_HOME nor HOME says where sessions are kept; set one of them, or "
              "name the file with -o");
}

Status create_sessions_folder(const std::filesystem::path& folder) {
  std::filesystem::path made;
  for (const std::filesystem::path& part : folder) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) {
      // A read-only or foreign parent that exists answers EROFS or EACCES instead of EEXIST.
      const int error_number = errno;
      std::error_code ignored;
      if (!std::filesystem::is_directory(made, ignored)) {
        return fail_errno(error_number, "cannot create the folder " + made.string());
      }
    }
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return fail(ErrorCode::kExists, folder.string() + " exists and is not a folder");
  }
  return {};
}

std::filesystem::path default_session_path(const std::filesystem::path& folder,
                                           std::span<const std::string> command,
                                           std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / kNsPerSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  const std::string base =
      fmt::format("{}-{:04}{:02}{:02}-{:02}{:02}{:02}", stem_of(command), local.tm_year + 1900,
                  local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
  std::filesystem::path path = folder / (base + std::string(kExtension));
  std::error_code ignored;
  for (int copy = 2; std::filesystem::symlink_status(path, ignored).type() !=
                     std::filesystem::file_type::not_found;
       ++copy) {
    path = folder / fmt::format("{}-{}{}", base, copy, kExtension);
  }
  return path;
}

Result<std::vector<std::filesystem::path>> session_files(const std::filesystem::path& folder) {
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> found;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error == std::errc::not_a_directory) {  // which is no empty folder, as a missing one is
    return fail(ErrorCode::kExists, folder.string() + " exists and is not a folder");
  }
  if (error) {
    return fail_errno(error.value(), "cannot read the sessions folder " + folder.string());
  }
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->path().extension() == kExtension) {
      found.emplace_back(entries->last_write_time(ignored), entries->path());
    }
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::filesystem::path> files;
  files.reserve(found.size());
  for (auto& [time, path] : found) {
    files.push_back(std::move(path));
  }
  return files;
}

Result<std::filesystem::path> newest_session(const std::filesystem::path& folder) {
  const Result<std::vector<std::filesystem::path>> files = session_files(folder);
  if (files && !files->empty()) {
    return files->front();
  }
  if (!files && files.error().code != ErrorCode::kNotFound) {
    return tl::unexpected<Error>(files.error());
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no session in {} yet; make one with `gputrace record -- CMD`",
                          folder.string()));
}

}  // namespace gputrace::commands
