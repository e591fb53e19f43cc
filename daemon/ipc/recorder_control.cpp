#include "daemon/ipc/recorder_control.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace gputrace::ipc {

namespace {

constexpr char kSessionMessage = 's';
constexpr std::size_t kMaxHealthBytes = 1024;

/// Room for the descriptors of one message. More than one is a fault of the sender, but what did
/// arrive must be seen to be closed.
struct alignas(cmsghdr) ControlBuffer {
  std::array<char, CMSG_SPACE(4 * sizeof(int))> bytes{};
};

Status send_message(int fd, const msghdr& header) {
  for (;;) {
    if (::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
      return {};
    }
    if (errno != EINTR) {
      return fail_errno(errno, "cannot send on the control socket of a recorder");
    }
  }
}

/// The size of the message; absent when the other end is closed.
Result<std::optional<std::size_t>> receive_message(int fd, msghdr& header) {
  ssize_t received = 0;
  do {
    received = ::recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received == 0 || (received < 0 && errno == ECONNRESET)) {
    return std::optional<std::size_t>();
  }
  if (received < 0) {
    return fail_errno(errno, "cannot receive on the control socket of a recorder");
  }
  return std::optional(static_cast<std::size_t>(received));
}

/// All descriptors of a message but the first are closed.
struct Descriptors {
  UniqueFd first;
  std::size_t count = 0;
};

Descriptors take_descriptors(msghdr& header) {
  Descriptors taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      UniqueFd fd(number);
      if (taken.count++ == 0) {
        taken.first = std::move(fd);
      }
    }
  }
  return taken;
}

}  // namespace

Status send_session_socket(int control, const UniqueFd& session) {
  char byte = kSessionMessage;
  iovec piece{&byte, 1};
  ControlBuffer buffer;
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = buffer.bytes.data();
  header.msg_controllen = CMSG_SPACE(sizeof(int));
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = session.get();
  std::memcpy(CMSG_DATA(part), &number, sizeof number);
  return send_message(control, header);
}

Result<std::optional<UniqueFd>> receive_session_socket(int control) {
  std::array<char, 2> bytes{};
  iovec piece{bytes.data(), bytes.size()};
  ControlBuffer buffer;
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = buffer.bytes.data();
  header.msg_controllen = buffer.bytes.size();
  const Result<std::optional<std::size_t>> size = receive_message(control, header);
  if (!size) {
    return tl::unexpected(size.error());
  }
  if (!*size) {
    return std::optional<UniqueFd>();
  }
  Descriptors descriptors = take_descriptors(header);
  if (**size != 1 || bytes[0] != kSessionMessage || descriptors.count != 1 ||
      (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return fail(ErrorCode::kCorrupt,
                "a message on the control socket of a recorder is not one session's socket");
  }
  return std::optional(std::move(descriptors.first));
}

Status send_health(int control, const HealthReport& report) {
  Result<std::string> text = encode(report);
  if (!text) {
    return tl::unexpected(text.error());
  }
  iovec piece{text->data(), text->size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  return send_message(control, header);
}

Result<std::optional<HealthReport>> receive_health(int control) {
  std::string text(kMaxHealthBytes, '\0');
  iovec piece{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  const Result<std::optional<std::size_t>> size = receive_message(control, header);
  if (!size) {
    return tl::unexpected(size.error());
  }
  if (!*size) {
    return std::optional<HealthReport>();
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    return fail(ErrorCode::kCorrupt, "a health report of a recorder is too long");
  }
  text.resize(**size);
  const Result<HealthReport> report = decode_health(text);
  if (!report) {
    return tl::unexpected(report.error());
  }
  return std::optional(*report);
}

}  // namespace gputrace::ipc
