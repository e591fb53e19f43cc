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
  UniqueFd fd;  ///< of a session_file
};

class ControlClient {
 public:
  /// Connects and says hello. kNotFound: nobody listens there (no daemon). kPermissionDenied: not
  /// in the socket's group, and names it. kUnsupported: another protocol version.
  [[nodiscard]] static Result<ControlClient> connect(const std::filesystem::path& socket,
                                                     const std::string& client,
                                                     std::int64_t timeout_ns = 2 * kNsPerSecond);

  /// Sends without waiting for the reply.
  [[nodiscard]] Status send(const Request& request) const;
  /// The next reply. Absent: the daemon has closed the connection. kBusy after `timeout_ns`.
  [[nodiscard]] Result<std::optional<ReceivedReply>> receive(std::int64_t timeout_ns) const;
  /// send and receive; a failed reply comes back as its error, a closed connection as kIo.
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
