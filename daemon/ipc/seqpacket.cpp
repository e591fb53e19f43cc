#include "daemon/ipc/seqpacket.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "daemon/ipc/message.h"

namespace gputrace::ipc {

namespace {

/// Control data of one descriptor; the kernel may round up and put a second one in.
union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];  // NOLINT(*-avoid-c-arrays): cmsg(3)
};

/// Takes every descriptor out of the control data, so that none leaks; keeps the first.
/// False when there were more.
bool take_descriptor(msghdr& header, UniqueFd& kept) {
  bool single = (header.msg_flags & MSG_CTRUNC) == 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int raw = -1;
      std::memcpy(&raw, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      UniqueFd one(raw);
      if (kept) {
        single = false;
      } else {
        kept = std::move(one);
      }
    }
  }
  return single;
}

ssize_t receive_retrying(int fd, msghdr& header, int flags) {
  bool reset_seen = false;
  for (;;) {
    const ssize_t received = ::recvmsg(fd, &header, flags);
    if (received >= 0) {
      return received;
    }
    if (errno == EINTR) {
      continue;
    }
    // The other end closed with messages of ours unread. The kernel reports that once, before the
    // messages that it had sent (net/core/datagram.c, __skb_try_recv_datagram).
    if (errno == ECONNRESET && !reset_seen) {
      reset_seen = true;
      continue;
    }
    return errno == ECONNRESET || errno == ENOTCONN ? 0 : -1;
  }
}

}  // namespace

Status send_packet(int fd, std::string_view bytes, int passed_fd) {
  std::string copy(bytes);  // sendmsg(2) takes no pointer to const
  iovec piece{copy.data(), copy.size()};
  ControlBuffer control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (passed_fd >= 0) {
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof(control.bytes);
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &passed_fd, sizeof(int));
  }
  for (;;) {
    if (::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
      return {};
    }
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) {
      return fail(ErrorCode::kNotFound, "cannot send a message: the other end is closed");
    }
    if (errno != EINTR) {
      return fail_errno(errno, "cannot send a message");
    }
  }
}

Result<std::optional<Packet>> receive_packet(int fd, Wait wait) {
  Packet packet;
  packet.bytes.resize(kMaxMessageBytes);
  iovec piece{packet.bytes.data(), packet.bytes.size()};
  ControlBuffer control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof(control.bytes);
  const int flags = MSG_CMSG_CLOEXEC | (wait == Wait::kNo ? MSG_DONTWAIT : 0);
  const ssize_t received = receive_retrying(fd, header, flags);
  if (received < 0) {
    return fail_errno(errno, "cannot receive a message");
  }
  if (!take_descriptor(header, packet.fd)) {
    return fail(ErrorCode::kCorrupt, "a message came with more than one descriptor");
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("a message is too long: the limit is {} bytes", kMaxMessageBytes));
  }
  if (received == 0) {
    return std::optional<Packet>();
  }
  packet.bytes.resize(static_cast<std::size_t>(received));
  return std::optional(std::move(packet));
}

}  // namespace gputrace::ipc
