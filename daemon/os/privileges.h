// Giving up what a root process may do (capabilities(7)).
#pragma once

#include <sys/types.h>

#include <string>

#include "daemon/base/result.h"

namespace gputrace::os {

/// Keeps CAP_SYS_NICE (SCHED_FIFO) and CAP_PERFMON of those it has, permitted and effective, takes
/// all others from every set (from the bounding set as far as CAP_SETPCAP is there to do it), and
/// sets no_new_privs. Call it before the first thread: capabilities belong to threads. Returns
/// what is left, "cap_sys_nice,cap_perfmon", for the log; empty without any.
[[nodiscard]] Result<std::string> drop_capabilities();

/// gid of a group by name; kNotFound says how to make it (systemd-sysusers).
[[nodiscard]] Result<gid_t> find_group(const std::string& name);

}  // namespace gputrace::os
