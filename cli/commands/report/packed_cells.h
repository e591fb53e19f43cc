// Cells of a chunk of a grid in a tenth of their memory, so that a day of them can be kept between
// passes over a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gputrace::commands {

/// Counts of up to 65,535. Most fit a byte, and many units never work at all.
class PackedCounts {
 public:
  /// Absent when a count is larger.
  [[nodiscard]] static std::optional<PackedCounts> pack(std::span<const std::uint32_t> counts);
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const {
    return (low_.empty() ? 0U : low_[i]) + (high_.empty() ? 0U : std::uint32_t{high_[i]} << 8U);
  }
  [[nodiscard]] std::span<const std::uint8_t> low() const { return low_; }
  [[nodiscard]] std::span<const std::uint8_t> high() const { return high_; }
  /// As low() and high() of another one gave them.
  void set_low(std::span<const std::byte> bytes);
  void set_high(std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t bytes() const { return low_.capacity() + high_.capacity(); }

 private:
  std::vector<std::uint8_t> low_;   ///< empty = all zero
  std::vector<std::uint8_t> high_;  ///< empty = all zero
};

}  // namespace gputrace::commands
