#include "daemon/ipc/control_client.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/daemon/ipc/control_support.h"
#include "tests/support/error_text.h"

namespace gputrace::ipc {
namespace {

using test::error_text;

constexpr std::int64_t kPatience = 60 * kNsPerSecond;  // of tests that expect an answer
constexpr std::int64_t kBrief = 20 * kNsPerMs;         // of tests that expect none

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A real server, in a thread until the end of the scope.
class Serving {
 public:
  explicit Serving(TestDaemon& daemon) : daemon_(daemon) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    stop_read_ = UniqueFd(ends[0]);
    stop_write_ = UniqueFd(ends[1]);
    thread_ = std::jthread([this] { run(); });
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  ~Serving() { stop_write_.reset(); }

 private:
  void run() {
    for (;;) {
      std::vector<pollfd> fds = daemon_.polled();
      fds.push_back({stop_read_.get(), POLLIN, 0});
      const int timeout_ms = daemon_.server.next_deadline_ns() == 0 ? 0 : -1;
      if (::poll(fds.data(), fds.size(), timeout_ms) < 0 || fds.back().revents != 0) {
        return;
      }
      daemon_.server.dispatch(fds, daemon_.now_ns);
    }
  }

  TestDaemon& daemon_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  std::jthread thread_;
};

/// Takes one connection and does with it what it is told to.
class OneConnection {
 public:
  explicit OneConnection(std::function<void(UniqueFd)> act)
      : listener_(listen_on(path(), static_cast<gid_t>(-1)).value()),
        thread_([this, act = std::move(act)] {
          pollfd one{listener_.get(), POLLIN, 0};
          if (::poll(&one, 1, -1) == 1) {
            act(UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
          }
        }) {}

  [[nodiscard]] std::filesystem::path path() const { return dir_.path() / "socket"; }

 private:
  test::TempDir dir_;
  UniqueFd listener_;
  std::jthread thread_;
};

void say(const UniqueFd& fd, const Reply& reply, int passed_fd = -1) {
  GPUTRACE_CHECK(send_packet(fd.get(), encode_reply(reply).value(), passed_fd).has_value());
}

/// Waits for a request.
void hear(const UniqueFd& fd) {
  GPUTRACE_CHECK(receive_packet(fd.get(), Wait::kYes).has_value());
}

/// What a client hears that asks for gpus once it was greeted.
Result<ReceivedReply> ask_one_that(const std::function<void(const UniqueFd&)>& answers,
                                   const Request& request = GpusRequest{}) {
  OneConnection daemon([&](UniqueFd fd) {
    hear(fd);
    say(fd, HelloReply{});
    hear(fd);
    answers(fd);
    [[maybe_unused]] const auto left = receive_packet(fd.get(), Wait::kYes);  // the client has gone
  });
  Result<ControlClient> client = ControlClient::connect(daemon.path(), "test", kPatience);
  REQUIRE_MESSAGE(client, error_text(client));
  return client->ask(request, kPatience);
}

TEST_CASE("a client connects, asks, and gets a file") {
  TestDaemon daemon;
  daemon.handler.on_request = [&](ClientId id, const Request& request) {
    if (std::holds_alternative<FetchRequest>(request)) {
      daemon.server.reply(id, SessionFileReply{"a.gputrace", 1},
                          UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    } else {
      daemon.server.reply(id, MarkedReply{2});
    }
  };
  const Serving serving(daemon);
  const Result<ControlClient> client = ControlClient::connect(daemon.socket(), "test", kPatience);
  REQUIRE_MESSAGE(client, error_text(client));
  CHECK(client->hello().daemon == "gputraced 9.9");
  const Result<ReceivedReply> marked = client->ask(MarkRequest{"x"}, kPatience);
  REQUIRE_MESSAGE(marked, error_text(marked));
  CHECK(std::get<MarkedReply>(marked->reply).recordings == 2);
  CHECK_FALSE(marked->fd);
  const Result<ReceivedReply> file = client->ask(FetchRequest{"a.gputrace"}, kPatience);
  REQUIRE_MESSAGE(file, error_text(file));
  REQUIRE(file->fd);
  CHECK((::fcntl(file->fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a request that cannot be sent is the caller's fault and costs nothing") {
  TestDaemon daemon;
  const Serving serving(daemon);
  const Result<ControlClient> client = ControlClient::connect(daemon.socket(), "test", kPatience);
  REQUIRE(client);
  const Status sent = client->send(MarkRequest{std::string(kMaxTextBytes + 1, 'x')});
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("a failed reply comes back as its error") {
  TestDaemon daemon;
  daemon.handler.on_request = [&](ClientId id, const Request&) {
    daemon.server.reply(id, FailedAnswer{{ErrorCode::kNoSpace, "the disk is full"}});
  };
  const Serving serving(daemon);
  const Result<ControlClient> client = ControlClient::connect(daemon.socket(), "test", kPatience);
  REQUIRE(client);
  const Result<ReceivedReply> reply = client->ask(StatusRequest{}, kPatience);
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kNoSpace);
  CHECK(reply.error().message == "the disk is full");
}

TEST_CASE("a client that may not enter is told why by connect") {
  TestDaemon daemon;
  daemon.handler.on_admit = [](ClientId) -> Status {
    return fail(ErrorCode::kPermissionDenied, "not you");
  };
  const Serving serving(daemon);
  const Result<ControlClient> client = ControlClient::connect(daemon.socket(), "test", kPatience);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::kPermissionDenied);
  CHECK(client.error().message == "not you");
}

TEST_CASE("the last words of a daemon that hangs up are heard, read or unread") {
  OneConnection daemon([](UniqueFd fd) { say(fd, FailedAnswer{{ErrorCode::kBusy, "full"}}); });
  const Result<ControlClient> client = ControlClient::connect(daemon.path(), "test", kPatience);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::kBusy);
  CHECK(client.error().message == "full");
}

TEST_CASE("a daemon of another version is named with both versions") {
  OneConnection daemon([](UniqueFd fd) {
    hear(fd);
    GPUTRACE_CHECK(send_packet(fd.get(), R"({"type":"hello","version":7})").has_value());
  });
  const Result<ControlClient> client = ControlClient::connect(daemon.path(), "test", kPatience);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::kUnsupported);
  CHECK(contains(client.error().message, "version 7"));
  CHECK(contains(client.error().message, "this program 1"));
}

TEST_CASE("a daemon that closes without a word is an error of ask and an end of receive") {
  OneConnection daemon([](UniqueFd fd) {
    hear(fd);
    say(fd, HelloReply{});
    hear(fd);
  });
  const Result<ControlClient> client = ControlClient::connect(daemon.path(), "test", kPatience);
  REQUIRE(client);
  const Result<ReceivedReply> reply = client->ask(GpusRequest{}, kPatience);
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kIo);
  const auto end = client->receive(kPatience);
  REQUIRE(end);
  CHECK_FALSE(end->has_value());
  CHECK(client->send(GpusRequest{}).error().code == ErrorCode::kIo);
  CHECK(client->ask(GpusRequest{}, kPatience).error().code == ErrorCode::kIo);
}

TEST_CASE("a reply of the wrong kind is refused by ask") {
  for (const Reply& wrong :
       std::vector<Reply>{StatusReply{}, WarningAnswer{"w", false}, WindowAnswer{}, HelloReply{}}) {
    const Result<ReceivedReply> reply = ask_one_that([&](const UniqueFd& fd) { say(fd, wrong); });
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::kCorrupt);
    CHECK(contains(reply.error().message, "'gpus' with '" + std::string(reply_name(wrong))));
  }
}

TEST_CASE("every request is answered by its own kind of reply") {
  ReadyAnswer ready;
  ready.file = "a.gputrace";
  const std::vector<std::pair<Request, Reply>> pairs{
      {GpusRequest{}, GpusReply{}},
      {StatusRequest{}, StatusReply{}},
      {RecordRequest{"", "auto", 1, {}, {}}, ready},
      {MarkRequest{"x"}, MarkedReply{}},
      {StopOrder{}, ClosedAnswer{}},
      {SubscribeRequest{"", 1}, WindowAnswer{}},
      {SessionsRequest{}, SessionsReply{}},
      {DoneRequest{"a.gputrace"}, RemovedReply{"a.gputrace"}},
  };
  for (const auto& [request, answer] : pairs) {
    const Result<ReceivedReply> reply =
        ask_one_that([&](const UniqueFd& fd) { say(fd, answer); }, request);
    REQUIRE_MESSAGE(reply, error_text(reply));
    CHECK(reply->reply == answer);
  }
}

TEST_CASE("a session without its file, and a file that nobody asked for, are refused") {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto without =
      ask_one_that([](const UniqueFd& fd) { say(fd, SessionFileReply{"a.gputrace", 1}); },
                   FetchRequest{"a.gputrace"});
  CHECK(without.error().code == ErrorCode::kCorrupt);
  const auto unasked = ask_one_that([&](const UniqueFd& fd) { say(fd, GpusReply{}, file.get()); });
  CHECK(unasked.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("garbage from the daemon is an error, and the next reply is understood") {
  OneConnection daemon([](UniqueFd fd) {
    hear(fd);
    say(fd, HelloReply{});
    GPUTRACE_CHECK(send_packet(fd.get(), "garbage").has_value());
    say(fd, MarkedReply{1});
  });
  const Result<ControlClient> client = ControlClient::connect(daemon.path(), "test", kPatience);
  REQUIRE(client);
  CHECK(client->receive(kPatience).error().code == ErrorCode::kCorrupt);
  const auto next = client->receive(kPatience);
  REQUIRE(next);
  CHECK(next->has_value());
}

TEST_CASE("a daemon that does not answer costs the timeout and no more") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const UniqueFd listener = listen_on(path, static_cast<gid_t>(-1)).value();
  const Result<ControlClient> client = ControlClient::connect(path, "test", kBrief);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::kBusy);
}

TEST_CASE("a daemon that does not accept is busy") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const UniqueFd listener = listen_on(path, static_cast<gid_t>(-1)).value();
  std::vector<UniqueFd> waiting;
  do {
    waiting.push_back(connect_raw(path));
  } while (waiting.back() && waiting.size() < 10'000);
  REQUIRE_FALSE(waiting.back());
  const Result<ControlClient> client = ControlClient::connect(path, "test", kBrief);
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::kBusy);
  CHECK(contains(client.error().message, path.string()));
}

TEST_CASE("without a daemon connect says that nobody is there") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const Result<ControlClient> none = ControlClient::connect(path, "test", kPatience);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kNotFound);
  CHECK(contains(none.error().message, path.string()));
  listen_on(path, static_cast<gid_t>(-1)).value().reset();  // leaves the socket behind
  CHECK(ControlClient::connect(path, "test", kPatience).error().code == ErrorCode::kNotFound);
  const auto too_long = dir.path() / std::string(200, 'x');
  CHECK(ControlClient::connect(too_long, "test", kPatience).error().code ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("who is not in the socket's group is told which one, and how to get in") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const UniqueFd listener = listen_on(path, static_cast<gid_t>(-1)).value();
  REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Root may enter everywhere: become somebody else.
    if (::geteuid() == 0 && ::setresuid(4322, 4322, 4322) != 0) {
      ::_exit(1);
    }
    const Result<ControlClient> client = ControlClient::connect(path, "test", kPatience);
    const std::string text = client ? "connected" : client.error().message;
    const bool denied = !client && client.error().code == ErrorCode::kPermissionDenied;
    ::_exit(denied && ::write(ends[1], text.data(), text.size()) > 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  std::array<char, 1024> text{};
  const UniqueFd read_end(ends[0]);
  UniqueFd(ends[1]).reset();
  REQUIRE(::read(read_end.get(), text.data(), text.size() - 1) > 0);
  CHECK(contains(text.data(), "Permission denied"));
  CHECK(contains(text.data(), "sudo usermod -aG"));
  if (::getegid() == 0) {
    CHECK(contains(text.data(), "the group 'root'"));
  }
}

TEST_CASE("the socket is the default one, or the absolute path in GPUTRACE_SOCKET") {
  ::unsetenv("GPUTRACE_SOCKET");
  CHECK(control_socket_path() == kDefaultSocket);
  ::setenv("GPUTRACE_SOCKET", "relative/socket", 1);
  CHECK(control_socket_path() == kDefaultSocket);
  ::setenv("GPUTRACE_SOCKET", "/tmp/other.socket", 1);
  CHECK(control_socket_path() == "/tmp/other.socket");
  ::unsetenv("GPUTRACE_SOCKET");
}

}  // namespace
}  // namespace gputrace::ipc
