#include "daemon/service/cause_log.h"

#include <fmt/format.h>

#include <utility>

namespace gputrace::service {

namespace {

constexpr std::int64_t kAgainAfterNs = 3600 * kNsPerSecond;
/// Causes may be made from what clients do: their number must have an end.
constexpr std::size_t kMaxCauses = 256;
constexpr std::string_view kOther = "other";

}  // namespace

CauseLog::CauseLog(LogSink sink, std::function<std::int64_t()> now_ns)
    : sink_(std::move(sink)), now_ns_(std::move(now_ns)) {}

void CauseLog::say(LogLevel level, std::string_view text) const {
  sink_(level, text);
}

void CauseLog::say_once(LogLevel level, std::string_view cause, std::string_view text) {
  const std::int64_t now_ns = now_ns_();
  auto said = said_.find(cause);
  if (said == said_.end() && said_.size() >= kMaxCauses) {
    std::erase_if(said_, [&](const auto& entry) {
      return now_ns - entry.second.at_ns >= kAgainAfterNs && entry.second.held_back == 0;
    });
    if (said_.size() >= kMaxCauses) {
      cause = kOther;
      said = said_.find(cause);
    }
  }
  if (said == said_.end()) {
    said_.emplace(cause, Said{now_ns, 0});
    sink_(level, text);
    return;
  }
  if (now_ns - said->second.at_ns < kAgainAfterNs) {
    ++said->second.held_back;
    return;
  }
  sink_(level, said->second.held_back == 0
                   ? std::string(text)
                   : fmt::format("{} (repeated {} times)", text, said->second.held_back));
  said->second = Said{now_ns, 0};
}

void CauseLog::over(std::string_view cause) {
  if (const auto said = said_.find(cause); said != said_.end()) {
    said_.erase(said);
  }
}

}  // namespace gputrace::service
