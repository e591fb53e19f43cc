// Cuts a stream of JSON objects into single ones without holding more than one: an object a line,
// objects one after the other, or one array of them, in any layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/import/line_reader.h"

namespace gputrace::import {

/// No object of a tool we read is larger: 64 GPUs with thousands of processes.
inline constexpr std::size_t kMaxJsonRecord = 8U << 20U;
inline constexpr std::size_t kMaxJsonDepth = 64;

struct JsonRecord {
  std::string_view text;     ///< valid until the next call
  std::uint64_t line = 1;    ///< where it begins
  std::size_t column = 1;    ///< likewise
  std::string_view problem;  ///< why it is no object; empty = it may be one
};

class JsonRecords {
 public:
  explicit JsonRecords(LineReader& input) : input_(input) {}

  /// The next object, or text that is none; false at the end. Where each object has its own line a
  /// cut one ends there; elsewhere nothing tells where the next begins.
  [[nodiscard]] Result<bool> next(JsonRecord& out);

 private:
  enum class Step { kMore, kRecord };
  /// Takes bytes up to the end of a record.
  Step take(std::string_view& bytes, JsonRecord& out);
  Step take_between(char c, JsonRecord& out);
  Step take_inside(char c, JsonRecord& out);
  Step end_record(JsonRecord& out, std::string_view problem);

  LineReader& input_;
  std::string_view bytes_;  ///< of the input, not yet looked at
  std::string record_;
  bool inside_ = false;   ///< of a record, or of text that is none
  bool garbage_ = false;  ///< text that is none, up to the end of its line
  bool in_string_ = false;
  bool escaped_ = false;
  bool too_large_ = false;
  bool too_deep_ = false;
  std::size_t depth_ = 0;
  std::uint64_t line_ = 1;
  std::size_t column_ = 0;  ///< of the byte looked at last
  std::uint64_t begin_line_ = 1;
  std::size_t begin_column_ = 1;
  std::optional<bool> object_a_line_;  ///< known from the first object on
};

}  // namespace gputrace::import
