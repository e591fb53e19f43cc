#include "kernels/vulkan/memory_kinds.h"

#include <algorithm>

namespace gputrace::vulkan {

namespace {

template <class Score>
const MemoryKind* best_of(const std::vector<MemoryKind>& kinds, Score score) {
  const auto best = std::ranges::max_element(kinds, {}, score);
  return best != kinds.end() && score(*best) > 0 ? &*best : nullptr;
}

}  // namespace

std::string name_of(const MemoryKind& kind) {
  std::string name = kind.device_local ? "device" : "host";
  if (!kind.host_visible) {
    return name;
  }
  if (kind.host_cached) {
    name += ", cached";
  } else {
    name += kind.device_local ? ", mapped" : ", uncached";
  }
  return kind.host_coherent ? name : name + ", not coherent";
}

std::vector<MemoryKind> distinct_kinds(const std::vector<MemoryKind>& all) {
  std::vector<MemoryKind> kinds;
  for (const MemoryKind& kind : all) {
    const auto same = std::ranges::find_if(
        kinds, [&](const MemoryKind& other) { return name_of(other) == name_of(kind); });
    if (same == kinds.end()) {
      kinds.push_back(kind);
    } else if (kind.heap_bytes > same->heap_bytes) {
      *same = kind;
    }
  }
  return kinds;
}

const MemoryKind* host_side(const std::vector<MemoryKind>& kinds) {
  return best_of(kinds, [](const MemoryKind& kind) {
    if (!kind.host_visible) {
      return 0;
    }
    return 1 + (kind.device_local ? 0 : 4) + (kind.host_cached ? 2 : 0) +
           (kind.host_coherent ? 1 : 0);
  });
}

const MemoryKind* device_side(const std::vector<MemoryKind>& kinds) {
  return best_of(kinds, [](const MemoryKind& kind) {
    return 1 + (kind.device_local ? 2 : 0) + (kind.host_visible ? 0 : 1);
  });
}

}  // namespace gputrace::vulkan
