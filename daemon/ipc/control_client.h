// The client's end of gputraced's socket: blocking, with a deadline for each reply.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/control_message.h"

namespace gputrace::ipc {

struct ReceivedReply {
  Reply reply;
  UniqueFd fd;  ///< of a session_file, which always has one; read-only
};

class ControlClient {
 public:
  /// Connects and says hello. kNotFound: nobody listens there (no daemon). kPermissionDenied: not
  /// in the socket's group, and names it. kUnsupported: another protocol version. kBusy: too many
  /// clients, or no answer in time.
  [[nodiscard]] static Result<ControlClient> connect(const std::filesystem::path& socket,
                                                     const std::string& client,
                                                     std::int64_t timeout_ns = 2 * kNsPerSecond);

  /// Sends without waiting for the reply. kBusy: the daemon has not read earlier ones. kIo: the
  /// connection is closed; receive() may still have the reason.
  [[nodiscard]] Status send(const Request& request) const;
  /// The next reply; failed is one like any other. Absent: the daemon has closed the connection.
  /// kBusy after `timeout_ns` (0 = only look).
  [[nodiscard]] Result<std::optional<ReceivedReply>> receive(std::int64_t timeout_ns) const;
  /// send and receive; a failed reply comes back as its error, a closed connection as kIo. The
  /// reply is of the kind that answers `request`: any other, a warning or window too, is kCorrupt.
  /// So it is for connections without a recording; those end with send(StopOrder) and receive()
  /// until closed.
  [[nodiscard]] Result<ReceivedReply> ask(const Request& request,
                                          std::int64_t timeout_ns = 5 * kNsPerSecond) const;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }  ///< for poll(2)
  [[nodiscard]] const HelloReply& hello() const noexcept { return hello_; }

 private:
  ControlClient(UniqueFd fd, HelloReply hello) : fd_(std::move(fd)), hello_(std::move(hello)) {}

  UniqueFd fd_;
  HelloReply hello_;
};

/// $GPUTRACE_SOCKET (absolute), else kDefaultSocket.
[[nodiscard]] std::filesystem::path control_socket_path();

}  // namespace gputrace::ipc
