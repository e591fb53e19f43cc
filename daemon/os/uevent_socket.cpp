#include "daemon/os/uevent_socket.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

namespace gputrace::os {

namespace {

constexpr unsigned kKernelGroup = 1;  // udev's own messages are in group 2
// A dock with a GPU makes hundreds of events at once. Beyond net.core.rmem_max the kernel takes
// the most that it allows.
constexpr int kReceiveBufferBytes = 1 << 20;
// UEVENT_BUFFER_SIZE (include/linux/kobject.h) of variables, and a path before them.
constexpr std::size_t kMaxMessageBytes = 8192;

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "0000:c4:00.0"; the domain has more digits behind Intel's VMD.
bool is_pci_address(std::string_view text) {
  constexpr std::size_t kAfterDomain = 8;  // ":c4:00.0"
  if (text.size() < kAfterDomain + 4) {
    return false;
  }
  const std::string_view domain = text.substr(0, text.size() - kAfterDomain);
  const std::string_view rest = text.substr(domain.size());
  return is_hex(domain) && rest[0] == ':' && is_hex(rest.substr(1, 2)) && rest[3] == ':' &&
         is_hex(rest.substr(4, 2)) && rest[6] == '.' && rest[7] >= '0' && rest[7] <= '7';
}

std::string last_pci_address(std::string_view devpath) {
  while (!devpath.empty()) {
    const std::size_t slash = devpath.rfind('/');
    const std::string_view part =
        slash == std::string_view::npos ? devpath : devpath.substr(slash + 1);
    if (is_pci_address(part)) {
      return std::string(part);
    }
    devpath = devpath.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return {};
}

/// Cuts the text before the next NUL off `rest`.
std::string_view next_string(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  const std::string_view text = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return text;
}

bool is_of_gpu(const Uevent& event) {
  return event.subsystem == "drm" || event.subsystem == "pci";
}

struct Datagram {
  bool is_there = false;  ///< false: none waits
  std::size_t size = 0;
  bool is_whole = false;
  bool is_of_kernel = false;
};

Result<Datagram> receive_datagram(int fd, std::span<char> buffer) {
  sockaddr_nl sender{};
  iovec part{buffer.data(), buffer.size()};
  msghdr header{};
  header.msg_name = &sender;
  header.msg_namelen = sizeof(sender);
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  ssize_t size = 0;
  do {
    size = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return Datagram{};
  }
  if (size < 0 && errno == ENOBUFS) {
    return fail(ErrorCode::kIo,
                "messages were lost on the socket of kernel events (uevents): more came than its "
                "buffer holds");
  }
  if (size < 0) {
    return fail_errno(errno, "cannot receive from the socket of kernel events (uevents)");
  }
  Datagram datagram;
  datagram.is_there = true;
  datagram.size = static_cast<std::size_t>(size);
  datagram.is_whole = (header.msg_flags & MSG_TRUNC) == 0;
  // Netlink always names the sender, and the kernel is port 0. A nameless sender is the other end
  // of a test's socket pair.
  datagram.is_of_kernel =
      header.msg_namelen == 0 || (header.msg_namelen == sizeof(sender) &&
                                  sender.nl_family == AF_NETLINK && sender.nl_pid == 0);
  return datagram;
}

}  // namespace

std::optional<Uevent> parse_uevent(std::string_view message) {
  std::string_view rest = message;
  const std::string_view first = next_string(rest);
  const std::size_t at = first.find('@');
  if (at == 0 || at == std::string_view::npos || first.substr(at + 1, 1) != "/") {
    return std::nullopt;
  }
  Uevent event;
  event.action = first.substr(0, at);
  event.devpath = first.substr(at + 1);
  event.pci = last_pci_address(event.devpath);
  while (!rest.empty()) {
    const std::string_view variable = next_string(rest);
    const std::size_t equals = variable.find('=');
    const std::string_view key = variable.substr(0, equals);
    if (equals == std::string_view::npos) {
      continue;
    }
    if (key == "SUBSYSTEM") {
      event.subsystem = variable.substr(equals + 1);
    } else if (key == "WEDGED") {
      event.wedged = variable.substr(equals + 1);
    }
  }
  return event;
}

Result<UeventSocket> UeventSocket::open() {
  UniqueFd fd(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
  if (!fd) {
    return fail_errno(errno,
                      "cannot open a socket for kernel events (uevents), so GPUs that come and go "
                      "are not noticed; a sandbox must allow AF_NETLINK");
  }
  // With less than asked for, a burst of events is lost sooner, and that is told.
  static_cast<void>(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes,
                                 sizeof(kReceiveBufferBytes)));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = kKernelGroup;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return fail_errno(errno, "cannot listen to kernel events (uevents)");
  }
  return UeventSocket(std::move(fd));
}

Result<std::optional<Uevent>> UeventSocket::receive() {
  std::array<char, kMaxMessageBytes> buffer{};
  while (true) {
    const Result<Datagram> datagram = receive_datagram(fd_.get(), buffer);
    if (!datagram) {
      return tl::unexpected(datagram.error());
    }
    if (!datagram->is_there) {
      return std::optional<Uevent>{};
    }
    if (!datagram->is_of_kernel || !datagram->is_whole) {
      continue;
    }
    std::optional<Uevent> event = parse_uevent({buffer.data(), datagram->size});
    if (event && is_of_gpu(*event)) {
      return event;
    }
  }
}

}  // namespace gputrace::os
