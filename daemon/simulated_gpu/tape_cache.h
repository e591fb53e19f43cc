// Keeps computed signals in files, because computing them takes seconds. A cache never fails: what
// cannot be read is computed again, what cannot be written is not kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "daemon/simulated_gpu/steady_signal.h"

namespace gputrace::simulated_gpu {

class TapeCache {
 public:
  /// `folder` empty = keeps nothing. It is made when the first signal is kept.
  explicit TapeCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The signal kept under this fingerprint, if its file is whole.
  [[nodiscard]] std::optional<SteadySignal> load(std::uint64_t key) const;
  /// Replaces the file in one step, so that a reader sees all of it or none.
  void store(std::uint64_t key, const SteadySignal& signal) const;

  [[nodiscard]] std::filesystem::path file_of(std::uint64_t key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace gputrace::simulated_gpu
