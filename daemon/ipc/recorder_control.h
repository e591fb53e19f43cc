// gputraced's socket to the recorder of one GPU (SOCK_SEQPACKET): down go the sockets of new
// sessions, each in a message of one byte with a descriptor; up come health reports. The orders of
// a session go over its own socket.
#pragma once

#include <optional>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/message.h"

namespace gputrace::ipc {

/// Passes on one end of a session's socket; the caller may close its copy afterwards. Never blocks
/// (kBusy: the recorder does not take its messages) and never raises SIGPIPE.
[[nodiscard]] Status send_session_socket(int control, const UniqueFd& session);
/// Waits for one. Absent: the other end is closed. kCorrupt: a message that is not one byte with
/// one descriptor is gone; the next can be received.
[[nodiscard]] Result<std::optional<UniqueFd>> receive_session_socket(int control);

/// Never blocks: a report that nobody reads is lost, the next one says all that matters.
[[nodiscard]] Status send_health(int control, const HealthReport& report);
/// Waits for one. Absent: the recorder has ended. kCorrupt as above.
[[nodiscard]] Result<std::optional<HealthReport>> receive_health(int control);

}  // namespace gputrace::ipc
