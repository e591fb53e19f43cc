#include "daemon/ipc/message_socket.h"

#include <sys/socket.h>

#include <array>
#include <string>

#include "daemon/ipc/seqpacket.h"

namespace gputrace::ipc {

namespace {

Status send_text(int fd, const Result<std::string>& message) {
  if (!message) {
    return tl::unexpected(message.error());
  }
  return send_packet(fd, *message);
}

template <class Message, class Decode>
Result<std::optional<Message>> receive(int fd, Decode decode) {
  const Result<std::optional<Packet>> received = receive_packet(fd, Wait::kYes);
  if (!received) {
    return tl::unexpected(received.error());
  }
  const std::optional<Packet>& packet = *received;
  if (!packet) {
    return std::optional<Message>();
  }
  Result<Message> message = decode(packet->bytes);
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
  return send_text(fd_.get(), encode(order));
}

Status MessageSocket::send(const Answer& answer) const {
  return send_text(fd_.get(), encode(answer));
}

Result<std::optional<Order>> MessageSocket::receive_order() const {
  return receive<Order>(fd_.get(), decode_order);
}

Result<std::optional<Answer>> MessageSocket::receive_answer() const {
  return receive<Answer>(fd_.get(), decode_answer);
}

}  // namespace gputrace::ipc
