// Text for a terminal: strings from files made harmless, widths, wrapping, colour.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gputrace::report {

/// Control characters (C0, DEL, C1), invalid UTF-8 and characters that reorder text become \xNN;
/// with `ascii` everything beyond ASCII does.
[[nodiscard]] std::string escape_for_terminal(std::string_view text, bool ascii);

/// An argv as a person would type it: words with spaces or shell characters in single quotes.
[[nodiscard]] std::string quote_command(const std::vector<std::string>& command);

/// Columns that escaped text takes: two for East Asian wide characters and emoji.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The first `width` columns; ends in "..." when something was cut.
[[nodiscard]] std::string clip(std::string_view text, std::size_t width);

/// Breaks at spaces so that lines take at most `width` columns; lines after the first begin with
/// `indent` spaces, the first keeps its own. Words longer than a line are broken.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width,
                                            std::size_t indent);

enum class Ink { kPlain, kBold, kDim, kBar, kCaution };

/// Puts colour around text, or nothing when colour is off: the characters stay the same.
class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string paint(Ink ink, std::string_view text) const;
  /// In one of the 16 colours: `colour` is its SGR parameter (ECMA-48).
  [[nodiscard]] std::string paint(int colour, std::string_view text) const;

 private:
  bool colour_;
};

}  // namespace gputrace::report
