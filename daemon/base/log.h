// Messages of the long-running parts. A level says who must act. The sink is chosen by main.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gputrace {

enum class LogLevel {
  kError,    ///< the task in hand failed
  kWarning,  ///< it goes on, but a reader of the result should know
  kHint,     ///< what the user can do next
  kInfo,     ///< normal, once
};

[[nodiscard]] std::string_view log_level_name(LogLevel level);

/// Where messages go: standard error, the journal, or a vector in a test.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Writes "gputrace: warning: text" lines to standard error, one write(2) a line.
[[nodiscard]] LogSink log_to_stderr(std::string program);

}  // namespace gputrace
