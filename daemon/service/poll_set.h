// Each part of the daemon adds what it waits for to one poll(2) and finds its own in the result. A
// descriptor may have been closed and its number used again since: nobody may wait for what poll
// reported.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace gputrace::service {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] inline bool is_ready(std::span<const pollfd> ready, int fd) {
  return std::any_of(ready.begin(), ready.end(),
                     [fd](const pollfd& entry) { return entry.fd == fd && entry.revents != 0; });
}

}  // namespace gputrace::service
