// A control server that a test drives by hand, and clients that can say anything. Both ends are in
// one process and one thread: what was sent is there at once, so nothing waits.
#pragma once

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/ipc/control_server.h"
#include "daemon/ipc/seqpacket.h"
#include "tests/support/temp_dir.h"

namespace gputrace::ipc {

inline constexpr std::string_view kHello = R"({"type":"hello","version":1,"client":"test"})";

/// Remembers what it is told; the hooks do more.
class FakeHandler final : public ControlHandler {
 public:
  [[nodiscard]] Status admit(ClientId client, const Peer& peer) override {
    peers.push_back(peer);
    ids.push_back(client);
    return on_admit ? on_admit(client) : Status{};
  }
  void handle(ClientId client, const Request& request) override {
    requests.emplace_back(client, request);
    if (on_request) {
      on_request(client, request);
    }
  }
  void vanished(ClientId client) override {
    gone.push_back(client);
    if (on_vanished) {
      on_vanished(client);
    }
  }

  std::vector<Peer> peers;
  std::vector<ClientId> ids;
  std::vector<std::pair<ClientId, Request>> requests;
  std::vector<ClientId> gone;
  std::function<Status(ClientId)> on_admit;
  std::function<void(ClientId, const Request&)> on_request;
  std::function<void(ClientId)> on_vanished;
};

inline UniqueFd connect_raw(const std::filesystem::path& socket) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  GPUTRACE_CHECK(socket.native().size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, socket.c_str(), socket.native().size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(fd.get(), generic, sizeof(address)) == 0 ? std::move(fd) : UniqueFd();
}

class RawClient {
 public:
  explicit RawClient(UniqueFd fd) : fd_(std::move(fd)) { REQUIRE(fd_); }

  void send(std::string_view bytes, int passed_fd = -1) const {
    REQUIRE(send_packet(fd_.get(), bytes, passed_fd));
  }
  void send(const Request& request) const { send(encode_request(request).value()); }
  /// The next reply; absent at the end. A reply must be there.
  [[nodiscard]] std::optional<Reply> reply() const {
    const auto packet = receive_packet(fd_.get(), Wait::kNo);
    REQUIRE(packet);
    return packet->has_value() ? std::optional(decode_reply((*packet)->bytes).value())
                               : std::nullopt;
  }
  template <class Kind>
  [[nodiscard]] Kind expect() const {
    const std::optional<Reply> any = reply();
    REQUIRE(any.has_value());
    REQUIRE(std::holds_alternative<Kind>(*any));
    return std::get<Kind>(*any);
  }
  [[nodiscard]] bool has_reply() const {
    pollfd one{fd_.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
  }
  [[nodiscard]] bool is_at_end() const { return has_reply() && !reply().has_value(); }
  void close() { fd_.reset(); }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

class TestDaemon {
 public:
  explicit TestDaemon(const ControlLimits& limits = {})
      : server(listen_on(socket(), static_cast<gid_t>(-1)).value(), "gputraced 9.9", limits,
               handler, [this](LogLevel, std::string_view text) { log.emplace_back(text); }) {}

  [[nodiscard]] std::filesystem::path socket() const { return dir.path() / "socket"; }
  [[nodiscard]] RawClient connect() const { return RawClient(connect_raw(socket())); }
  /// Connected and greeted.
  [[nodiscard]] RawClient guest() {
    RawClient client = connect();
    client.send(kHello);
    settle();
    REQUIRE(std::get<HelloReply>(client.reply().value()).daemon == "gputraced 9.9");
    return client;
  }
  [[nodiscard]] std::vector<pollfd> polled() const {
    std::vector<pollfd> fds;
    server.append_poll(fds);
    return fds;
  }
  /// Until there is nothing left to do at `now_ns`.
  void settle() {
    for (int round = 0; round < 100'000; ++round) {
      std::vector<pollfd> fds = polled();
      const int ready = ::poll(fds.data(), fds.size(), 0);
      REQUIRE(ready >= 0);
      if (ready == 0 && server.next_deadline_ns() > now_ns) {
        return;
      }
      server.dispatch(fds, now_ns);
    }
    FAIL("the server spins");
  }
  [[nodiscard]] bool logged(std::string_view text) const {
    for (const std::string& line : log) {
      if (line.find(text) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  test::TempDir dir;
  FakeHandler handler;
  std::vector<std::string> log;
  std::int64_t now_ns = 1'000 * kNsPerSecond;
  ControlServer server;
};

}  // namespace gputrace::ipc
