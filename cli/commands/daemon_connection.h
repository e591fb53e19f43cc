// How commands reach gputraced, and what to tell a person when they cannot.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/ipc/control_client.h"

namespace gputrace::commands {

/// Connects to the socket of $GPUTRACE_SOCKET or the usual one. kNotFound: nobody listens; the
/// message says whether gputraced is installed and how to start it. kPermissionDenied: who may.
[[nodiscard]] Result<ipc::ControlClient> connect_to_daemon(std::int64_t timeout_ns = 2 *
                                                                                     kNsPerSecond);

/// Whether systemd knows the service on this machine.
[[nodiscard]] bool daemon_is_installed();

/// "1.2 MB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace gputrace::commands
