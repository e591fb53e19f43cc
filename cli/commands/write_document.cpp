#include "cli/commands/write_document.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

#include "cli/commands/pending_file.h"

namespace gputrace::commands {
namespace {

/// False also for what cannot be read: it may be anything.
bool may_be_replaced(const std::filesystem::path& path, std::string_view beginning) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return !error;
  }
  std::ifstream file(path, std::ios::binary);
  std::string found(beginning.size(), '\0');
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  return file.gcount() == 0 ? file.eof() : found == beginning;
}

}  // namespace

Status write_document(const std::filesystem::path& path, std::string_view text) {
  auto pending = PendingFile::create(path, store::OnExisting::kReplace);
  if (!pending) {
    return tl::unexpected(pending.error());
  }
  if (!may_be_replaced(path, text.substr(0, text.find_first_of(" \n")))) {
    return fail(ErrorCode::kExists,
                fmt::format("{} exists and is not what would be written there again; remove it, or "
                            "choose another name",
                            path.string()));
  }
  std::FILE* file = std::fopen(pending->path().c_str(), "wxe");  // x: never through a link
  if (file == nullptr) {
    return fail_errno(errno, "cannot write " + pending->path().string());
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int problem = errno;
  if (const bool closed = std::fclose(file) == 0; !written || !closed) {
    return fail_errno(written ? errno : problem, "cannot write " + pending->path().string());
  }
  return pending->keep();
}

}  // namespace gputrace::commands
