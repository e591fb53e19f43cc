#include "cli/commands/bench/bench_file.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/session_folder.h"

namespace gputrace::commands {

namespace {

Result<std::filesystem::path> make_temporary_folder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "gputrace-XXXXXX").string();
  if (error) {
    return fail_errno(error.value(), "cannot find the folder for temporary files");
  }
  if (::mkdtemp(name.data()) == nullptr) {
    return fail_errno(errno, "cannot create the temporary folder " + name);
  }
  return std::filesystem::path(name);
}

}  // namespace

Result<std::unique_ptr<BenchFile>> BenchFile::create(const Place& place) {
  std::unique_ptr<BenchFile> file(new BenchFile(place));
  if (place.folder.empty()) {
    Result<std::filesystem::path> folder = make_temporary_folder();
    if (!folder) {
      return tl::unexpected(folder.error());
    }
    file->place_.folder = std::move(*folder);
    file->temporary_ = true;
  } else if (const Status made = create_sessions_folder(place.folder); !made) {
    return tl::unexpected(made.error());
  }
  Result<PendingFile> pending = PendingFile::create(
      machine_file(file->place_.folder, place.kind, place.device, place.realtime_ns),
      store::OnExisting::kRefuse);
  if (!pending) {
    return tl::unexpected(pending.error());
  }
  file->pending_ = std::make_unique<PendingFile>(std::move(*pending));
  return file;
}

BenchFile::~BenchFile() {
  pending_.reset();
  if (temporary_) {
    std::error_code ignored;
    std::filesystem::remove_all(place_.folder, ignored);
  }
}

Status BenchFile::keep() {
  Status kept = pending_->keep();
  while (!kept && kept.error().code == ErrorCode::kExists) {
    pending_->rename(machine_file(place_.folder, place_.kind, place_.device, place_.realtime_ns));
    kept = pending_->keep();
  }
  return kept;
}

}  // namespace gputrace::commands
