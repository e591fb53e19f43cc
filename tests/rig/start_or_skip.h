// For tests that need the rig: starts it, or prints why it cannot be had.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "tests/rig/rig.h"

namespace gputrace::rig {

/// nullptr, with the reason printed, where FUSE or the privilege is missing: the test returns.
inline std::unique_ptr<Rig> start_or_skip(const RigOptions& options) {
  auto rig = Rig::start(options);
  if (!rig) {
    MESSAGE("skipped: " << rig.error().message);
    return nullptr;
  }
  return std::move(*rig);
}

/// Each register's word is its offset, so that a test sees that each came from its own place.
inline RigOptions offset_words(GpuModel gpu = default_gpu_model()) {
  RigOptions options;
  options.gpu = gpu;
  options.words =
      words_from([](std::uint32_t offset, std::int64_t) { return 0xab000000U | offset; });
  return options;
}

}  // namespace gputrace::rig
