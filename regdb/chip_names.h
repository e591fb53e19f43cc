// What GPUs are called, by PCI ids (chips.txt): for those that libdrm's amdgpu.ids does not list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gputrace::regdb {

/// "AMD Radeon 780M Graphics"; "AMD GPU (Phoenix)" when only the chip is known; absent when
/// neither is. `device` is a PCI device id of vendor 0x1002.
[[nodiscard]] std::optional<std::string> chip_name(std::uint16_t device,
                                                   std::optional<std::uint8_t> revision);

/// chips.txt itself.
[[nodiscard]] std::string_view chips_text();

}  // namespace gputrace::regdb
