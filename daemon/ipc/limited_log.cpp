#include "daemon/ipc/limited_log.h"

#include <fmt/format.h>

namespace gputrace::ipc {

void LimitedLog::log(LogLevel level, std::string_view cause, std::string_view text,
                     std::int64_t now_ns) {
  if (!sink_) {
    return;
  }
  auto found = counts_.find(cause);
  if (found == counts_.end()) {
    found = counts_.emplace(cause, Count{now_ns, 0}).first;
  }
  Count& count = found->second;
  if (now_ns - count.since_ns >= kWindowNs) {
    if (count.lines > kLinesPerWindow) {
      sink_(level, fmt::format("{} more times: {}", count.lines - kLinesPerWindow, cause));
    }
    count = {now_ns, 0};
  }
  ++count.lines;
  if (count.lines <= kLinesPerWindow) {
    sink_(level, text);
  }
}

}  // namespace gputrace::ipc
