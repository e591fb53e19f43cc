#include "daemon/os/uevent_socket.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/error_text.h"

namespace gputrace::os {
namespace {

using namespace std::string_view_literals;

constexpr auto kCardAdded =
    "add@/devices/pci0000:00/0000:00:08.1/0000:c4:00.0/drm/card1\0ACTION=add\0"
    "DEVPATH=/devices/pci0000:00/0000:00:08.1/0000:c4:00.0/drm/card1\0SUBSYSTEM=drm\0"
    "DEVNAME=dri/card1\0DEVTYPE=drm_minor\0SEQNUM=4711\0"sv;
constexpr auto kBlockChanged =
    "change@/devices/pci0000:00/0000:00:01.1/ata1/host0/block/sda\0ACTION=change\0"
    "SUBSYSTEM=block\0"sv;
constexpr auto kPciRemoved =
    "remove@/devices/pci0000:00/0000:00:08.1/0000:c4:00.0\0ACTION=remove\0SUBSYSTEM=pci\0"
    "PCI_SLOT_NAME=0000:c4:00.0\0"sv;

struct Pair {
  Pair() {
    std::array<int, 2> ends{-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    sender = UniqueFd(ends[0]);
    socket = UeventSocket(UniqueFd(ends[1]));
  }
  void send(std::string_view message) const {
    REQUIRE(::send(sender.get(), message.data(), message.size(), 0) ==
            static_cast<ssize_t>(message.size()));
  }
  UniqueFd sender;
  UeventSocket socket{UniqueFd()};
};

std::optional<Uevent> receive(UeventSocket& socket) {
  auto event = socket.receive();
  REQUIRE_MESSAGE(event.has_value(), test::error_text(event));
  return *event;
}

bool wait_readable(int fd) {
  constexpr int kPatienceMs = 60'000;
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, kPatienceMs) == 1;
}

}  // namespace

TEST_CASE("an event of the kernel is taken apart") {
  const auto event = parse_uevent(kCardAdded);
  REQUIRE(event.has_value());
  CHECK(event->action == "add");
  CHECK(event->devpath == "/devices/pci0000:00/0000:00:08.1/0000:c4:00.0/drm/card1");
  CHECK(event->subsystem == "drm");
  CHECK(event->pci == "0000:c4:00.0");
  CHECK(event->wedged.empty());
}

TEST_CASE("a hung GPU says how it is to be recovered") {
  const auto event = parse_uevent(
      "change@/devices/pci0000:00/10000:e0:00.0/drm/card0\0SUBSYSTEM=drm\0WEDGED=rebind,bus-reset\0"
      "SEQNUM=1\0"sv);
  REQUIRE(event.has_value());
  CHECK(event->action == "change");
  CHECK(event->wedged == "rebind,bus-reset");
  CHECK(event->pci == "10000:e0:00.0");
}

TEST_CASE("a device that hangs on no PCI bus has no address") {
  for (const auto message :
       {"add@/devices/virtual/drm/card0\0SUBSYSTEM=drm\0"sv, "add@/0000:c4:00\0"sv,
        "add@/0000-c4:00.0\0"sv, "add@/zz00:c4:00.0\0"sv, "add@/0000:c4:00.8\0"sv}) {
    const auto event = parse_uevent(message);
    REQUIRE(event.has_value());
    CHECK(event->pci.empty());
  }
}

TEST_CASE("what is no event of the kernel is refused") {
  for (const auto message :
       {""sv, "\0"sv, "libudev\0\xfe\xed\xca\xfe"sv, "@/devices/x\0SUBSYSTEM=drm\0"sv, "add"sv,
        "add@"sv, "add@devices/x"sv, "\0add@/devices/x\0"sv}) {
    CHECK_FALSE(parse_uevent(message).has_value());
  }
}

TEST_CASE("variables without a value, without an end and without a name do no harm") {
  const auto event = parse_uevent("add@/x\0SUBSYSTEM\0=drm\0\0\0SUBSYSTEM=pci"sv);
  REQUIRE(event.has_value());
  CHECK(event->subsystem == "pci");
}

TEST_CASE("a socket gives events of GPUs in their order and no others") {
  Pair pair;
  CHECK_FALSE(receive(pair.socket).has_value());
  pair.send(kBlockChanged);
  pair.send(kCardAdded);
  pair.send("libudev\0nonsense"sv);
  pair.send(kPciRemoved);
  const auto first = receive(pair.socket);
  REQUIRE(first.has_value());
  CHECK(first->action == "add");
  const auto second = receive(pair.socket);
  REQUIRE(second.has_value());
  CHECK(second->action == "remove");
  CHECK(second->subsystem == "pci");
  CHECK_FALSE(receive(pair.socket).has_value());
}

TEST_CASE("an event longer than the kernel can make is dropped, the next one is read") {
  Pair pair;
  std::string huge(kCardAdded);
  huge += std::string(16'384, 'x');
  pair.send(huge);
  pair.send(kPciRemoved);
  const auto event = receive(pair.socket);
  REQUIRE(event.has_value());
  CHECK(event->action == "remove");
}

TEST_CASE("a socket that cannot be read is an error with its reason") {
  UeventSocket socket{UniqueFd()};
  const auto event = socket.receive();
  REQUIRE_FALSE(event.has_value());
  CHECK(event.error().message.find("Bad file descriptor") != std::string::npos);
}

TEST_CASE("an event that the running kernel sends arrives") {
  auto socket = UeventSocket::open();
  if (!socket) {
    MESSAGE("skipped: " << socket.error().message);
    return;
  }
  std::filesystem::path device;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/pci/devices", error)) {
    device = entry.path();
    break;
  }
  const UniqueFd trigger(::open((device / "uevent").c_str(), O_WRONLY | O_CLOEXEC));
  if (!trigger) {
    MESSAGE("skipped: cannot trigger an event of a PCI device: " << std::strerror(errno));
    return;
  }
  // Only user namespaces that own the network namespace hear of it (lib/kobject_uevent.c).
  if (::write(trigger.get(), "change", 6) != 6) {
    MESSAGE("skipped: the kernel refuses to make an event: " << std::strerror(errno));
    return;
  }
  const std::string address = device.filename();
  while (true) {
    REQUIRE(wait_readable(socket->fd()));
    const auto event = receive(*socket);
    if (event && event->pci == address && event->action == "change") {
      CHECK(event->subsystem == "pci");
      CHECK(event->devpath.ends_with(address));
      return;
    }
  }
}

TEST_CASE("a message that another process sends to the socket is dropped") {
  auto socket = UeventSocket::open();
  if (!socket) {
    MESSAGE("skipped: " << socket.error().message);
    return;
  }
  sockaddr_nl address{};
  socklen_t size = sizeof(address);
  REQUIRE(::getsockname(socket->fd(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  address.nl_groups = 0;
  const UniqueFd forger(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT));
  constexpr auto kForged = "add@/devices/forged/0000:c4:00.0/drm/card7\0SUBSYSTEM=drm\0"sv;
  if (::sendto(forger.get(), kForged.data(), kForged.size(), 0,
               reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0) {
    MESSAGE("skipped: the kernel lets nobody but root forge events: " << std::strerror(errno));
    return;
  }
  REQUIRE(wait_readable(socket->fd()));
  while (const auto event = receive(*socket)) {
    CHECK(event->devpath.find("forged") == std::string::npos);
  }
}

TEST_CASE("more events than the socket holds are an error, and then it goes on") {
  auto socket = UeventSocket::open();
  if (!socket) {
    MESSAGE("skipped: " << socket.error().message);
    return;
  }
  constexpr int kSmallest = 1;
  REQUIRE(::setsockopt(socket->fd(), SOL_SOCKET, SO_RCVBUF, &kSmallest, sizeof(kSmallest)) == 0);
  std::filesystem::path device = "/sys/bus/pci/devices";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(device, error)) {
    device = entry.path();
    break;
  }
  const UniqueFd trigger(::open((device / "uevent").c_str(), O_WRONLY | O_CLOEXEC));
  if (!trigger) {
    MESSAGE("skipped: cannot trigger an event of a PCI device: " << std::strerror(errno));
    return;
  }
  for (int i = 0; i < 100; ++i) {
    if (::write(trigger.get(), "change", 6) != 6) {
      MESSAGE("skipped: the kernel refuses to make an event: " << std::strerror(errno));
      return;
    }
  }
  auto event = socket->receive();
  REQUIRE_FALSE(event.has_value());
  CHECK(event.error().code == ErrorCode::kIo);
  CHECK(event.error().message.find("messages were lost") != std::string::npos);
  while (receive(*socket)) {
  }
}

}  // namespace gputrace::os
