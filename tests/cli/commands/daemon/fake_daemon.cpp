#include "tests/cli/commands/daemon/fake_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/control_server.h"

namespace gputrace::test {

namespace {

class Handler final : public ipc::ControlHandler {
 public:
  Handler(std::filesystem::path folder, const DaemonScript& script)
      : folder_(std::move(folder)), script_(script), heard_(folder_ / "heard", std::ios::app) {}

  void use(ipc::ControlServer& server) { server_ = &server; }

  Status admit(ipc::ClientId /*client*/, const ipc::Peer& /*peer*/) override {
    return script_.refuse_client ? tl::unexpected(*script_.refuse_client) : Status();
  }
  void vanished(ipc::ClientId /*client*/) override { note("vanished"); }

  void handle(ipc::ClientId client, const ipc::Request& request) override {
    if (const auto* record = std::get_if<ipc::RecordRequest>(&request)) {
      take_record(client, *record);
    } else if (const auto* stop = std::get_if<ipc::StopOrder>(&request)) {
      take_stop(client, *stop);
    } else if (const auto* fetch = std::get_if<ipc::FetchRequest>(&request)) {
      take_fetch(client, fetch->name);
    } else if (const auto* done = std::get_if<ipc::DoneRequest>(&request)) {
      note("done " + done->name);
      std::filesystem::remove(FakeDaemon::shelf(folder_) / done->name);
      server_->reply(client, ipc::RemovedReply{done->name});
    } else if (const auto* mark = std::get_if<ipc::MarkRequest>(&request)) {
      note("mark " + mark->text);
      server_->reply(client, ipc::MarkedReply{script_.marked});
    } else if (std::holds_alternative<ipc::StatusRequest>(request)) {
      server_->reply(client, script_.status);
    } else if (std::holds_alternative<ipc::SessionsRequest>(request)) {
      server_->reply(client, sessions());
    }
  }

 private:
  void note(const std::string& line) { heard_ << line << '\n' << std::flush; }

  void take_record(ipc::ClientId client, const ipc::RecordRequest& record) {
    note(fmt::format("record gpu '{}' source {} rate {} label '{}' command {}", record.gpu,
                     record.source, record.rate_hz, record.label.value_or(""),
                     fmt::join(record.command.value_or(std::vector<std::string>()), "|")));
    if (script_.die_at_record) {
      ::_exit(0);
    }
    if (script_.refuse_record) {
      server_->reply(client, ipc::FailedAnswer{*script_.refuse_record});
      return;
    }
    ipc::ReadyAnswer ready;
    ready.file = kFakeSession;
    ready.gpu_name = "a GPU of the daemon";
    server_->reply(client, ready);
  }

  void take_stop(ipc::ClientId client, const ipc::StopOrder& stop) {
    note(fmt::format("stop exit {} signal {}{}", stop.exit_code.value_or(-1),
                     stop.signal.value_or(-1), stop.discard ? " discard" : ""));
    ipc::ClosedAnswer closed;
    closed.file = kFakeSession;
    closed.samples = 2000;
    closed.seconds = 2;
    closed.unknown = 0;
    server_->reply(client, closed);
  }

  void take_fetch(ipc::ClientId client, const std::string& name) {
    note("fetch " + name);
    if (script_.mute_fetches) {
      return;
    }
    if (script_.busy_fetches-- > 0) {
      server_->reply(client, ipc::FailedAnswer{{ErrorCode::kBusy, name + " is being recorded"}});
      return;
    }
    const std::filesystem::path file = FakeDaemon::shelf(folder_) / name;
    UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info{};
    if (!fd || ::fstat(fd.get(), &info) != 0) {
      server_->reply(client, ipc::FailedAnswer{{ErrorCode::kNotFound, "there is no " + name}});
      return;
    }
    server_->reply(client, ipc::SessionFileReply{name, static_cast<std::uint64_t>(info.st_size)},
                   std::move(fd));
  }

  [[nodiscard]] ipc::SessionsReply sessions() const {
    ipc::SessionsReply reply;
    for (const auto& entry : std::filesystem::directory_iterator(FakeDaemon::shelf(folder_))) {
      reply.sessions.push_back({entry.path().filename().string(), entry.file_size(),
                                1'790'000'000'000'000'000, script_.recording});
    }
    return reply;
  }

  std::filesystem::path folder_;
  DaemonScript script_;
  std::ofstream heard_;
  ipc::ControlServer* server_ = nullptr;
};

[[noreturn]] void serve(UniqueFd listener, const std::filesystem::path& folder,
                        const DaemonScript& script) {
  // Ends of the test's pipes would keep them open.
  const int own = ::fcntl(listener.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  UniqueFd only(own);
  listener.reset();
  if (own > STDERR_FILENO + 1) {
    ::syscall(SYS_close_range, STDERR_FILENO + 1U, static_cast<unsigned>(own) - 1U, 0U);
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(own) + 1U, ~0U, 0U);
  Handler handler(folder, script);
  ipc::ControlServer server(std::move(only), "gputraced of a test", {}, handler,
                            [](LogLevel, std::string_view) {});
  handler.use(server);
  for (;;) {
    std::vector<pollfd> fds;
    server.append_poll(fds);
    const std::int64_t deadline_ns = server.next_deadline_ns();
    const std::int64_t left_ms =
        deadline_ns == INT64_MAX ? 1000 : (deadline_ns - monotonic_now_ns()) / kNsPerMs;
    ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 1000)));
    server.dispatch(fds, monotonic_now_ns());
  }
}

}  // namespace

FakeDaemon::FakeDaemon(const std::filesystem::path& folder, const DaemonScript& script) {
  std::filesystem::create_directories(shelf(folder));
  Result<UniqueFd> listener = ipc::listen_on(socket(folder), static_cast<gid_t>(-1));
  GPUTRACE_CHECK(listener.has_value());
  pid_ = ::fork();
  GPUTRACE_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    serve(std::move(*listener), folder, script);
  }
}

void FakeDaemon::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
}

std::string FakeDaemon::heard(const std::filesystem::path& folder) {
  std::ifstream file(folder / "heard");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace gputrace::test
