#include "cli/report/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace gputrace::report {
namespace {

struct Decoded {
  char32_t code = 0;
  std::size_t length = 0;  ///< 0 = not valid UTF-8
};

/// One character of UTF-8 by RFC 3629: no overlong forms, surrogates or codes above U+10FFFF.
Decoded decode(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return {first, 1};
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) {
    return {};
  }
  char32_t code = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return {};
    }
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return overlong || surrogate || code > 0x10ffff ? Decoded{} : Decoded{code, length};
}

/// Characters that a terminal acts on, or that make text read in another order than it is stored
/// (Unicode bidirectional controls, line separators).
bool is_harmful(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/// Columns of a terminal: 2 for East Asian wide characters and emoji (Unicode Standard Annex 11),
/// 0 for combining marks and variation selectors.
std::size_t columns_of(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
    std::size_t columns;
  };
  static constexpr std::array<Range, 12> kRanges{{{0x0300, 0x036f, 0},
                                                  {0x1100, 0x115f, 2},
                                                  {0x2e80, 0xa4cf, 2},
                                                  {0xac00, 0xd7a3, 2},
                                                  {0xf900, 0xfaff, 2},
                                                  {0xfe00, 0xfe0f, 0},
                                                  {0xfe20, 0xfe2f, 0},
                                                  {0xfe30, 0xfe6f, 2},
                                                  {0xff00, 0xff60, 2},
                                                  {0xffe0, 0xffe6, 2},
                                                  {0x1f300, 0x1f9ff, 2},
                                                  {0x20000, 0x3fffd, 2}}};
  for (const Range& range : kRanges) {
    if (code >= range.first && code <= range.last) {
      return range.columns;
    }
  }
  return 1;
}

struct Prefix {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

/// The longest piece, of whole characters, that fits in `width` columns.
Prefix prefix_of(std::string_view text, std::size_t width) {
  Prefix prefix;
  while (prefix.bytes < text.size()) {
    const Decoded character = decode(text.substr(prefix.bytes));
    const std::size_t columns = character.length == 0 ? 1 : columns_of(character.code);
    if (prefix.columns + columns > width) {
      break;
    }
    prefix.bytes += std::max<std::size_t>(character.length, 1);
    prefix.columns += columns;
  }
  return prefix;
}

}  // namespace

std::string escape_for_terminal(std::string_view text, bool ascii) {
  std::string out;
  while (!text.empty()) {
    const Decoded character = decode(text);
    const std::size_t length = std::max<std::size_t>(character.length, 1);
    if (character.length == 0 || is_harmful(character.code) || (ascii && character.code >= 0x80)) {
      for (const char c : text.substr(0, length)) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string quote_command(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    line += line.empty() ? "" : " ";
    if (!word.empty() && word.find_first_of(" \t\n'\"\\$`&|;<>()*?[]{}~#!") == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    line += '\'';
  }
  return line;
}

std::size_t display_width(std::string_view text) {
  return prefix_of(text, std::numeric_limits<std::size_t>::max()).columns;
}

std::string clip(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) {
    return std::string(text);
  }
  return std::string(text.substr(0, prefix_of(text, width > 3 ? width - 3 : 0).bytes)) + "...";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines;
  std::string line(std::min(text.find_first_not_of(' '), text.size()), ' ');
  text.remove_prefix(line.size());
  std::size_t used = line.size();  // columns of `line`
  std::size_t begin = used;        // columns of its indent
  const auto next_line = [&] {
    lines.push_back(line);
    line.assign(indent, ' ');
    used = begin = indent;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (used > begin && used + 1 + display_width(word) > width) {
      next_line();
    }
    if (used > begin) {
      line += ' ';
      ++used;
    }
    while (used + display_width(word) > width) {
      std::size_t bytes = prefix_of(word, width - used).bytes;
      if (bytes == 0 && used == begin) {
        bytes = std::max<std::size_t>(decode(word).length, 1);  // wider than a whole line
      }
      line += word.substr(0, bytes);
      word.remove_prefix(bytes);
      next_line();
    }
    line += word;
    used += display_width(word);
  }
  lines.push_back(line);
  return lines;
}

std::string Painter::paint(Ink ink, std::string_view text) const {
  if (!colour_ || ink == Ink::kPlain || text.empty()) {
    return std::string(text);
  }
  std::string_view code = "1";
  switch (ink) {
    case Ink::kPlain:
    case Ink::kBold:
      break;
    case Ink::kDim:
      code = "2";
      break;
    case Ink::kBar:
      code = "36";
      break;
    case Ink::kCaution:
      code = "1;35";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Painter::paint(int colour, std::string_view text) const {
  return colour_ && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text)
                                  : std::string(text);
}

}  // namespace gputrace::report
