#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "daemon/ipc/control_server.h"

namespace gputrace::ipc {

namespace {

constexpr mode_t kMaskFor0660 = 0117;
constexpr int kBacklog = 64;

Result<UniqueFd> make_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    return fail_errno(errno, "cannot make a socket");
  }
  return fd;
}

int connect_errno(int fd, const sockaddr_un& address) {
  // NOLINTNEXTLINE(*-reinterpret-cast): the way of connect(2)
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(fd, generic, sizeof(address)) == 0 ? 0 : errno;
}

/// Makes room for the socket, unless what is there is alive or not a socket.
Status remove_stale(const sockaddr_un& address) {
  const char* path = address.sun_path;
  const std::string what = fmt::format("cannot listen on {}", path);
  struct stat info{};
  if (::lstat(path, &info) != 0) {
    return errno == ENOENT ? Status{} : fail_errno(errno, what);
  }
  if (!S_ISSOCK(info.st_mode)) {
    return fail(ErrorCode::kExists, what + ": it exists and is not a socket");
  }
  const Result<UniqueFd> probe = make_socket();
  if (!probe) {
    return tl::unexpected(probe.error());
  }
  switch (const int error = connect_errno(probe->get(), address); error) {
    case ECONNREFUSED:
      break;
    case 0:
    case EAGAIN:      // its backlog is full
    case EPROTOTYPE:  // it is a stream or datagram socket of somebody
      return fail(ErrorCode::kBusy, what + ": another daemon listens there");
    default:
      return fail_errno(error, what);
  }
  if (::unlink(path) != 0 && errno != ENOENT) {
    return fail_errno(errno, what + ": cannot remove the socket of a daemon that has ended");
  }
  return {};
}

int bind_errno(int fd, const sockaddr_un& address) {
  // The mode comes from the umask: chmod(2) by name could be led elsewhere by a symbolic link.
  const mode_t before = ::umask(kMaskFor0660);
  // NOLINTNEXTLINE(*-reinterpret-cast): the way of bind(2)
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const int error = ::bind(fd, generic, sizeof(address)) == 0 ? 0 : errno;
  ::umask(before);
  return error;
}

}  // namespace

Result<UniqueFd> listen_on(const std::filesystem::path& socket, gid_t group) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = socket.native();
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot listen on '{}': a socket's path has 1 to {} bytes", path,
                            sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (const Status free = remove_stale(address); !free) {
    return tl::unexpected(free.error());
  }
  Result<UniqueFd> fd = make_socket();
  if (!fd) {
    return fd;
  }
  const std::string what = fmt::format("cannot listen on {}", path);
  if (const int error = bind_errno(fd->get(), address); error != 0) {
    return fail_errno(error == EADDRINUSE ? EBUSY : error, what);
  }
  // Until listen(2) every connect(2) is refused, so nobody gets in before the group is right.
  if (::lchown(path.c_str(), static_cast<uid_t>(-1), group) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return fail_errno(error, fmt::format("{}: cannot give it to the group {}", what, group));
  }
  if (::listen(fd->get(), kBacklog) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return fail_errno(error, what);
  }
  return fd;
}

}  // namespace gputrace::ipc
