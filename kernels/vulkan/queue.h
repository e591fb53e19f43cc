// The one queue that everything runs on, with its command buffer, fence and timestamps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "daemon/base/result.h"
#include "kernels/vulkan/device.h"
#include "kernels/vulkan/handles.h"

namespace gputrace::vulkan {

/// What ticks of a counter mean.
struct TimestampScale {
  std::uint32_t valid_bits = 0;
  double period_ns = 0;
  /// Lavapipe queues a timestamp with what it draws, once it has drawn anything, and dispatches at
  /// once: without a flush behind it the first timestamp would come after the work.
  bool needs_flush = false;
  /// A queue that only copies has no command that resets queries.
  bool reset_by_host = false;

  /// From one reading to a later one, over a wrap of the counter.
  [[nodiscard]] std::uint64_t ticks(std::uint64_t first, std::uint64_t last) const;
};

/// Move-only.
class Queue {
 public:
  /// `scale` absent = without timestamps.
  [[nodiscard]] static Result<Queue> create(Context& context, std::uint32_t family,
                                            std::optional<TimestampScale> scale);

  /// A command buffer to record into, with the first timestamp behind what `begin` adds itself.
  [[nodiscard]] Result<VkCommandBuffer> begin();
  /// Ends the recording, runs it and waits. kIo: the device is lost. kBusy: it did not end; the
  /// context is then abandoned. `while_running`, if any, is called between submission and wait.
  [[nodiscard]] Result<RunTime> finish(std::int64_t timeout_ns,
                                       const std::function<void()>& while_running = nullptr);

 private:
  Queue(Context& context, VkQueue queue) : context_(&context), queue_(queue) {}
  [[nodiscard]] Status wait(std::int64_t timeout_ns);
  void reset_timestamps() const;
  [[nodiscard]] Status read_timestamps(RunTime& time) const;
  [[nodiscard]] tl::unexpected<Error> lose(VkResult result, std::string_view what);

  Context* context_;
  VkQueue queue_;
  OwnedCommandPool pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  OwnedFence fence_;
  OwnedQueryPool timestamps_;
  std::optional<TimestampScale> scale_;
  std::optional<Error> dead_;  ///< why nothing can run any more
};

/// Everything before is done and seen by everything after, of any kind.
void wait_for_all(const Context& context, VkCommandBuffer commands);

}  // namespace gputrace::vulkan
