#include "cli/import/text.h"

#include <fmt/format.h>

namespace gputrace::import {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char character : text) {
    if (character >= ' ' && character <= '~') {
      out.push_back(character);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(character));
    }
  }
  return out;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLimit = 32;
  const bool cut = text.size() > kLimit;
  return "'" + printable(text.substr(0, kLimit)) + (cut ? "..." : "") + "'";
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace gputrace::import
