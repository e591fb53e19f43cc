#include "regdb/overlay_folder.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace gputrace::regdb {
namespace {

/// Far above any table; keeps a mistaken folder from filling memory.
constexpr std::uintmax_t kMaxFileSize = 1U << 20U;

Result<std::vector<std::filesystem::path>> list_reg_files(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".reg") {
      paths.push_back(entry->path());
    }
  }
  if (error) {
    return fail(ErrorCode::kNotFound,
                "cannot read the register files in " + folder.string() + ": " + error.message());
  }
  if (paths.empty()) {
    return fail(ErrorCode::kNotFound, "there is no *.reg file in " + folder.string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::string> read_text(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    return fail(ErrorCode::kIo,
                "cannot read the register file " + path.string() + ": " + error.message());
  }
  if (size > kMaxFileSize) {
    return fail(ErrorCode::kInvalidArgument,
                path.string() + " is no register file: larger than 1 MiB");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    return fail(ErrorCode::kIo, "cannot read the register file " + path.string());
  }
  return text;
}

}  // namespace

Result<std::vector<OverlayFile>> read_overlay_folder(const std::filesystem::path& folder) {
  const auto paths = list_reg_files(folder);
  if (!paths) {
    return tl::unexpected(paths.error());
  }
  std::vector<OverlayFile> files;
  for (const std::filesystem::path& path : *paths) {
    auto text = read_text(path);
    if (!text) {
      return tl::unexpected(text.error());
    }
    auto statements = parse_reg_file(path.string(), *text);
    if (!statements) {
      return tl::unexpected(statements.error());
    }
    files.push_back({path.filename().string(), *std::move(text), *std::move(statements)});
  }
  return files;
}

}  // namespace gputrace::regdb
