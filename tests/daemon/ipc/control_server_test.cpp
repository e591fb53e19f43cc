#include "daemon/ipc/control_server.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/daemon/ipc/control_support.h"

namespace gputrace::ipc {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Failed with the code and text, and nothing after it.
void check_dismissed(const RawClient& client, ErrorCode code, std::string_view part) {
  const auto failed = client.expect<FailedAnswer>();
  CHECK(failed.error.code == code);
  CHECK_MESSAGE(contains(failed.error.message, part), failed.error.message);
  CHECK(client.is_at_end());
}

TEST_CASE("a client says hello, is told who serves it, and the handler who it is") {
  TestDaemon daemon;
  const RawClient client = daemon.connect();
  client.send(HelloRequest{kProtocolVersion, "gputrace 1.2.3"});
  daemon.settle();
  const auto hello = client.expect<HelloReply>();
  CHECK(hello == HelloReply{kProtocolVersion, "gputraced 9.9"});
  REQUIRE(daemon.handler.peers.size() == 1);
  const Peer& peer = daemon.handler.peers.front();
  CHECK(peer.pid == ::getpid());
  CHECK(peer.uid == ::geteuid());
  CHECK(peer.gid == ::getegid());
  CHECK(peer.client == "gputrace 1.2.3");
  std::vector<gid_t> groups(static_cast<std::size_t>(::getgroups(0, nullptr)));
  REQUIRE(::getgroups(static_cast<int>(groups.size()), groups.data()) >= 0);
  CHECK(peer.groups == groups);
  CHECK(daemon.logged("gputrace 1.2.3"));
}

TEST_CASE("requests reach the handler in order, two sent at once too, and replies come back") {
  TestDaemon daemon;
  daemon.handler.on_request = [&](ClientId id, const Request& request) {
    if (std::holds_alternative<GpusRequest>(request)) {
      daemon.server.reply(id, GpusReply{});
    } else {
      daemon.server.reply(id, MarkedReply{7});
    }
  };
  const RawClient client = daemon.guest();
  client.send(GpusRequest{});
  client.send(MarkRequest{"here"});
  daemon.settle();
  CHECK(client.expect<GpusReply>() == GpusReply{});
  CHECK(client.expect<MarkedReply>() == MarkedReply{7});
  CHECK(daemon.handler.requests.size() == 2);
  CHECK_FALSE(client.has_reply());
}

TEST_CASE("a client of another version is told both versions") {
  TestDaemon daemon;
  const RawClient client = daemon.connect();
  client.send(R"({"type":"hello","version":41,"client":"new","colour":"blue"})");
  daemon.settle();
  const auto failed = client.expect<FailedAnswer>();
  CHECK(failed.error.code == ErrorCode::kUnsupported);
  CHECK(contains(failed.error.message, "version 1 "));
  CHECK(contains(failed.error.message, "41"));
  CHECK(client.is_at_end());
  CHECK(daemon.handler.ids.empty());
  CHECK(daemon.server.client_count() == 0);
}

TEST_CASE("whoever does not begin with hello is dismissed unseen") {
  TestDaemon daemon;
  const RawClient client = daemon.connect();
  client.send(StatusRequest{});
  daemon.settle();
  check_dismissed(client, ErrorCode::kCorrupt, "first one must be hello");
  CHECK(daemon.handler.ids.empty());
  CHECK(daemon.handler.gone.empty());
}

TEST_CASE("a bad message of an admitted client ends its connection, and the handler is told") {
  TestDaemon daemon;
  for (const auto& [message, reason] : std::vector<std::pair<std::string, std::string>>{
           {std::string(kHello), "hello is the first one only"},
           {"garbage", "not a JSON object"},
           {std::string("\0\xff", 2), "not a JSON object"},
           {R"({"type":"ready"})", "unknown request"},
           {R"({"type":"status","verbose":true})", "unknown field"},
           {R"({"type":"fetch","name":"../etc/shadow"})", "not the name of a session"},
           {std::string(kMaxMessageBytes, '['), "nested too deeply"},
           {std::string(kMaxMessageBytes + 1, ' '), "too long"}}) {
    CAPTURE(reason);
    const RawClient client = daemon.guest();
    client.send(message);
    client.send(StatusRequest{});  // never read
    daemon.settle();
    check_dismissed(client, ErrorCode::kCorrupt, reason);
    CHECK(daemon.handler.gone == daemon.handler.ids);
  }
  CHECK(daemon.handler.requests.empty());
  CHECK(daemon.server.client_count() == 0);
}

TEST_CASE("an empty message counts as leaving") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  REQUIRE(::send(client.fd(), "", 0, MSG_NOSIGNAL) == 0);
  daemon.settle();
  CHECK(daemon.handler.gone == daemon.handler.ids);
}

TEST_CASE("descriptors from a client are closed and end its connection") {
  TestDaemon daemon;
  for (const int count : {1, 2, 5}) {
    CAPTURE(count);
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const RawClient client = daemon.guest();

    alignas(cmsghdr) std::array<char, CMSG_SPACE(5 * sizeof(int))> control{};
    std::string text = R"({"type":"status"})";
    iovec piece{text.data(), text.size()};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(static_cast<std::size_t>(count) * sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(static_cast<std::size_t>(count) * sizeof(int));
    const std::vector<int> all(static_cast<std::size_t>(count), write_end.get());
    std::memcpy(CMSG_DATA(part), all.data(), all.size() * sizeof(int));
    REQUIRE(::sendmsg(client.fd(), &header, MSG_NOSIGNAL) > 0);
    write_end.reset();

    daemon.settle();
    check_dismissed(client, ErrorCode::kCorrupt, "descriptor");
    char byte = 0;
    CHECK(::read(read_end.get(), &byte, 1) == 0);  // nobody holds the other end any more
  }
  CHECK(daemon.handler.requests.empty());
  CHECK(daemon.handler.gone.size() == 3);
}

TEST_CASE("a client that leaves is reported once, after all that it sent") {
  TestDaemon daemon;
  RawClient client = daemon.guest();
  client.send(StopOrder{0, std::nullopt, false});
  client.close();
  daemon.settle();
  REQUIRE(daemon.handler.requests.size() == 1);
  CHECK(daemon.handler.gone == daemon.handler.ids);
  CHECK(daemon.server.client_count() == 0);
}

TEST_CASE("a client that leaves with replies unread is no less gone, and its stop counts") {
  TestDaemon daemon;
  RawClient client = daemon.guest();
  daemon.server.reply(daemon.handler.ids.at(0), WarningAnswer{"unread", false});
  client.send(StopOrder{0, std::nullopt, false});
  client.close();
  daemon.settle();
  CHECK(daemon.handler.requests.size() == 1);
  CHECK(daemon.handler.gone == daemon.handler.ids);
}

TEST_CASE("a client that never says hello is dropped at its deadline") {
  TestDaemon daemon;
  const RawClient client = daemon.connect();
  daemon.settle();
  CHECK(daemon.server.client_count() == 1);
  CHECK(daemon.server.next_deadline_ns() == daemon.now_ns + ControlLimits{}.hello_ns);
  daemon.now_ns += ControlLimits{}.hello_ns - 1;
  daemon.settle();
  CHECK_FALSE(client.has_reply());
  daemon.now_ns += 1;
  daemon.settle();
  check_dismissed(client, ErrorCode::kBusy, "no hello in time");
  CHECK(daemon.server.client_count() == 0);
  CHECK(daemon.server.next_deadline_ns() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a client that was admitted has all the time") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  daemon.now_ns += 1'000'000 * kNsPerSecond;
  daemon.settle();
  CHECK(daemon.server.client_count() == 1);
}

TEST_CASE("requests beyond the pace wait for the next second") {
  ControlLimits limits;
  limits.requests_per_second = 5;
  TestDaemon daemon(limits);
  const RawClient client = daemon.guest();  // hello is one of them
  for (int i = 0; i < 12; ++i) {
    client.send(StatusRequest{});
  }
  daemon.settle();
  CHECK(daemon.handler.requests.size() == 4);
  CHECK(daemon.server.next_deadline_ns() == daemon.now_ns + kNsPerSecond);
  daemon.now_ns += kNsPerSecond;
  daemon.settle();
  CHECK(daemon.handler.requests.size() == 9);
  daemon.now_ns += kNsPerSecond;
  daemon.settle();
  CHECK(daemon.handler.requests.size() == 12);
  CHECK(daemon.server.next_deadline_ns() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a client that leaves while it waits for its pace is gone at once") {
  ControlLimits limits;
  limits.requests_per_second = 2;
  TestDaemon daemon(limits);
  RawClient client = daemon.guest();
  client.send(StatusRequest{});
  client.send(StatusRequest{});
  client.close();
  daemon.settle();
  CHECK(daemon.handler.requests.size() == 1);
  CHECK(daemon.handler.gone == daemon.handler.ids);
}

TEST_CASE("a client that does not read is dropped in the next dispatch, others are not") {
  TestDaemon daemon;
  const RawClient slow = daemon.guest();
  const RawClient other = daemon.guest();
  const ClientId id = daemon.handler.ids.at(0);
  int replies = 0;
  while (daemon.server.next_deadline_ns() != 0 && replies < 100'000) {
    daemon.server.reply(id, WarningAnswer{std::string(kMaxTextBytes, 'x'), false});
    ++replies;
  }
  CHECK(replies > static_cast<int>(ControlLimits{}.queued_replies));
  CHECK(replies < 1000);
  CHECK(daemon.handler.gone.empty());
  daemon.settle();
  CHECK(daemon.handler.gone == std::vector<ClientId>{id});
  CHECK(daemon.server.client_count() == 1);
  daemon.server.reply(daemon.handler.ids.at(1), MarkedReply{1});
  CHECK(other.expect<MarkedReply>() == MarkedReply{1});
  CHECK(daemon.logged("does not read"));
}

TEST_CASE("a client that reads late gets every reply in order") {
  TestDaemon daemon;
  const RawClient client = daemon.guest();
  constexpr std::uint32_t kReplies = 80;
  for (std::uint32_t i = 0; i < kReplies; ++i) {
    const std::string text = std::to_string(i) + std::string(kMaxTextBytes - 10, 'x');
    daemon.server.reply(daemon.handler.ids.at(0), WarningAnswer{text, false});
  }
  daemon.settle();
  for (std::uint32_t i = 0; i < kReplies; ++i) {
    const std::string text = client.expect<WarningAnswer>().text;
    CHECK(text.substr(0, text.find('x')) == std::to_string(i));
    daemon.settle();
  }
  CHECK(daemon.handler.gone.empty());
}

}  // namespace
}  // namespace gputrace::ipc
