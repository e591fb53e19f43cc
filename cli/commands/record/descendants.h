// Who is still there of the process tree that CMD left behind.
#pragma once

#include <sys/types.h>

#include <vector>

namespace gputrace::commands {

/// Live or unreaped children of the calling process. Every process below a subreaper has one of
/// these above it, and a child that we have not reaped cannot vanish during the scan: an empty list
/// is certain. (/proc/PID/task/TID/children is neither certain, see proc(5), nor always built in.)
[[nodiscard]] std::vector<pid_t> list_children();

}  // namespace gputrace::commands
