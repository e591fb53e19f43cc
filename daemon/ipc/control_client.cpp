#include "daemon/ipc/control_client.h"

#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "daemon/ipc/seqpacket.h"

namespace gputrace::ipc {

namespace {

constexpr std::size_t kGroupBufferBytes = std::size_t{64} * 1024;

/// Name of the socket's group, or its number; absent when the socket cannot be looked at.
std::optional<std::string> group_of(const std::filesystem::path& socket) {
  struct stat info{};
  if (::stat(socket.c_str(), &info) != 0) {
    return std::nullopt;
  }
  std::vector<char> buffer(kGroupBufferBytes);
  struct group entry{};
  struct group* found = nullptr;
  if (::getgrgid_r(info.st_gid, &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    return std::string(found->gr_name);
  }
  return std::to_string(info.st_gid);
}

tl::unexpected<Error> connect_error(int error_number, const std::filesystem::path& socket) {
  const std::string what = fmt::format("cannot connect to gputraced at {}", socket.string());
  Error error = error_from_errno(error_number, what);
  switch (error_number) {
    case EACCES:
    case EPERM:
      error.code = ErrorCode::kPermissionDenied;
      if (const auto group = group_of(socket)) {
        error.message += fmt::format(
            "; it serves the group '{0}': run `sudo usermod -aG {0} $USER`, then log in again",
            *group);
      }
      break;
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
      error.code = ErrorCode::kNotFound;
      error.message += "; no daemon listens there";
      break;
    case EAGAIN:
      error = {ErrorCode::kBusy, what + ": it does not accept connections in time"};
      break;
    default:
      break;
  }
  return tl::unexpected(std::move(error));
}

/// connect(2) to a full backlog waits for SO_SNDTIMEO (net/unix/af_unix.c, unix_stream_connect).
bool set_send_timeout(int fd, std::int64_t timeout_ns) {
  const std::int64_t whole = std::max<std::int64_t>(timeout_ns, 1000);  // 0 would be "for ever"
  const timeval limit{whole / kNsPerSecond, (whole % kNsPerSecond) / 1000};
  return ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0;
}

Result<UniqueFd> connect_to(const std::filesystem::path& socket, std::int64_t deadline_ns) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = socket.native();
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("cannot connect to gputraced at '{}': a socket's path has 1 to {} bytes", path,
                    sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd) {
    return fail_errno(errno, "cannot make a socket");
  }
  for (;;) {
    if (!set_send_timeout(fd.get(), deadline_ns - monotonic_now_ns())) {
      return fail_errno(errno, "cannot set a timeout on a socket");
    }
    // NOLINTNEXTLINE(*-reinterpret-cast): the way of connect(2)
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
      return fd;
    }
    if (errno != EINTR) {
      return connect_error(errno, socket);
    }
  }
}

/// False at the deadline.
Result<bool> wait_for(int fd, short events, std::int64_t deadline_ns) {
  for (;;) {
    const std::int64_t left = std::max<std::int64_t>(deadline_ns - monotonic_now_ns(), 0);
    const timespec limit{left / kNsPerSecond, left % kNsPerSecond};
    pollfd one{fd, events, 0};
    const int ready = ::ppoll(&one, 1, &limit, nullptr);
    if (ready > 0) {
      return true;
    }
    if (ready == 0) {
      return false;
    }
    if (errno != EINTR) {
      return fail_errno(errno, "cannot wait for gputraced");
    }
  }
}

Status send_until(int fd, const Request& request, std::int64_t deadline_ns) {
  const Result<std::string> text = encode_request(request);
  if (!text) {
    return tl::unexpected(text.error());
  }
  for (;;) {
    const Status sent = send_packet(fd, *text);
    if (sent) {
      return {};
    }
    if (sent.error().code == ErrorCode::kNotFound) {
      return fail(ErrorCode::kIo, "gputraced has closed the connection");
    }
    if (sent.error().code != ErrorCode::kBusy) {
      return fail(sent.error(), "cannot ask gputraced");
    }
    const Result<bool> writable = wait_for(fd, POLLOUT, deadline_ns);
    if (!writable) {
      return tl::unexpected(writable.error());
    }
    if (!*writable) {
      return fail(ErrorCode::kBusy, "gputraced does not read what it is sent");
    }
  }
}

/// Absent when there is no packet: the end.
Result<std::optional<ReceivedReply>> reply_in(std::optional<Packet>& packet) {
  if (!packet) {
    return std::optional<ReceivedReply>();
  }
  Result<Reply> reply = decode_reply(packet->bytes);
  if (!reply) {
    return fail(reply.error(), "cannot understand gputraced");
  }
  const bool wants_fd = std::holds_alternative<SessionFileReply>(*reply);
  if (wants_fd && !packet->fd) {
    return fail(ErrorCode::kCorrupt, "gputraced sent a session without its file");
  }
  if (!wants_fd && packet->fd) {
    return fail(ErrorCode::kCorrupt, "gputraced sent a file that nobody asked for");
  }
  return std::optional(ReceivedReply{std::move(*reply), std::move(packet->fd)});
}

Result<std::optional<ReceivedReply>> receive_until(int fd, std::int64_t deadline_ns) {
  for (;;) {
    Result<std::optional<Packet>> received = receive_packet(fd, Wait::kNo);
    if (received) {
      return reply_in(*received);
    }
    if (received.error().code != ErrorCode::kBusy) {
      return fail(received.error(), "cannot hear gputraced");
    }
    const Result<bool> readable = wait_for(fd, POLLIN, deadline_ns);
    if (!readable) {
      return tl::unexpected(readable.error());
    }
    if (!*readable) {
      return fail(ErrorCode::kBusy, "gputraced does not answer in time");
    }
  }
}

/// The reply that means success; empty for a request without any.
std::string_view answer_to(const Request& request) {
  // In the order of the variant.
  constexpr std::array<std::string_view, std::variant_size_v<Request>> kAnswers{
      "hello", "gpus",  "status", "ready",    "marked",       "closed", "",
      "",      "point", "window", "sessions", "session_file", "removed"};
  return kAnswers.at(request.index());
}

/// Why the daemon has hung up, if it said so before.
Error last_words(int fd, const Error& otherwise) {
  const Result<std::optional<ReceivedReply>> received = receive_until(fd, 0);
  if (received) {
    const std::optional<ReceivedReply>& some = *received;
    const auto* failed = some ? std::get_if<FailedAnswer>(&some->reply) : nullptr;
    return failed != nullptr ? failed->error : otherwise;
  }
  return otherwise;
}

/// Sends, and takes the reply of the right kind.
Result<ReceivedReply> ask_until(int fd, const Request& request, std::int64_t deadline_ns) {
  if (const Status sent = send_until(fd, request, deadline_ns); !sent) {
    return tl::unexpected(sent.error().code == ErrorCode::kIo ? last_words(fd, sent.error())
                                                              : sent.error());
  }
  Result<std::optional<ReceivedReply>> received = receive_until(fd, deadline_ns);
  if (!received) {
    return tl::unexpected(received.error());
  }
  std::optional<ReceivedReply>& some = *received;
  if (!some) {
    return fail(ErrorCode::kIo, "gputraced has closed the connection");
  }
  ReceivedReply& reply = *some;
  if (const auto* failed = std::get_if<FailedAnswer>(&reply.reply)) {
    return tl::unexpected(failed->error);
  }
  if (reply_name(reply.reply) != answer_to(request)) {
    return fail(ErrorCode::kCorrupt, fmt::format("gputraced answered '{}' with '{}'",
                                                 request_name(request), reply_name(reply.reply)));
  }
  return std::move(reply);
}

}  // namespace

Result<ControlClient> ControlClient::connect(const std::filesystem::path& socket,
                                             const std::string& client, std::int64_t timeout_ns) {
  const std::int64_t deadline_ns = monotonic_now_ns() + timeout_ns;
  Result<UniqueFd> fd = connect_to(socket, deadline_ns);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  Result<ReceivedReply> received =
      ask_until(fd->get(), HelloRequest{kProtocolVersion, client}, deadline_ns);
  if (!received) {
    return tl::unexpected(received.error());
  }
  auto& hello = std::get<HelloReply>(received->reply);
  if (hello.version != kProtocolVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("gputraced at {} speaks version {} of the protocol, this program {}; "
                            "install both from one release and restart gputraced",
                            socket.string(), hello.version, kProtocolVersion));
  }
  return ControlClient(std::move(*fd), std::move(hello));
}

Status ControlClient::send(const Request& request) const {
  return send_until(fd_.get(), request, 0);
}

Result<std::optional<ReceivedReply>> ControlClient::receive(std::int64_t timeout_ns) const {
  return receive_until(fd_.get(), monotonic_now_ns() + timeout_ns);
}

Result<ReceivedReply> ControlClient::ask(const Request& request, std::int64_t timeout_ns) const {
  return ask_until(fd_.get(), request, monotonic_now_ns() + timeout_ns);
}

std::filesystem::path control_socket_path() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
  const char* chosen = std::getenv("GPUTRACE_SOCKET");
  return chosen != nullptr && *chosen == '/' ? chosen : std::string(kDefaultSocket);
}

}  // namespace gputrace::ipc
