// Who is at the other end of a connected Unix socket. Private to daemon/ipc.
#pragma once

#include "daemon/base/result.h"
#include "daemon/ipc/control_server.h"

namespace gputrace::ipc {

[[nodiscard]] Result<Peer> peer_of(int fd);

}  // namespace gputrace::ipc
