// The sessions that gputraced still keeps for this user, for `gputrace list`.
#pragma once

#include <vector>

#include "daemon/base/result.h"
#include "daemon/ipc/control_message.h"

namespace gputrace::commands {

/// Empty without a daemon, or with one that does not serve this user.
[[nodiscard]] Result<ipc::SessionsReply> kept_sessions();

}  // namespace gputrace::commands
