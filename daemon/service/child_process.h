// A process forked off the daemon: its pid, and a descriptor that becomes readable when it ends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::service {

struct ChildProcess {
  pid_t pid = -1;
  UniqueFd pidfd;
};

/// Runs `body` in a child without blocked signals; the child ends when `body` returns. The caller
/// has one thread.
[[nodiscard]] Result<ChildProcess> fork_child(const std::function<void()>& body);

/// "ended with status 1", "was killed by signal 9"; absent while it runs. Never waits.
[[nodiscard]] std::optional<std::string> how_it_ended(const ChildProcess& child);

/// For a child that works on paths only: closes every descriptor but the standard ones, so that
/// nobody who waits for the daemon's end of a socket to close waits for this child.
void keep_only_standard_descriptors();

}  // namespace gputrace::service
