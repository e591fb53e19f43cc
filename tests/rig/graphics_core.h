// The registers of the rig's GPU, and GFXOFF: the graphics core loses its power 100 ms after the
// last READ_MMR_REG, and reads past the driver's guard then give all ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tests/rig/control.h"
#include "tests/rig/word_source.h"

namespace gputrace::rig {

class GraphicsCore {
 public:
  GraphicsCore(std::shared_ptr<WordSource> words, std::shared_ptr<RigControl> control)
      : words_(std::move(words)), control_(std::move(control)) {}

  [[nodiscard]] std::uint32_t word(std::uint32_t dword_offset, std::int64_t now_ns) {
    return words_->word(dword_offset, now_ns);
  }

  /// READ_MMR_REG has read: GFXOFF is held off from now on.
  void hold_power(std::int64_t now_ns) noexcept;
  [[nodiscard]] std::int64_t last_guarded_read_ns() const noexcept { return guarded_ns_; }
  /// When the guard ends; absent when it has.
  [[nodiscard]] std::optional<std::int64_t> power_ends_ns() const noexcept;
  /// Ends the guard when it is time. Called only while no request waits to be served: a server
  /// that was kept from running must not take its own delay for the caller's. True: it ended now.
  bool end_power_if_due(std::int64_t now_ns) noexcept;
  [[nodiscard]] bool has_power() const noexcept { return control_->gfx_off == 0 || is_held_up_; }

 private:
  std::shared_ptr<WordSource> words_;
  std::shared_ptr<RigControl> control_;
  bool is_held_up_ = false;
  std::int64_t guarded_ns_ = 0;
};

}  // namespace gputrace::rig
