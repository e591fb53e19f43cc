#include "daemon/base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace gputrace {

std::string_view log_level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kHint:
      return "hint";
    case LogLevel::kInfo:
      return "info";
  }
  return "info";
}

LogSink log_to_stderr(std::string program) {
  return [program = std::move(program)](LogLevel level, std::string_view text) {
    const std::string line = level == LogLevel::kInfo ? fmt::format("{}: {}\n", program, text)
                                                      : fmt::format("{}: {}: {}\n", program,
                                                                    log_level_name(level), text);
    // A message that cannot be written has nobody left to be told.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  };
}

}  // namespace gputrace
