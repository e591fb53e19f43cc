#include "daemon/ipc/recorder_control.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "daemon/ipc/message_socket.h"

namespace gputrace::ipc {
namespace {

std::pair<UniqueFd, UniqueFd> control_pair() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void send_raw(const UniqueFd& socket, const std::string& bytes) {
  REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), 0) ==
          static_cast<ssize_t>(bytes.size()));
}

TEST_CASE("the socket of a session arrives, works and is closed on exec") {
  const auto [daemon, recorder] = control_pair();
  auto [here, there] = control_pair();
  REQUIRE(send_session_socket(daemon.get(), there));
  there.reset();
  Result<std::optional<UniqueFd>> received = receive_session_socket(recorder.get());
  REQUIRE(received);
  std::optional<UniqueFd>& session = *received;
  REQUIRE(session.has_value());
  CHECK((::fcntl(session->get(), F_GETFD) & FD_CLOEXEC) != 0);
  const MessageSocket orders(std::move(here));
  REQUIRE(orders.send(Order(MarkOrder{1, "through"})));
  const MessageSocket taken(std::move(*session));
  const std::optional<Order> order = taken.receive_order().value();
  REQUIRE(order.has_value());
  CHECK(std::get<MarkOrder>(*order).text == "through");
}

TEST_CASE("a message that is no socket costs only itself") {
  const auto [daemon, recorder] = control_pair();
  const auto [here, there] = control_pair();
  send_raw(daemon, "s");
  send_raw(daemon, "something long");
  REQUIRE(send_session_socket(daemon.get(), there));
  CHECK(receive_session_socket(recorder.get()).error().code == ErrorCode::kCorrupt);
  CHECK(receive_session_socket(recorder.get()).error().code == ErrorCode::kCorrupt);
  const auto third = receive_session_socket(recorder.get());
  REQUIRE(third);
  CHECK(third->has_value());
}

TEST_CASE("several descriptors in a message are refused and all closed") {
  const auto [daemon, recorder] = control_pair();
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd read_end(ends[0]);
  {
    const UniqueFd write_end(ends[1]);
    char byte = 's';
    iovec piece{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> buffer{};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = buffer.data();
    header.msg_controllen = buffer.size();
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(2 * sizeof(int));
    const std::array<int, 2> twice{write_end.get(), write_end.get()};
    std::memcpy(CMSG_DATA(part), twice.data(), sizeof twice);
    REQUIRE(::sendmsg(daemon.get(), &header, 0) == 1);
  }
  CHECK(receive_session_socket(recorder.get()).error().code == ErrorCode::kCorrupt);
  char byte = 0;
  CHECK(::read(read_end.get(), &byte, 1) == 0);  // the end of file: no writer is left
}

TEST_CASE("a closed control socket is an end on either side") {
  auto [daemon, recorder] = control_pair();
  SUBCASE("the daemon is gone") {
    daemon.reset();
    const auto received = receive_session_socket(recorder.get());
    REQUIRE(received);
    CHECK_FALSE(received->has_value());
    CHECK_FALSE(send_health(recorder.get(), {}));
  }
  SUBCASE("the recorder is gone") {
    recorder.reset();
    const auto received = receive_health(daemon.get());
    REQUIRE(received);
    CHECK_FALSE(received->has_value());
    CHECK_FALSE(send_session_socket(daemon.get(), daemon));
  }
}

TEST_CASE("health reports arrive as they were sent; garbage costs only itself") {
  const auto [daemon, recorder] = control_pair();
  const HealthReport report{3, 1000, 2.5, false};
  send_raw(recorder, "garbage");
  send_raw(recorder, std::string(kMaxMessageBytes + 1, ' '));
  REQUIRE(send_health(recorder.get(), report));
  CHECK(receive_health(daemon.get()).error().code == ErrorCode::kCorrupt);
  CHECK(receive_health(daemon.get()).error().code == ErrorCode::kCorrupt);
  const std::optional<HealthReport> received = receive_health(daemon.get()).value();
  CHECK(received == report);
}

TEST_CASE("a daemon that reads no reports does not block the recorder") {
  const auto [daemon, recorder] = control_pair();
  Status status;
  for (int i = 0; status && i < 100'000; ++i) {
    status = send_health(recorder.get(), {});
  }
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kBusy);
}

}  // namespace
}  // namespace gputrace::ipc
