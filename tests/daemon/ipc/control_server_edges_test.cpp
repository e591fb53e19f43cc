// What the control server does at its limits, and when its handler calls back.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/ipc/control_server.h"
#include "tests/daemon/ipc/control_support.h"

namespace gputrace::ipc {
namespace {

UniqueFd some_file() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

const SessionFileReply kFile{"a.gputrace", 1};

TEST_CASE("a file reaches its client with the reply, again and again") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  for (std::size_t i = 0; i < 3 * kMaxUnreadDescriptors; ++i) {
    daemon.server.reply(daemon.handler.ids.at(0), kFile, some_file());
    const auto packet = receive_packet(client.fd(), Wait::kNo);
    REQUIRE(packet);
    REQUIRE(packet->has_value());
    CHECK((*packet)->fd);
  }
  daemon.settle();
  CHECK(daemon.handler.gone.empty());
}

TEST_CASE("a client that collects files without reading them is dropped, and they are closed") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  for (std::size_t i = 0; i <= kMaxUnreadDescriptors; ++i) {
    CHECK(daemon.server.next_deadline_ns() != 0);
    daemon.server.reply(daemon.handler.ids.at(0), kFile,
                        UniqueFd(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, 0)));
  }
  write_end.reset();
  daemon.settle();
  CHECK(daemon.handler.gone == daemon.handler.ids);
  for (std::size_t i = 0; i < kMaxUnreadDescriptors; ++i) {
    CHECK(receive_packet(client.fd(), Wait::kNo).value().has_value());
  }
  CHECK(client.is_at_end());
  char byte = 0;
  CHECK(::read(read_end.get(), &byte, 1) == 0);
}

TEST_CASE("large replies that are not read cost the daemon little memory") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  SessionsReply sessions;
  sessions.sessions.assign(kMaxSessionsListed, {std::string(100, 'x') + ".gputrace", 1, 1, false});
  const std::size_t bytes = encode_reply(sessions).value().size();
  std::size_t replies = 0;
  while (daemon.server.next_deadline_ns() != 0) {
    daemon.server.reply(daemon.handler.ids.at(0), sessions);
    ++replies;
  }
  // Some are in the socket's buffer, 208 KiB by default.
  CHECK(replies < ControlLimits{}.queued_replies);
  CHECK(replies * bytes > kMaxMessageBytes);
  daemon.settle();
  CHECK(daemon.handler.gone == daemon.handler.ids);
}

TEST_CASE("more clients than the limit are told so, and there is room when one has left") {
  ControlLimits limits;
  limits.clients = 40;
  limits.clients_per_user = 100;
  TestDaemon daemon(limits);
  std::vector<RawClient> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(daemon.connect());
    clients.back().send(kHello);
    daemon.settle();
  }
  CHECK(daemon.server.client_count() == 40);
  const auto served = std::count_if(clients.begin(), clients.end(), [](const RawClient& client) {
    return std::holds_alternative<HelloReply>(client.reply().value());
  });
  CHECK(served == 40);
  CHECK(clients.at(40).is_at_end());
  CHECK(daemon.log.size() < 40);  // strangers do not fill the log

  clients.front().close();
  daemon.settle();
  CHECK(daemon.guest().fd() >= 0);
}

TEST_CASE("one user cannot take all places") {
  ControlLimits limits;
  limits.clients_per_user = 2;
  TestDaemon daemon(limits);
  const RawClient first = daemon.guest();
  const RawClient second = daemon.connect();  // counts though it has not said hello
  const RawClient third = daemon.connect();
  daemon.settle();
  const auto failed = third.expect<FailedAnswer>();
  CHECK(failed.error.code == ErrorCode::kBusy);
  CHECK(failed.error.message.find("of user " + std::to_string(::geteuid())) != std::string::npos);
  CHECK(third.is_at_end());

  limits.clients_per_user = 3;
  daemon.server.set_limits(limits);
  CHECK(daemon.guest().fd() >= 0);
}

TEST_CASE("a client that is not admitted gets the reason and nothing else") {
  TestDaemon daemon;
  daemon.handler.on_admit = [&](ClientId id) -> Status {
    daemon.server.reply(id, MarkedReply{1});
    return fail(ErrorCode::kPermissionDenied, "not you");
  };
  const RawClient client = daemon.connect();
  client.send(kHello);
  daemon.settle();
  CHECK(client.expect<FailedAnswer>().error.message == "not you");
  CHECK(client.is_at_end());
  CHECK(daemon.handler.gone.empty());
}

TEST_CASE("replies from admit follow the hello") {
  TestDaemon daemon;
  daemon.handler.on_admit = [&](ClientId id) -> Status {
    daemon.server.reply(id, MarkedReply{1});
    return {};
  };
  const RawClient client = daemon.guest();
  CHECK(client.expect<MarkedReply>() == MarkedReply{1});
}

TEST_CASE("a handler may disconnect anybody from inside a call") {
  TestDaemon daemon;
  std::vector<RawClient> clients;
  clients.reserve(5);
  for (int i = 0; i < 5; ++i) {
    clients.push_back(daemon.guest());
  }
  daemon.handler.on_request = [&](ClientId /*id*/, const Request& /*request*/) {
    for (const ClientId each : daemon.handler.ids) {
      daemon.server.reply(each, MarkedReply{5});
      daemon.server.disconnect(each);
    }
  };
  for (const RawClient& client : clients) {
    client.send(StatusRequest{});
  }
  daemon.settle();
  CHECK(daemon.handler.requests.size() == 1);  // the others were gone by then
  CHECK(daemon.handler.gone.empty());
  for (const RawClient& client : clients) {
    CHECK(client.expect<MarkedReply>() == MarkedReply{5});  // though a request of it was unread
    CHECK(client.is_at_end());
  }
}

TEST_CASE("a handler may disconnect the client that it is asked to admit") {
  TestDaemon daemon;
  daemon.handler.on_admit = [&](ClientId id) -> Status {
    daemon.server.disconnect(id);
    return {};
  };
  const RawClient client = daemon.connect();
  client.send(kHello);
  daemon.settle();
  CHECK(client.is_at_end());
  CHECK(daemon.handler.gone.empty());
}

TEST_CASE("a handler may drop and answer others while it hears that one vanished") {
  TestDaemon daemon;
  RawClient first = daemon.guest();
  const RawClient second = daemon.guest();
  const RawClient third = daemon.guest();
  daemon.handler.on_vanished = [&](ClientId id) {
    daemon.server.reply(id, MarkedReply{0});  // unknown by now: nothing happens
    daemon.server.disconnect(id);
    daemon.server.reply(daemon.handler.ids.at(1), MarkedReply{2});
    daemon.server.disconnect(daemon.handler.ids.at(2));
  };
  first.close();
  daemon.settle();
  CHECK(daemon.handler.gone == std::vector<ClientId>{daemon.handler.ids.at(0)});
  CHECK(second.expect<MarkedReply>() == MarkedReply{2});
  CHECK(third.is_at_end());
  CHECK(daemon.server.client_count() == 1);
}

TEST_CASE("a reply that does not fit the protocol becomes a failed one") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  ReadyAnswer ready;
  ready.file = "/var/lib/gputrace/sessions/0/a.gputrace";  // a path, not a name
  daemon.server.reply(daemon.handler.ids.at(0), ready);
  CHECK(client.expect<FailedAnswer>().error.code == ErrorCode::kIo);
  CHECK(daemon.logged("field 'file'"));
}

TEST_CASE("without free descriptors nobody is accepted until one is free or a second has passed") {
  TestDaemon daemon;
  RawClient first = daemon.guest();
  const RawClient waiting = daemon.connect();
  const RawClient later = daemon.connect();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const UniqueFd lowest_free = some_file();
  const rlimit none{static_cast<rlim_t>(lowest_free.get()), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  daemon.settle();
  CHECK(daemon.server.client_count() == 1);
  const bool paused = daemon.server.next_deadline_ns() == daemon.now_ns + kNsPerSecond;
  daemon.now_ns += kNsPerSecond;
  daemon.settle();  // tries again, and says nothing again
  const auto complaints = std::count_if(daemon.log.begin(), daemon.log.end(), [](const auto& line) {
    return line.find("cannot accept") != std::string::npos;
  });
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(paused);
  CHECK(complaints == 1);
  CHECK(daemon.server.client_count() == 1);

  first.close();
  daemon.settle();
  CHECK(daemon.server.client_count() == 2);
  waiting.send(kHello);
  daemon.settle();
  CHECK(waiting.expect<HelloReply>().version == kProtocolVersion);
}

TEST_CASE("a server that stops listening keeps its clients and takes no new ones") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  daemon.server.stop_listening();
  CHECK_FALSE(connect_raw(daemon.socket()));
  client.send(StatusRequest{});
  daemon.settle();
  CHECK(daemon.handler.requests.size() == 1);
  CHECK(daemon.polled().size() == 1);
}

TEST_CASE("a peer's groups are known, however many") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can give a process other groups");
    return;
  }
  TestDaemon daemon;
  std::filesystem::permissions(daemon.dir.path(), std::filesystem::perms::all);
  REQUIRE(::chmod(daemon.socket().c_str(), 0666) == 0);
  std::vector<gid_t> groups;
  for (gid_t group = 5000; group < 5100; ++group) {
    groups.push_back(group);
  }
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool connected = ::setgroups(groups.size(), groups.data()) == 0 &&
                     ::setresgid(4321, 4321, 4321) == 0 && ::setresuid(4322, 4322, 4322) == 0;
    if (connected) {
      const UniqueFd fd = connect_raw(daemon.socket());
      connected = fd && send_packet(fd.get(), kHello).has_value();
    }
    ::_exit(connected ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  daemon.settle();
  REQUIRE(daemon.handler.peers.size() == 1);
  const Peer& peer = daemon.handler.peers.front();
  CHECK(peer.pid == child);
  CHECK(peer.uid == 4322);
  CHECK(peer.gid == 4321);
  CHECK(peer.groups == groups);
  CHECK(daemon.handler.gone == daemon.handler.ids);
}

}  // namespace
}  // namespace gputrace::ipc
