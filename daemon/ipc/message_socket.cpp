#include "daemon/ipc/message_socket.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

namespace gputrace::ipc {

namespace {

Status send_bytes(int fd, const Result<std::string>& message) {
  if (!message) {
    return tl::unexpected(message.error());
  }
  for (;;) {
    if (::send(fd, message->data(), message->size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
      return {};
    }
    if (errno != EINTR) {
      return fail_errno(errno, "cannot send on the recorder's socket");
    }
  }
}

/// The bytes of one message; absent when the other end is closed.
Result<std::optional<std::string>> receive_bytes(int fd) {
  std::string buffer(kMaxMessageBytes, '\0');
  iovec piece{buffer.data(), buffer.size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  ssize_t received = 0;
  do {
    received = ::recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0 && errno == ECONNRESET) {
    return std::optional<std::string>();  // the other end closed with messages unread
  }
  if (received < 0) {
    return fail_errno(errno, "cannot receive on the recorder's socket");
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    return fail(ErrorCode::kCorrupt, "a message on the recorder's socket is too long");
  }
  if (received == 0) {
    return std::optional<std::string>();
  }
  buffer.resize(static_cast<std::size_t>(received));
  return std::optional(std::move(buffer));
}

template <class Message, class Decode>
Result<std::optional<Message>> receive(int fd, Decode decode) {
  const Result<std::optional<std::string>> bytes = receive_bytes(fd);
  if (!bytes) {
    return tl::unexpected(bytes.error());
  }
  const std::optional<std::string>& text = *bytes;
  if (!text) {
    return std::optional<Message>();
  }
  Result<Message> message = decode(*text);
  if (!message) {
    return tl::unexpected(message.error());
  }
  return std::optional(std::move(*message));
}

}  // namespace

Result<std::pair<MessageSocket, MessageSocket>> MessageSocket::make_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno(errno, "cannot make the recorder's socket");
  }
  return std::pair(MessageSocket(UniqueFd(ends[0])), MessageSocket(UniqueFd(ends[1])));
}

Status MessageSocket::send(const Order& order) const {
  return send_bytes(fd_.get(), encode(order));
}

Status MessageSocket::send(const Answer& answer) const {
  return send_bytes(fd_.get(), encode(answer));
}

Result<std::optional<Order>> MessageSocket::receive_order() const {
  return receive<Order>(fd_.get(), decode_order);
}

Result<std::optional<Answer>> MessageSocket::receive_answer() const {
  return receive<Answer>(fd_.get(), decode_answer);
}

}  // namespace gputrace::ipc
