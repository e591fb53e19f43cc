// What a client of the control server has not been sent yet: bounded, with its descriptors.
// Private to daemon/ipc.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/message.h"

namespace gputrace::ipc {

class ReplyQueue {
 public:
  /// Of what waits beside a reply; the memory of the daemon is not the clients'.
  static constexpr std::size_t kMaxQueuedBytes = 2 * kMaxMessageBytes;

  /// kBusy says what the client does not read: `max_queued` replies or kMaxQueuedBytes wait, or
  /// kMaxUnreadDescriptors files are on their way over `socket`.
  [[nodiscard]] Status push(std::string bytes, UniqueFd fd, std::size_t max_queued, int socket);
  /// In front of what waits, whatever the limit.
  void push_first(std::string bytes);
  /// Sends what there is room for. kNotFound: the client is gone.
  [[nodiscard]] Status flush(int socket);
  void clear();
  [[nodiscard]] bool empty() const { return queue_.empty(); }

 private:
  struct Outgoing {
    std::string bytes;
    UniqueFd fd;
  };

  std::deque<Outgoing> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t unread_descriptors_ = 0;  ///< at most so many are queued or not yet received
};

}  // namespace gputrace::ipc
