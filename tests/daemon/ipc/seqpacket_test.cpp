#include "daemon/ipc/seqpacket.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "daemon/ipc/message.h"

namespace gputrace::ipc {
namespace {

std::pair<UniqueFd, UniqueFd> make_ends() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::pair<UniqueFd, UniqueFd> make_pipe() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Packet next(const UniqueFd& fd) {
  Result<std::optional<Packet>> packet = receive_packet(fd.get(), Wait::kNo);
  REQUIRE(packet);
  REQUIRE(packet->has_value());
  return std::move(**packet);
}

bool is_at_end(const UniqueFd& fd) {
  const Result<std::optional<Packet>> packet = receive_packet(fd.get(), Wait::kNo);
  return packet && !packet->has_value();
}

bool nobody_writes(const UniqueFd& read_end) {
  char byte = 0;
  return ::read(read_end.get(), &byte, 1) == 0;
}

TEST_CASE("messages keep their borders, and a descriptor its message") {
  const auto [here, there] = make_ends();
  auto [read_end, write_end] = make_pipe();
  REQUIRE(send_packet(here.get(), "one"));
  REQUIRE(send_packet(here.get(), "two", write_end.get()));
  REQUIRE(send_packet(here.get(), std::string(kMaxMessageBytes, 'x')));
  write_end.reset();
  const Packet one = next(there);
  CHECK(one.bytes == "one");
  CHECK_FALSE(one.fd);
  {
    const Packet two = next(there);
    CHECK(two.bytes == "two");
    REQUIRE(two.fd);
    CHECK((::fcntl(two.fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(::write(two.fd.get(), "x", 1) == 1);
  }
  CHECK(next(there).bytes.size() == kMaxMessageBytes);
  char byte = 0;
  CHECK(::read(read_end.get(), &byte, 1) == 1);
  CHECK(nobody_writes(read_end));
}

TEST_CASE("more descriptors than one are all closed") {
  for (const std::size_t count : {std::size_t{2}, std::size_t{3}, std::size_t{50}}) {
    CAPTURE(count);
    const auto [here, there] = make_ends();
    auto [read_end, write_end] = make_pipe();
    std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
    std::string text = "x";
    iovec piece{text.data(), text.size()};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(count * sizeof(int));
    const std::vector<int> all(count, write_end.get());
    std::memcpy(CMSG_DATA(part), all.data(), count * sizeof(int));
    REQUIRE(::sendmsg(here.get(), &header, MSG_NOSIGNAL) == 1);
    write_end.reset();
    const auto packet = receive_packet(there.get(), Wait::kNo);
    REQUIRE_FALSE(packet);
    CHECK(packet.error().code == ErrorCode::kCorrupt);
    CHECK(nobody_writes(read_end));
    REQUIRE(send_packet(here.get(), "next"));
    CHECK(next(there).bytes == "next");
  }
}

TEST_CASE("a message that is too long is refused whole, its descriptor closed") {
  const auto [here, there] = make_ends();
  auto [read_end, write_end] = make_pipe();
  REQUIRE(send_packet(here.get(), std::string(kMaxMessageBytes + 1, 'x'), write_end.get()));
  write_end.reset();
  REQUIRE(send_packet(here.get(), "next"));
  const auto packet = receive_packet(there.get(), Wait::kNo);
  REQUIRE_FALSE(packet);
  CHECK(packet.error().code == ErrorCode::kCorrupt);
  CHECK(nobody_writes(read_end));
  CHECK(next(there).bytes == "next");
}

TEST_CASE("nothing there, no room and nobody there are told apart") {
  auto [here, there] = make_ends();
  CHECK(receive_packet(here.get(), Wait::kNo).error().code == ErrorCode::kBusy);
  Status sent;
  while (sent) {
    sent = send_packet(here.get(), std::string(4096, 'x'));
  }
  CHECK(sent.error().code == ErrorCode::kBusy);
  there.reset();
  CHECK(send_packet(here.get(), "x").error().code == ErrorCode::kNotFound);
  CHECK(is_at_end(here));
}

TEST_CASE("what was sent before closing is received, though the sender left messages unread") {
  auto [here, there] = make_ends();
  REQUIRE(send_packet(here.get(), "unread"));
  REQUIRE(send_packet(there.get(), "last words"));
  there.reset();
  CHECK(next(here).bytes == "last words");
  CHECK(is_at_end(here));
}

TEST_CASE("an end without words is an end") {
  auto [here, there] = make_ends();
  REQUIRE(send_packet(here.get(), "unread"));
  there.reset();
  CHECK(is_at_end(here));
  CHECK(is_at_end(here));
  const Result<std::optional<Packet>> waited = receive_packet(here.get(), Wait::kYes);
  REQUIRE(waited);
  CHECK_FALSE(waited->has_value());
}

}  // namespace
}  // namespace gputrace::ipc
