#include "tests/rig/graphics_core.h"

#include "daemon/base/time.h"

namespace gputrace::rig {

namespace {
constexpr std::int64_t kGuardNs = 100 * kNsPerMs;  // GFX_OFF_DELAY_ENABLE, amdgpu_gfx.c
}

void GraphicsCore::hold_power(std::int64_t now_ns) noexcept {
  is_held_up_ = true;
  control_->guarded = 1;
  guarded_ns_ = now_ns;
}

std::optional<std::int64_t> GraphicsCore::power_ends_ns() const noexcept {
  return is_held_up_ ? std::optional(guarded_ns_ + kGuardNs) : std::nullopt;
}

bool GraphicsCore::end_power_if_due(std::int64_t now_ns) noexcept {
  if (!is_held_up_ || now_ns < guarded_ns_ + kGuardNs) {
    return false;
  }
  is_held_up_ = false;
  return true;
}

}  // namespace gputrace::rig
