// Text of imported files: pieces of it in messages, and numbers out of it.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace gputrace::import {

/// Safe on a terminal: control characters and bytes outside ASCII become \xNN.
[[nodiscard]] std::string printable(std::string_view text);
/// A quoted, printable piece of a bad line, cut after 32 characters: 'gpu 1x...'.
[[nodiscard]] std::string excerpt(std::string_view text);

/// Without blanks, tabs and a carriage return (files from Windows) at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Windows editors put a byte order mark before UTF-8.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// The whole of `text` as a number, or nothing.
template <class T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [next, error] = std::from_chars(begin, end, value);
  if (error != std::errc{} || next != end) {
    return std::nullopt;
  }
  return value;
}

}  // namespace gputrace::import
