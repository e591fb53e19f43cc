// Which of a device's queues are used: one that does everything, and one of each kind that does
// less beside it. Plain data.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gputrace::vulkan {

/// As the driver lists it.
struct QueueFamily {
  std::uint32_t index = 0;
  bool graphics = false;
  bool compute = false;  ///< copies too, as the one that draws
  bool transfer = false;
  bool special = false;  ///< decodes or encodes video, and the like
  std::uint32_t queues = 1;
  std::uint32_t timestamp_bits = 0;  ///< 0 = without timestamps

  friend bool operator==(const QueueFamily&, const QueueFamily&) = default;
};

/// "graphics queue", "compute queue", "transfer queue".
[[nodiscard]] std::string_view name_of(const QueueFamily& family);

/// First the one that draws and computes, else one that computes (accelerators without a
/// rasteriser); then one that computes alone and one that copies alone, where they are. Empty
/// when none computes.
[[nodiscard]] std::vector<QueueFamily> choose_queues(const std::vector<QueueFamily>& families);

}  // namespace gputrace::vulkan
