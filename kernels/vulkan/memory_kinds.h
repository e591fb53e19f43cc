// Kinds of memory that a device offers, told apart by who reaches them and how. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gputrace::vulkan {

struct MemoryKind {
  std::uint32_t type = 0;  ///< index in the device's list
  bool device_local = false;
  bool host_visible = false;
  /// Else writes of the CPU are to be flushed, and its caches to be emptied before it reads.
  bool host_coherent = false;
  bool host_cached = false;  ///< else the CPU's writes are combined, and its reads are slow
  std::uint64_t heap_bytes = 0;

  friend bool operator==(const MemoryKind&, const MemoryKind&) = default;
};

/// "device", "device, mapped", "device, cached", "host, cached", "host, uncached", each with
/// ", not coherent" behind it where that is so.
[[nodiscard]] std::string name_of(const MemoryKind& kind);

/// One of each set of properties, in the order given: the first of the largest heap.
[[nodiscard]] std::vector<MemoryKind> distinct_kinds(const std::vector<MemoryKind>& all);

/// Host memory that the CPU reads fast, else what it sees at all; null where it sees none.
[[nodiscard]] const MemoryKind* host_side(const std::vector<MemoryKind>& kinds);
/// The device's own memory, rather what the CPU does not see; null where there is no memory.
[[nodiscard]] const MemoryKind* device_side(const std::vector<MemoryKind>& kinds);

}  // namespace gputrace::vulkan
