#include "cli/commands/report/packed_cells.h"

#include <algorithm>

namespace gputrace::commands {

namespace {

std::vector<std::uint8_t> numbers_of(std::span<const std::byte> bytes) {
  std::vector<std::uint8_t> numbers(bytes.size());
  std::ranges::transform(bytes, numbers.begin(),
                         [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return numbers;
}

}  // namespace

void PackedCounts::set_low(std::span<const std::byte> bytes) {
  low_ = numbers_of(bytes);
}

void PackedCounts::set_high(std::span<const std::byte> bytes) {
  high_ = numbers_of(bytes);
}

std::optional<PackedCounts> PackedCounts::pack(std::span<const std::uint32_t> counts) {
  PackedCounts packed;
  const std::uint32_t largest = counts.empty() ? 0 : *std::ranges::max_element(counts);
  if (largest > 0xffff) {
    return std::nullopt;
  }
  if (largest > 0) {
    packed.low_.reserve(counts.size());
    for (const std::uint32_t count : counts) {
      packed.low_.push_back(static_cast<std::uint8_t>(count & 0xffU));
    }
  }
  if (largest > 0xff) {
    packed.high_.reserve(counts.size());
    for (const std::uint32_t count : counts) {
      packed.high_.push_back(static_cast<std::uint8_t>(count >> 8U));
    }
  }
  return packed;
}

}  // namespace gputrace::commands
