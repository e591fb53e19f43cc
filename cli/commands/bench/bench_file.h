// The file of a bench from its beginning to its name: hidden in the machine folder until its
// results are in it, or in a temporary folder for as long as the session is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands/pending_file.h"
#include "daemon/base/result.h"
#include "daemon/store/session.h"

namespace gputrace::commands {

class BenchFile {
 public:
  struct Place {
    std::filesystem::path folder;  ///< is made; empty = a temporary one
    store::SessionKind kind = store::SessionKind::kBench;
    std::string device;
    std::int64_t realtime_ns = 0;
  };

  [[nodiscard]] static Result<std::unique_ptr<BenchFile>> create(const Place& place);
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;
  /// Removes a temporary folder, and a file that was not kept.
  ~BenchFile();

  [[nodiscard]] const std::filesystem::path& path() const { return pending_->path(); }
  [[nodiscard]] const std::filesystem::path& final_path() const { return pending_->final_path(); }
  void discard_content() { pending_->discard_content(); }
  /// Gives it its name; another one where a bench that began in the same second has taken it.
  [[nodiscard]] Status keep();

 private:
  explicit BenchFile(Place place) : place_(std::move(place)) {}

  Place place_;
  bool temporary_ = false;
  std::unique_ptr<PendingFile> pending_;
};

}  // namespace gputrace::commands
