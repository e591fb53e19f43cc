// Keeps a part of a disk free: says when a session must not write and when it may again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace gputrace::recorder {

class DiskReserve {
 public:
  /// No reserve with 0 bytes.
  DiskReserve(std::filesystem::path folder, std::uint64_t reserve_bytes)
      : folder_(std::move(folder)), reserve_bytes_(reserve_bytes) {}

  /// False while less than the reserve is free, and afterwards until 5 % more than it is: a disk
  /// at the border must not switch a recording on and off each second.
  [[nodiscard]] bool may_write();
  [[nodiscard]] std::uint64_t reserve_bytes() const { return reserve_bytes_; }
  /// At the last look, for who has no privilege; absent when the file system did not say.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes() const { return free_bytes_; }

 private:
  std::filesystem::path folder_;
  std::uint64_t reserve_bytes_;
  std::optional<std::uint64_t> free_bytes_;
  bool low_ = false;
};

}  // namespace gputrace::recorder
