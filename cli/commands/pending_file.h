// A session that appears under its name only when it is whole.
#pragma once

#include <filesystem>

#include "daemon/base/result.h"
#include "daemon/store/session_writer.h"

namespace gputrace::commands {

/// Names a temporary file beside the final one; without keep() it is removed again.
class PendingFile {
 public:
  /// Writes nothing yet. kExists without kReplace; a symbolic link, a folder or a device under that
  /// name is refused in any case.
  static Result<PendingFile> create(std::filesystem::path final_path,
                                    store::OnExisting on_existing);

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  /// Where to write.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::filesystem::path& final_path() const { return final_path_; }
  /// Whether keep() would replace the file behind `fd`.
  [[nodiscard]] bool would_replace(int fd) const;
  /// Removes what was written so far; writing may begin again.
  void discard_content() noexcept { remove_partial(); }
  /// Another name in the same folder for keep().
  void rename(std::filesystem::path final_path) { final_path_ = std::move(final_path); }
  /// Gives the file its name. Once.
  Status keep();

 private:
  PendingFile(std::filesystem::path final_path, std::filesystem::path path,
              store::OnExisting on_existing);
  void remove_partial() noexcept;
  void discard() noexcept;

  std::filesystem::path final_path_;
  std::filesystem::path path_;  ///< empty when there is nothing to remove
  store::OnExisting on_existing_;
};

}  // namespace gputrace::commands
