#include "kernels/vulkan/queue_families.h"

#include <algorithm>

namespace gputrace::vulkan {

std::string_view name_of(const QueueFamily& family) {
  if (family.graphics) {
    return "graphics queue";
  }
  return family.compute ? "compute queue" : "transfer queue";
}

std::vector<QueueFamily> choose_queues(const std::vector<QueueFamily>& families) {
  std::vector<QueueFamily> chosen;
  const auto add_first = [&](auto suits) {
    const auto found = std::ranges::find_if(families, [&](const QueueFamily& family) {
      return family.queues > 0 && suits(family) &&
             std::ranges::find(chosen, family) == chosen.end();
    });
    if (found != families.end()) {
      chosen.push_back(*found);
    }
    return found != families.end();
  };
  const bool draws =
      add_first([](const QueueFamily& family) { return family.graphics && family.compute; });
  const auto only_computes = [](const QueueFamily& family) {
    return family.compute && !family.graphics;
  };
  if (!add_first(only_computes) && !draws) {
    return {};
  }
  add_first([](const QueueFamily& family) {
    return family.transfer && !family.graphics && !family.compute && !family.special;
  });
  return chosen;
}

}  // namespace gputrace::vulkan
