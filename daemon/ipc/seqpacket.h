// One message over a SOCK_SEQPACKET socket, with at most one descriptor. The kernel keeps the
// borders of messages, so there is nothing to frame and a partial one cannot arrive.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::ipc {

struct Packet {
  std::string bytes;  ///< never empty: an empty message cannot be told from the end
  UniqueFd fd;        ///< closed on exec
};

enum class Wait { kNo, kYes };

/// Never waits and never raises SIGPIPE. kBusy: there is no room now. kNotFound: the other end is
/// closed. `passed_fd` stays the caller's; -1 = none.
[[nodiscard]] Status send_packet(int fd, std::string_view bytes, int passed_fd = -1);

/// Absent: the other end is closed and what it sent has been read. kBusy: nothing is there
/// (Wait::kNo only). kCorrupt: this message was too long, or came with more than one descriptor
/// (all are closed), and is gone; the next can be received.
[[nodiscard]] Result<std::optional<Packet>> receive_packet(int fd, Wait wait);

}  // namespace gputrace::ipc
