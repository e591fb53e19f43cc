// Turns the state of the units into status register words, through the field names of the GPU's
// register map. All registers of an instant come from one UnitMask, so they agree.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/simulated_gpu/units.h"
#include "regdb/register_map.h"

namespace gputrace::simulated_gpu {

/// The unit that drives a busy bit; absent for fields that the model does not move (always idle).
[[nodiscard]] std::optional<Unit> unit_of_field(std::string_view field_name);

class RegisterWords {
 public:
  explicit RegisterWords(const regdb::Register& reg);

  [[nodiscard]] std::uint32_t word(UnitMask state) const {
    return idle_word_ ^ toggles_[0][state & 0xffU] ^ toggles_[1][state >> 8U & 0xffU] ^
           toggles_[2][state >> 16U & 0xffU];
  }
  [[nodiscard]] std::uint32_t idle_word() const { return idle_word_; }

 private:
  std::uint32_t idle_word_ = 0;
  /// Bits that differ from the idle word, by the eight units of each byte of the state.
  std::array<std::array<std::uint32_t, 256>, 3> toggles_{};
};

}  // namespace gputrace::simulated_gpu
