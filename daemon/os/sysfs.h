// Reads the small text files of sysfs. A file that is absent or holds nonsense is an absent value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputrace::os {

/// The first 4 KiB, up to a NUL and without white space at the end (copied trees may be padded or
/// have CRLF); absent when it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::filesystem::path& file);

/// "17", "0x11" (any case) with nothing else; absent otherwise or when above `max`.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max);
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::filesystem::path& file,
                                                       std::uint64_t max);

/// The value of KEY=value in the text of a uevent file.
[[nodiscard]] std::optional<std::string> uevent_value(std::string_view uevent,
                                                      std::string_view key);

/// Names in a folder, sorted; empty when it cannot be read.
[[nodiscard]] std::vector<std::string> list_folder(const std::filesystem::path& folder);

/// "card12" with prefix "card" gives 12; "card1-HDMI-A-1" and "card" give nothing.
[[nodiscard]] std::optional<unsigned> number_after(std::string_view name, std::string_view prefix);

}  // namespace gputrace::os
