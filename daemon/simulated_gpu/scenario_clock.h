// When a scenario began: the first read of the registers or the first play, unless it is told. The
// sensors of the same GPU follow it from another thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace gputrace::simulated_gpu {

class ScenarioClock {
 public:
  /// CLOCK_MONOTONIC; absent = with the first start().
  explicit ScenarioClock(std::optional<std::int64_t> begin_ns)
      : begin_ns_(begin_ns.value_or(kNotBegun)) {}

  /// Time since the begin, which is now if it has not been yet.
  std::int64_t start(std::int64_t now_ns) noexcept {
    std::int64_t not_begun = kNotBegun;
    begin_ns_.compare_exchange_strong(not_begun, now_ns, std::memory_order_relaxed);
    return time_at(now_ns);
  }
  /// Time since the begin; before it negative.
  [[nodiscard]] std::int64_t time_at(std::int64_t now_ns) const noexcept {
    const std::int64_t begin_ns = begin_ns_.load(std::memory_order_relaxed);
    return begin_ns == kNotBegun ? -1 : now_ns - begin_ns;
  }

 private:
  static constexpr std::int64_t kNotBegun = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> begin_ns_;
};

}  // namespace gputrace::simulated_gpu
