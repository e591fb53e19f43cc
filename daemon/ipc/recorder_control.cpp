#include "daemon/ipc/recorder_control.h"

#include <string>
#include <utility>

#include "daemon/ipc/seqpacket.h"

namespace gputrace::ipc {

namespace {
constexpr std::string_view kSessionMessage = "s";
}  // namespace

Status send_session_socket(int control, const UniqueFd& session) {
  return send_packet(control, kSessionMessage, session.get());
}

Result<std::optional<UniqueFd>> receive_session_socket(int control) {
  Result<std::optional<Packet>> received = receive_packet(control, Wait::kYes);
  if (!received) {
    return tl::unexpected(received.error());
  }
  std::optional<Packet>& packet = *received;
  if (!packet) {
    return std::optional<UniqueFd>();
  }
  if (packet->bytes != kSessionMessage || !packet->fd) {
    return fail(ErrorCode::kCorrupt,
                "a message on the control socket of a recorder is not a session's socket");
  }
  return std::optional(std::move(packet->fd));
}

Status send_health(int control, const HealthReport& report) {
  const Result<std::string> text = encode(report);
  if (!text) {
    return tl::unexpected(text.error());
  }
  return send_packet(control, *text);
}

Result<std::optional<HealthReport>> receive_health(int control) {
  const Result<std::optional<Packet>> received = receive_packet(control, Wait::kYes);
  if (!received) {
    return tl::unexpected(received.error());
  }
  const std::optional<Packet>& packet = *received;
  if (!packet) {
    return std::optional<HealthReport>();
  }
  const Result<HealthReport> report = decode_health(packet->bytes);
  if (!report) {
    return tl::unexpected(report.error());
  }
  return std::optional(*report);
}

}  // namespace gputrace::ipc
