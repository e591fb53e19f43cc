// A log that strangers cannot fill: of each cause a few lines a minute, then a count.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "daemon/base/log.h"
#include "daemon/base/time.h"

namespace gputrace::ipc {

class LimitedLog {
 public:
  static constexpr std::int64_t kWindowNs = 60 * kNsPerSecond;
  static constexpr std::uint32_t kLinesPerWindow = 10;

  explicit LimitedLog(LogSink sink) : sink_(std::move(sink)) {}

  /// `cause`: one of few, a literal.
  void log(LogLevel level, std::string_view cause, std::string_view text, std::int64_t now_ns);

 private:
  struct Count {
    std::int64_t since_ns = 0;
    std::uint32_t lines = 0;
  };

  LogSink sink_;
  std::map<std::string, Count, std::less<>> counts_;
};

}  // namespace gputrace::ipc
