#include "daemon/ipc/message_socket.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <utility>

namespace gputrace::ipc {
namespace {

std::pair<MessageSocket, MessageSocket> make_pair() {
  return MessageSocket::make_pair().value();
}

void send_raw(const MessageSocket& socket, const std::string& bytes) {
  REQUIRE(::send(socket.fd(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

Order next_order(const MessageSocket& socket) {
  const std::optional<Order> order = socket.receive_order().value();
  GPUTRACE_CHECK(order.has_value());
  return *order;
}

Answer next_answer(const MessageSocket& socket) {
  const std::optional<Answer> answer = socket.receive_answer().value();
  GPUTRACE_CHECK(answer.has_value());
  return *answer;
}

TEST_CASE("messages keep their order and their borders") {
  const auto [here, there] = make_pair();
  REQUIRE(here.send(Order(MarkOrder{1, "one"})));
  REQUIRE(here.send(Order(StopOrder{0, std::nullopt, false})));
  CHECK(std::get<MarkOrder>(next_order(there)) == MarkOrder{1, "one"});
  CHECK(std::get<StopOrder>(next_order(there)) == StopOrder{0, std::nullopt, false});
  REQUIRE(there.send(Answer(WarningAnswer{"w", false})));
  CHECK(std::get<WarningAnswer>(next_answer(here)) == WarningAnswer{"w", false});
}

TEST_CASE("the largest command that is kept fits through the socket") {
  const auto [here, there] = make_pair();
  StartOrder order;
  order.command = shorten_command(std::vector<std::string>(1000, std::string(17, '\1')));
  const Status sent = here.send(Order(order));
  REQUIRE(sent);
  CHECK(std::get<StartOrder>(next_order(there)) == order);
}

TEST_CASE("a closed peer is an end, not an error") {
  auto [here, there] = make_pair();
  REQUIRE(here.send(Order(MarkOrder{1, "last"})));
  {
    const MessageSocket gone = std::move(here);
  }
  CHECK(next_order(there) == Order(MarkOrder{1, "last"}));
  const Result<std::optional<Order>> end = there.receive_order();
  REQUIRE(end);
  CHECK_FALSE(*end);
}

TEST_CASE("a peer that left messages unread is an end too") {
  auto [here, there] = make_pair();
  REQUIRE(there.send(Answer(WarningAnswer{"unread", false})));
  {
    const MessageSocket gone = std::move(here);
  }
  const Result<std::optional<Order>> end = there.receive_order();
  REQUIRE(end);
  CHECK_FALSE(*end);
}

TEST_CASE("sending to a closed peer is an error and no SIGPIPE") {
  auto [here, there] = make_pair();
  {
    const MessageSocket gone = std::move(there);
  }
  CHECK_FALSE(here.send(Order(MarkOrder{})));
}

TEST_CASE("garbage costs one message, the next is understood") {
  const auto [here, there] = make_pair();
  send_raw(here, "\x01\x02garbage");
  send_raw(here, R"({"type":"stop","exit_code":)");
  REQUIRE(here.send(Order(MarkOrder{7, "fine"})));
  CHECK(there.receive_order().error().code == ErrorCode::kCorrupt);
  CHECK(there.receive_order().error().code == ErrorCode::kCorrupt);
  CHECK(next_order(there) == Order(MarkOrder{7, "fine"}));
}

TEST_CASE("a message longer than the limit is refused whole") {
  const auto [here, there] = make_pair();
  send_raw(here, std::string(kMaxMessageBytes + 100, ' '));
  REQUIRE(here.send(Order(MarkOrder{7, "fine"})));
  const auto refused = there.receive_order();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("too long") != std::string::npos);
  CHECK(next_order(there) == Order(MarkOrder{7, "fine"}));
}

TEST_CASE("a peer that never reads does not block the sender") {
  const auto [here, there] = make_pair();
  Status status;
  int sent = 0;
  for (; status && sent < 100'000; ++sent) {
    status = here.send(Answer(WarningAnswer{std::string(kMaxTextBytes, 'x'), false}));
  }
  CHECK_FALSE(status);
  CHECK(status.error().code == ErrorCode::kBusy);
}

TEST_CASE("both ends are closed on exec") {
  const auto [here, there] = make_pair();
  CHECK((::fcntl(here.fd(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((::fcntl(there.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

}  // namespace
}  // namespace gputrace::ipc
