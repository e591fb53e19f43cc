// A disk whose power can be cut: a SQLite VFS over the usual one that notes every write,
// truncation, deletion and sync, so that afterwards a test can ask what would be on disk had the
// power gone at any of these moments. Nothing is really synced, which makes it fast. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace gputrace::test {

/// File name -> what it holds.
using DiskImage = std::map<std::string, std::string>;

/// What a disk does with writes that were not synced. Writes are torn at sectors of 512 bytes.
enum class Unsynced { kLost, kKept, kSome };

class PowerCutVfs {
 public:
  /// SQLite's default VFS until it is destroyed. What lies in `folder` now counts as on disk; all
  /// files that SQLite opens must be in it.
  explicit PowerCutVfs(const std::filesystem::path& folder);
  PowerCutVfs(const PowerCutVfs&) = delete;
  PowerCutVfs& operator=(const PowerCutVfs&) = delete;
  ~PowerCutVfs();

  /// Operations so far: a moment for after_cut().
  [[nodiscard]] std::size_t operations() const { return log_.size(); }
  /// Moments at which a session's main file (not its log) had just been changed or deleted: where
  /// a checkpoint is under way.
  [[nodiscard]] std::vector<std::size_t> main_file_changes() const;
  /// What is on disk when the power goes right after the first `operations` operations.
  [[nodiscard]] DiskImage after_cut(std::size_t operations, Unsynced unsynced,
                                    std::mt19937_64& random) const;

 private:
  friend struct PowerCutHooks;
  enum class Kind : std::uint8_t { kCreate, kWrite, kTruncate, kSync, kDelete, kSyncFolder };
  struct Operation {
    Kind kind = Kind::kWrite;
    std::string file;
    std::uint64_t offset = 0;  ///< or the new size
    std::string bytes;
  };
  struct Impl;

  std::vector<Operation> log_;
  DiskImage before_;
  std::unique_ptr<Impl> impl_;
};

void write_image(const DiskImage& image, const std::filesystem::path& folder);

}  // namespace gputrace::test
