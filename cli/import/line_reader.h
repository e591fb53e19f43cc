// Lines of a file or pipe, one at a time, without an allocation a line and without mapping the file
// (which may be a pipe, or be cut while it is read).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::import {

inline constexpr std::size_t kMaxLineLength = 65'536;

struct Line {
  std::string_view text;  ///< without the line end; valid until the next call
  std::uint64_t number = 0;
  bool terminated = true;  ///< false: the file ends here without a line end
  bool too_long = false;   ///< over kMaxLineLength: `text` is only its beginning
};

class LineReader {
 public:
  /// Fills the buffer it is given and returns how much; 0 at the end. The descriptor of
  /// read_descriptor(), or memory in a test.
  using ReadBytes = std::function<Result<std::size_t>(std::span<char>)>;

  /// `name` stands for the input in messages.
  LineReader(ReadBytes read_bytes, std::string name);

  /// The next line into `out`; false at the end.
  [[nodiscard]] Result<bool> next(Line& out);
  /// The first kMaxLineLength bytes (all of it when shorter), before next() was called.
  [[nodiscard]] Result<std::string_view> peek();

  /// What is there next, whatever its line ends; empty at the end. Valid until the next call. For
  /// formats whose records are no lines.
  [[nodiscard]] Result<std::string_view> take_bytes();

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  [[nodiscard]] std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  Status fill();
  Result<bool> next_too_long(Line& out);

  ReadBytes read_bytes_;
  std::string name_;
  std::unique_ptr<char[]> buffer_;  ///< not zeroed: most inputs are much smaller
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::uint64_t line_number_ = 0;
};

/// Reads `fd`, which the caller keeps open. `interrupted` is asked when a signal ends a read(2)
/// early; when it says true the import fails.
[[nodiscard]] LineReader::ReadBytes read_descriptor(int fd, std::string name,
                                                    std::function<bool()> interrupted);
/// Reads `text`, which the caller keeps.
[[nodiscard]] LineReader::ReadBytes read_memory(std::string_view text);

}  // namespace gputrace::import
