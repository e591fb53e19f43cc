// Short-lived processes for what would block the daemon's loop: finishing files, deleting them.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/service/child_process.h"

namespace gputrace::service {

class Helpers {
 public:
  /// `body` runs in a process of its own that has no descriptor of ours but the standard ones.
  /// `done` is called from dispatch() when it has ended, or after `patience_ns` if it has not; the
  /// process is then left to itself.
  [[nodiscard]] Status start(const std::function<void()>& body, std::function<void()> done,
                             std::int64_t now_ns, std::int64_t patience_ns);

  void append_poll(std::vector<pollfd>& fds) const;
  void dispatch(std::span<const pollfd> ready, std::int64_t now_ns);
  [[nodiscard]] std::int64_t next_deadline_ns() const;

 private:
  struct Helper {
    ChildProcess process;
    std::function<void()> done;  ///< empty once called
    std::int64_t deadline_ns = 0;
    bool ended = false;
  };
  std::vector<Helper> helpers_;
};

}  // namespace gputrace::service
