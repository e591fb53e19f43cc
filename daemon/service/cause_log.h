// Log of a service that runs for months: each cause once, not once a tick.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "daemon/base/log.h"
#include "daemon/base/time.h"

namespace gputrace::service {

class CauseLog {
 public:
  explicit CauseLog(LogSink sink, std::function<std::int64_t()> now_ns = monotonic_now_ns);

  /// What happens once by its nature.
  void say(LogLevel level, std::string_view text) const;
  /// The first time; then at most once an hour, with how often it was held back.
  void say_once(LogLevel level, std::string_view cause, std::string_view text);
  /// The cause is over: should it come again, it is news.
  void over(std::string_view cause);
  [[nodiscard]] const LogSink& sink() const noexcept { return sink_; }

 private:
  struct Said {
    std::int64_t at_ns = 0;
    std::uint64_t held_back = 0;
  };

  LogSink sink_;
  std::function<std::int64_t()> now_ns_;
  std::map<std::string, Said, std::less<>> said_;
};

}  // namespace gputrace::service
