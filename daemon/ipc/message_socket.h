// One end of the SOCK_SEQPACKET pair between a recorder and the process that started it. The kernel
// keeps the borders of messages, so there is nothing to frame and a partial one cannot arrive.
#pragma once

#include <optional>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/message.h"

namespace gputrace::ipc {

class MessageSocket {
 public:
  explicit MessageSocket(UniqueFd fd) : fd_(std::move(fd)) {}
  /// Two connected ends, both closed on exec.
  [[nodiscard]] static Result<std::pair<MessageSocket, MessageSocket>> make_pair();

  /// Never blocks and never raises SIGPIPE: a peer that does not read its few messages, or is gone,
  /// is an error.
  [[nodiscard]] Status send(const Order& order) const;
  [[nodiscard]] Status send(const Answer& answer) const;

  /// Waits for one message. Absent: the other end is closed. kCorrupt: one message was not
  /// understood and is gone; the next can be received.
  [[nodiscard]] Result<std::optional<Order>> receive_order() const;
  [[nodiscard]] Result<std::optional<Answer>> receive_answer() const;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }  ///< for poll(2)

 private:
  UniqueFd fd_;
};

}  // namespace gputrace::ipc
