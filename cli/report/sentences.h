// Sentences put together from parts.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace gputrace::report {

/// An acronym ("GPU waited") keeps its capitals.
[[nodiscard]] inline std::string lower_first(std::string_view text) {
  std::string lowered(text);
  const bool acronym = text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) != 0;
  if (!lowered.empty() && !acronym) {
    lowered[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lowered[0])));
  }
  return lowered;
}

[[nodiscard]] inline std::string upper_first(std::string_view text) {
  std::string raised(text);
  if (!raised.empty()) {
    raised[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(raised[0])));
  }
  return raised;
}

/// Ends it with a full stop where it has no end; an empty one adds nothing.
inline void add_sentence(std::string& text, std::string_view sentence) {
  if (sentence.empty()) {
    return;
  }
  text += text.empty() ? "" : " ";
  text += sentence;
  if (sentence.back() != '.' && sentence.back() != '?' && sentence.back() != '!') {
    text += '.';
  }
}

}  // namespace gputrace::report
