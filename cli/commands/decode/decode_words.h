// Status words taken apart by a register map.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/register_map.h"

namespace gputrace::commands {

struct StatusWord {
  regdb::Register reg;
  std::uint32_t value = 0;
};

/// "GRBM_STATUS=0xA0003028": any letter case, with or without umr's or the headers' prefix (mm,
/// reg); the word in hex (0x...) or decimal, within 32 bits. Anything else is kUsage.
[[nodiscard]] Result<StatusWord> parse_status_word(const regdb::RegisterMap& map,
                                                   std::string_view text);

/// All ones never comes from a working status register: the device is off the bus, hung, asleep,
/// or the address is not mapped.
[[nodiscard]] bool is_invalid_read(const StatusWord& word);

struct SetField {
  const regdb::RegisterField* field = nullptr;  ///< of the StatusWord's register
  std::uint32_t value = 0;
};
/// The fields that are not 0, and counters, which say something at 0 too; by bit.
[[nodiscard]] std::vector<SetField> set_fields(const StatusWord& word);
/// The set bits that no field covers.
[[nodiscard]] std::uint32_t unknown_bits(const StatusWord& word);

}  // namespace gputrace::commands
