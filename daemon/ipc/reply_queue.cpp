#include "daemon/ipc/reply_queue.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <utility>

#include "daemon/ipc/control_message.h"
#include "daemon/ipc/seqpacket.h"

namespace gputrace::ipc {

namespace {

bool everything_was_read(int socket) {
  int unread = 0;
  return ::ioctl(socket, SIOCOUTQ, &unread) == 0 && unread == 0;
}

}  // namespace

Status ReplyQueue::push(std::string bytes, UniqueFd fd, std::size_t max_queued, int socket) {
  if (queue_.size() >= max_queued || queued_bytes_ > kMaxQueuedBytes) {
    return fail(ErrorCode::kBusy, "it does not read its replies");
  }
  if (fd) {
    if (queue_.empty() && everything_was_read(socket)) {
      unread_descriptors_ = 0;
    }
    // The kernel counts descriptors on their way against the daemon, for all clients together
    // (RLIMIT_NOFILE; net/unix/scm.c, too_many_unix_fds).
    if (unread_descriptors_ >= kMaxUnreadDescriptors) {
      return fail(ErrorCode::kBusy, "it does not read its files");
    }
    ++unread_descriptors_;
  }
  queued_bytes_ += bytes.size();
  queue_.push_back({std::move(bytes), std::move(fd)});
  return {};
}

void ReplyQueue::push_first(std::string bytes) {
  queued_bytes_ += bytes.size();
  queue_.push_front({std::move(bytes), UniqueFd()});
}

void ReplyQueue::clear() {
  queue_.clear();
  queued_bytes_ = 0;
}

Status ReplyQueue::flush(int socket) {
  while (!queue_.empty()) {
    const Outgoing& next = queue_.front();
    if (const Status sent = send_packet(socket, next.bytes, next.fd.get()); !sent) {
      return sent.error().code == ErrorCode::kBusy ? Status{} : sent;
    }
    queued_bytes_ -= next.bytes.size();
    queue_.pop_front();
  }
  return {};
}

}  // namespace gputrace::ipc
