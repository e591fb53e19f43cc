#include "cli/commands/list/kept_sessions.h"

#include <variant>

#include "cli/commands/daemon_connection.h"

namespace gputrace::commands {

Result<ipc::SessionsReply> kept_sessions() {
  const Result<ipc::ControlClient> daemon = connect_to_daemon(kNsPerSecond);
  if (!daemon) {
    const ErrorCode code = daemon.error().code;
    const bool usual = code == ErrorCode::kNotFound || code == ErrorCode::kPermissionDenied;
    return usual ? Result<ipc::SessionsReply>(ipc::SessionsReply{})
                 : tl::unexpected<Error>(daemon.error());
  }
  Result<ipc::ReceivedReply> answer = daemon->ask(ipc::SessionsRequest{});
  if (!answer) {
    return tl::unexpected<Error>(answer.error());
  }
  auto* sessions = std::get_if<ipc::SessionsReply>(&answer->reply);
  if (sessions == nullptr) {
    return fail(ErrorCode::kCorrupt, "gputraced answered something else than its sessions");
  }
  return std::move(*sessions);
}

}  // namespace gputrace::commands
