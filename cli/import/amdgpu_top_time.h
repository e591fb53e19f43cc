// Which time an object of `amdgpu_top --json` speaks for. From version 0.11.5 on it has the wall
// clock of the start of its window; all have the time since amdgpu_top began. A window is one
// interval (-s, by default a second) in which amdgpu_top read the registers a hundred times.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/import/amdgpu_top_record.h"
#include "cli/import/bad_lines.h"

namespace gputrace::import {

class AmdgpuTopClock {
 public:
  struct Window {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;  ///< later; when the sensors were read
  };
  /// The window of the next object. What it returns in `bad` is wrong with the object.
  Window place(const AmdgpuTopRecord& record, std::optional<BadCell>& bad);

  /// Whether the axis is the wall clock; else it begins at 0.
  [[nodiscard]] bool has_wall_clock() const { return has_wall_clock_; }
  /// How often the time since the start of amdgpu_top began anew.
  [[nodiscard]] std::uint64_t restarts() const { return restarts_; }

 private:
  [[nodiscard]] std::int64_t length_of(const AmdgpuTopRecord& record) const;

  bool has_wall_clock_ = false;
  std::uint64_t placed_ = 0;
  std::uint64_t restarts_ = 0;
  Window last_;
  std::int64_t last_period_ns_ = 0;
};

}  // namespace gputrace::import
