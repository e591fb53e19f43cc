// What `decode` prints: words taken apart, and lists of registers and fields, as text and as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/decode/decode_words.h"
#include "regdb/register_map.h"

namespace gputrace::commands {

inline constexpr std::string_view kInvalidRead =
    "All ones is an invalid read: the device is off the bus, hung or powered down, or nothing is "
    "mapped at that address.";

/// Where the meaning of the bits comes from.
struct DecodeContext {
  regdb::RegisterMap map;
  std::string gc_source;  ///< "--gc", "this machine" or "assumed"
  std::string gc_note;    ///< the same for people; empty with --gc
  std::string regdb_revision;
};
[[nodiscard]] std::string decode_to_text(const DecodeContext& context,
                                         std::span<const StatusWord> words);
[[nodiscard]] std::string decode_to_json(const DecodeContext& context,
                                         std::span<const StatusWord> words);

struct ListedTable {
  std::vector<std::string> versions;  ///< that it serves: "10.3.x"
  regdb::RegisterMap map;
};
/// Versions and registers of all tables.
[[nodiscard]] std::string tables_to_text(std::span<const ListedTable> tables);
[[nodiscard]] std::string tables_to_json(std::span<const ListedTable> tables);
/// Registers and fields of one.
[[nodiscard]] std::string fields_to_text(const regdb::RegisterMap& map);
[[nodiscard]] std::string fields_to_json(const regdb::RegisterMap& map);

}  // namespace gputrace::commands
