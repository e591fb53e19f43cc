// Giving up what a root process may do (capabilities(7)).
#pragma once

#include <sys/types.h>

#include <string>

#include "daemon/base/result.h"

namespace gputrace::os {

/// Keeps CAP_SYS_NICE (SCHED_FIFO) and CAP_PERFMON of those it has, in every set including the
/// bounding one, and sets no_new_privs. Without any capability it does nothing. Returns what is
/// left, "cap_sys_nice,cap_perfmon", for the log.
[[nodiscard]] Result<std::string> drop_capabilities();

/// gid of a group by name; kNotFound says how to make it (systemd-sysusers).
[[nodiscard]] Result<gid_t> find_group(const std::string& name);

}  // namespace gputrace::os
