// Rows of `gputrace doctor`: a state, what it is of, and words that wrap beside them.
#pragma once

#include <string>
#include <string_view>

#include "daemon/os/sensors/sensors.h"

namespace gputrace::commands {

enum class Mark { kOk, kLimited, kNo, kNone, kAsleep, kBroken, kAbout };
/// "ok", "limited", "no", "none", "asleep", "broken"; kAbout, for what is neither good nor bad, has
/// no word.
[[nodiscard]] std::string_view word_of(Mark mark);
[[nodiscard]] Mark mark_of(os::SourceState state);

/// "  ok       kernel                  Linux 6.12.9". Values come from boards, drivers and files,
/// so they are escaped.
void append_row(std::string& text, Mark mark, std::string_view name, std::string_view words);
/// Below a row: "fix: sudo ..."; nothing when `words` is empty.
void append_detail(std::string& text, std::string_view label, std::string_view words);
/// A line of its own that wraps; not escaped.
void append_line(std::string& text, std::string_view words, std::size_t indent);

/// "2.3 us", "1.2 ms".
[[nodiscard]] std::string duration_text(std::int64_t ns);

/// What failed, and the advice that messages give after it.
struct SplitMessage {
  std::string reason;
  std::string fix;
};
[[nodiscard]] SplitMessage split_advice(std::string_view message);

/// The errno whose text `message` holds, as error_from_errno() puts it there; 0 for none.
[[nodiscard]] int errno_of(std::string_view message);

}  // namespace gputrace::commands
