// What the control server knows of one client. Private to daemon/ipc.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/control_server.h"
#include "daemon/ipc/reply_queue.h"

namespace gputrace::ipc {

struct ServedClient {
  enum class Stage { kNew, kAdmitting, kAdmitted };

  /// Pauses it when it has used up its second.
  void count_request(std::size_t per_second, std::int64_t now_ns) {
    if (now_ns - second_since_ns >= kNsPerSecond) {
      second_since_ns = now_ns;
      requests = 0;
    }
    if (++requests >= per_second) {
      paused_until_ns = second_since_ns + kNsPerSecond;
    }
  }

  [[nodiscard]] short poll_events() const {
    const int in = paused_until_ns ? 0 : POLLIN;
    const int out = queue.empty() ? 0 : POLLOUT;
    return static_cast<short>(in | out);
  }

  /// Nothing is read or sent any more; the server takes it away when no handler is running.
  void doom() {
    doomed = true;
    queue.clear();
  }

  UniqueFd fd;
  Peer peer;
  Stage stage = Stage::kNew;
  bool doomed = false;
  std::int64_t hello_by_ns = 0;
  std::int64_t second_since_ns = 0;  ///< of `requests`
  std::size_t requests = 0;
  std::optional<std::int64_t> paused_until_ns;
  ReplyQueue queue;
};

}  // namespace gputrace::ipc
