#include "daemon/ipc/control_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "daemon/ipc/limited_log.h"
#include "daemon/ipc/peer.h"
#include "daemon/ipc/seqpacket.h"
#include "daemon/ipc/served_client.h"

namespace gputrace::ipc {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// Others wait meanwhile; the rest is accepted after them.
constexpr int kAcceptsAtOnce = 16;
constexpr std::int64_t kAcceptPauseNs = kNsPerSecond;

using Client = ServedClient;
using Stage = ServedClient::Stage;

FailedAnswer failed(ErrorCode code, std::string text) {
  return {Error{code, std::move(text)}};
}

}  // namespace

struct ControlServer::Impl {
  Impl(UniqueFd listening, std::string name, const ControlLimits& client_limits,
       ControlHandler& client_handler, LogSink sink)
      : listener(std::move(listening)),
        daemon_name(std::move(name)),
        limits(client_limits),
        handler(client_handler),
        log(std::move(sink)) {}

  Client* find(ClientId id) {
    const auto found = clients.find(id);
    return found == clients.end() ? nullptr : &found->second;
  }

  void flush(ClientId id, Client& client) {
    if (client.doomed) {
      return;
    }
    if (const Status sent = client.queue.flush(client.fd.get()); !sent) {
      if (sent.error().code != ErrorCode::kNotFound) {
        complain(id, client, "a reply could not be sent", sent.error().message);
      }
      client.doom();
    }
  }

  void complain(ClientId id, const Client& client, std::string_view cause, std::string_view text) {
    log.log(LogLevel::kWarning, cause,
            fmt::format("client {} (pid {}, uid {}) is dropped: {}", id, client.peer.pid,
                        client.peer.uid, text),
            now_ns);
  }

  /// The last message to a client.
  void dismiss(ClientId id, Client& client, std::string_view cause, const Error& error) {
    complain(id, client, cause, error.message);
    if (client.queue.push(encode_reply(FailedAnswer{error}).value_or(std::string()), UniqueFd(),
                          limits.queued_replies, client.fd.get())) {
      flush(id, client);
    }
    client.doom();
  }

  void queue_reply(ClientId id, Client& client, const Reply& reply, UniqueFd fd);
  void serve(ClientId id, short events);
  void receive(ClientId id, Client& client);
  void greet(ClientId id, Client& client, const Request& request);
  void reap();
  void look_at_deadlines();
  void accept_clients();
  void accept_client(UniqueFd fd);
  [[nodiscard]] bool is_accepting() const { return listener && !accept_again_ns; }

  UniqueFd listener;
  std::string daemon_name;
  ControlLimits limits;
  ControlHandler& handler;
  LimitedLog log;
  std::map<ClientId, Client> clients;
  ClientId next_id = 1;
  std::int64_t now_ns = 0;  ///< of the last dispatch
  std::optional<std::int64_t> accept_again_ns;
  bool accept_trouble_logged = false;
};

void ControlServer::Impl::queue_reply(ClientId id, Client& client, const Reply& reply,
                                      UniqueFd fd) {
  Result<std::string> bytes = encode_reply(reply);
  if (!bytes) {
    log.log(LogLevel::kError, "a reply does not fit the protocol",
            fmt::format("cannot reply to client {}: {}", id, bytes.error().message), now_ns);
    fd.reset();
    bytes = encode_reply(failed(ErrorCode::kIo, "gputraced could not put its answer in a message"));
  }
  const Status queued = client.queue.push(std::move(bytes).value_or(std::string()), std::move(fd),
                                          limits.queued_replies, client.fd.get());
  if (!queued) {
    complain(id, client, "a client does not read", queued.error().message);
    client.doom();
    return;
  }
  if (client.stage != Stage::kAdmitting) {
    flush(id, client);
  }
}

void ControlServer::Impl::greet(ClientId id, Client& client, const Request& request) {
  const auto* hello = std::get_if<HelloRequest>(&request);
  if (hello == nullptr) {
    return dismiss(id, client, "a client did not say hello first",
                   {ErrorCode::kCorrupt, "bad message: the first one must be hello"});
  }
  if (hello->version != kProtocolVersion) {
    return dismiss(
        id, client, "a client speaks another version",
        {ErrorCode::kUnsupported,
         fmt::format("{} speaks version {} of the protocol, the client {}; install both from one "
                     "release and restart gputraced",
                     daemon_name, kProtocolVersion, hello->version)});
  }
  client.peer.client = hello->client;
  client.stage = Stage::kAdmitting;
  const Peer peer = client.peer;
  const Status admitted = handler.admit(id, peer);
  Client* still_there = find(id);
  if (still_there == nullptr) {
    return;
  }
  if (!admitted) {
    still_there->stage = Stage::kNew;
    still_there->queue.clear();
    return dismiss(id, *still_there, "a client is not admitted", admitted.error());
  }
  still_there->stage = Stage::kAdmitted;
  log.log(LogLevel::kInfo, "a client connected",
          fmt::format("client {}: {}, pid {}, uid {}", id, peer.client, peer.pid, peer.uid),
          now_ns);
  if (!still_there->doomed) {
    still_there->queue.push_first(
        encode_reply(HelloReply{kProtocolVersion, daemon_name}).value_or(std::string()));
    flush(id, *still_there);
  }
}

void ControlServer::Impl::receive(ClientId id, Client& client) {
  const Result<std::optional<Packet>> received = receive_packet(client.fd.get(), Wait::kNo);
  if (!received) {
    if (received.error().code == ErrorCode::kCorrupt) {
      dismiss(id, client, "a client sent a bad message", received.error());
    } else if (received.error().code != ErrorCode::kBusy) {
      client.doom();
    }
    return;
  }
  const std::optional<Packet>& packet = *received;
  if (!packet) {
    return client.doom();
  }
  if (packet->fd) {
    return dismiss(id, client, "a client sent a descriptor",
                   {ErrorCode::kCorrupt, "bad message: it came with a descriptor"});
  }
  client.count_request(limits.requests_per_second, now_ns);
  const Result<Request> request = decode_request(packet->bytes);
  if (!request) {
    return dismiss(id, client, "a client sent a bad message", request.error());
  }
  if (client.stage == Stage::kNew) {
    return greet(id, client, *request);
  }
  if (std::holds_alternative<HelloRequest>(*request)) {
    return dismiss(id, client, "a client said hello twice",
                   {ErrorCode::kCorrupt, "bad message: hello is the first one only"});
  }
  handler.handle(id, *request);
}

void ControlServer::Impl::serve(ClientId id, short events) {
  Client* client = find(id);
  if (client == nullptr || client->doomed) {
    return;
  }
  if ((events & POLLOUT) != 0) {
    flush(id, *client);
  }
  if (client->doomed || (events & (POLLIN | POLLHUP | POLLERR)) == 0) {
    return;
  }
  if (!client->paused_until_ns) {
    receive(id, *client);
  } else if ((events & (POLLHUP | POLLERR)) != 0) {
    client->doom();  // what it sent beyond its pace goes with it
  }
}

void ControlServer::Impl::reap() {
  for (;;) {
    const auto found = std::find_if(clients.begin(), clients.end(),
                                    [](const auto& entry) { return entry.second.doomed; });
    if (found == clients.end()) {
      return;
    }
    const ClientId id = found->first;
    const bool was_admitted = found->second.stage == Stage::kAdmitted;
    clients.erase(found);
    accept_again_ns.reset();
    if (was_admitted) {
      handler.vanished(id);
    }
  }
}

void ControlServer::Impl::look_at_deadlines() {
  for (auto& [id, client] : clients) {
    if (client.paused_until_ns && *client.paused_until_ns <= now_ns) {
      client.paused_until_ns.reset();
    }
    if (!client.doomed && client.stage == Stage::kNew && client.hello_by_ns <= now_ns) {
      dismiss(id, client, "a client did not say hello in time",
              {ErrorCode::kBusy, "no hello in time"});
    }
  }
  if (accept_again_ns && *accept_again_ns <= now_ns) {
    accept_again_ns.reset();
  }
}

void ControlServer::Impl::accept_client(UniqueFd fd) {
  const Result<Peer> peer = peer_of(fd.get());
  if (!peer) {
    return log.log(LogLevel::kWarning, "a client is unknown", peer.error().message, now_ns);
  }
  const auto of_user = static_cast<std::size_t>(
      std::count_if(clients.begin(), clients.end(),
                    [&](const auto& entry) { return entry.second.peer.uid == peer->uid; }));
  const bool too_many = clients.size() >= limits.clients;
  if (too_many || of_user >= limits.clients_per_user) {
    const std::string why =
        too_many ? fmt::format("gputraced serves {} clients already, its limit", clients.size())
                 : fmt::format("gputraced serves {} clients of user {} already, its limit", of_user,
                               peer->uid);
    log.log(LogLevel::kWarning, "too many clients",
            fmt::format("pid {}, uid {} is refused: {}", peer->pid, peer->uid, why), now_ns);
    const Result<std::string> bytes = encode_reply(failed(ErrorCode::kBusy, why));
    // One that does not hear it sees the closed connection.
    [[maybe_unused]] const Status told = send_packet(fd.get(), bytes.value_or(std::string()));
    return;
  }
  Client client;
  client.fd = std::move(fd);
  client.peer = *peer;
  client.hello_by_ns = now_ns + limits.hello_ns;
  client.second_since_ns = now_ns;
  clients.emplace(next_id++, std::move(client));
}

void ControlServer::Impl::accept_clients() {
  for (int i = 0; i < kAcceptsAtOnce && is_accepting(); ++i) {
    UniqueFd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) {
      accept_trouble_logged = false;
      accept_client(std::move(fd));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) {
      continue;
    }
    if (errno != EAGAIN) {
      // EMFILE, most likely: polling on would spin until a descriptor is free.
      if (!std::exchange(accept_trouble_logged, true)) {
        log.log(LogLevel::kError, "a connection could not be accepted",
                error_from_errno(errno, "cannot accept clients for now").message, now_ns);
      }
      accept_again_ns = now_ns + kAcceptPauseNs;
    }
    return;
  }
}

ControlServer::ControlServer(UniqueFd listener, std::string daemon_name,
                             const ControlLimits& limits, ControlHandler& handler, LogSink log)
    : impl_(std::make_unique<Impl>(std::move(listener), std::move(daemon_name), limits, handler,
                                   std::move(log))) {
  // One from systemd blocks, and a client that left before accept4(2) would stop the daemon.
  const int fd = impl_->listener.get();
  const int flags = ::fcntl(fd, F_GETFL);
  GPUTRACE_CHECK(flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}

ControlServer::~ControlServer() = default;

void ControlServer::append_poll(std::vector<pollfd>& fds) const {
  if (impl_->is_accepting()) {
    fds.push_back({impl_->listener.get(), POLLIN, 0});
  }
  for (const auto& [id, client] : impl_->clients) {
    if (!client.doomed) {
      fds.push_back({client.fd.get(), client.poll_events(), 0});
    }
  }
}

void ControlServer::dispatch(std::span<const pollfd> ready, std::int64_t now_ns) {
  impl_->now_ns = now_ns;
  std::map<int, ClientId> by_fd;
  for (const auto& [id, client] : impl_->clients) {
    by_fd.emplace(client.fd.get(), id);
  }
  bool may_accept = false;
  for (const pollfd& one : ready) {
    if (one.revents == 0) {
      continue;
    }
    if (impl_->listener && one.fd == impl_->listener.get()) {
      may_accept = true;
    } else if (const auto found = by_fd.find(one.fd); found != by_fd.end()) {
      impl_->serve(found->second, one.revents);
    }
  }
  impl_->look_at_deadlines();
  impl_->reap();
  if (may_accept) {
    // Last: a new client may get the number of a descriptor that `ready` knows as another's.
    impl_->accept_clients();
  }
}

std::int64_t ControlServer::next_deadline_ns() const {
  std::int64_t next = impl_->accept_again_ns.value_or(kNever);
  for (const auto& [id, client] : impl_->clients) {
    if (client.doomed) {
      return 0;
    }
    next = std::min(next, client.paused_until_ns.value_or(kNever));
    if (client.stage == Stage::kNew) {
      next = std::min(next, client.hello_by_ns);
    }
  }
  return next;
}

void ControlServer::reply(ClientId client, const Reply& reply, UniqueFd fd) {
  Client* found = impl_->find(client);
  if (found != nullptr && !found->doomed) {
    impl_->queue_reply(client, *found, reply, std::move(fd));
  }
}

void ControlServer::disconnect(ClientId client) {
  if (Client* found = impl_->find(client); found != nullptr) {
    impl_->flush(client, *found);
    impl_->clients.erase(client);
    impl_->accept_again_ns.reset();
  }
}

std::size_t ControlServer::client_count() const {
  return impl_->clients.size();
}

void ControlServer::set_limits(const ControlLimits& limits) {
  impl_->limits = limits;
}

void ControlServer::stop_listening() {
  impl_->listener.reset();
}

}  // namespace gputrace::ipc
