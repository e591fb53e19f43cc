// A gputraced of the test's own: run_service() in a child process, GPUs of a fixture tree, readers
// that answer what the test says.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/ipc/control_client.h"
#include "daemon/ipc/control_server.h"
#include "daemon/service/service.h"
#include "daemon/store/session_reader.h"
#include "tests/support/error_text.h"
#include "tests/support/fake_register_reader.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {

inline constexpr std::int64_t kPatienceNs = 60 * kNsPerSecond;  ///< sanitizers, loaded machines
inline constexpr const char* kApu = "0000:65:00.0";             ///< of the laptop, awake
inline constexpr const char* kDiscrete = "0000:03:00.0";        ///< of the laptop, asleep

using MakeReader = std::function<std::unique_ptr<FakeRegisterReader>(const std::string& pci)>;

inline std::unique_ptr<FakeRegisterReader> idle_reader(const std::string& /*pci*/) {
  return std::make_unique<FakeRegisterReader>();
}

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Waits until `holds`, looking again at each change in the folder.
inline bool wait_for_change(const std::filesystem::path& folder,
                            const std::function<bool()>& holds) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  GPUTRACE_CHECK(::inotify_add_watch(watch.get(), folder.c_str(),
                                     IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_DELETE) >= 0);
  const std::int64_t deadline_ns = monotonic_now_ns() + kPatienceNs;
  while (!holds()) {
    const std::int64_t left_ms = (deadline_ns - monotonic_now_ns()) / kNsPerMs;
    pollfd one{watch.get(), POLLIN, 0};
    if (left_ms <= 0 || ::poll(&one, 1, static_cast<int>(left_ms)) < 0) {
      return false;
    }
    std::array<char, 4096> events{};
    while (::read(watch.get(), events.data(), events.size()) > 0) {
    }
  }
  return true;
}

class RunningService {
 public:
  struct Setup {
    service::Config config;
    MakeReader make_reader = idle_reader;
    std::function<void(const std::filesystem::path& sys)> change_sysfs;
    std::filesystem::path data;  ///< of another that has ended; empty = its own
  };

  RunningService() : RunningService(Setup{}) {}
  explicit RunningService(Setup setup) : setup_(std::move(setup)) {
    const std::filesystem::path fixtures = std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs";
    std::filesystem::copy(
        fixtures / "laptop", sys(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    if (setup_.change_sysfs) {
      setup_.change_sysfs(sys());
    }
    setup_.config.socket = folder() / "socket";
    setup_.config.data_dir = data();
    std::ofstream(log_file()).close();
    auto uevents = std::array<int, 2>{};
    GPUTRACE_CHECK(
        ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, uevents.data()) == 0);
    uevents_.reset(uevents[0]);
    UniqueFd theirs(uevents[1]);
    pid_ = ::fork();
    GPUTRACE_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      serve(std::move(theirs));
    }
    notices_.write_end.reset();
    wait_for_notice("ready");
  }
  RunningService(const RunningService&) = delete;
  RunningService& operator=(const RunningService&) = delete;
  ~RunningService() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] ipc::ControlClient connect() const {
    Result<ipc::ControlClient> client =
        ipc::ControlClient::connect(setup_.config.socket, "test", kPatienceNs);
    REQUIRE_MESSAGE(client.has_value(), error_text(client));
    return std::move(*client);
  }

  void send_signal(int signal) const { GPUTRACE_CHECK(::kill(pid_, signal) == 0); }
  /// "ready", "reloading", "stopping".
  void wait_for_notice(const std::string& notice) {
    for (;;) {
      pollfd one{notices_.read_end.get(), POLLIN, 0};
      GPUTRACE_CHECK(::poll(&one, 1, static_cast<int>(kPatienceNs / kNsPerMs)) == 1);
      std::string line;
      char byte = 0;
      while (::read(notices_.read_end.get(), &byte, 1) == 1 && byte != '\n') {
        line.push_back(byte);
      }
      REQUIRE_FALSE(line.empty());
      if (line == notice) {
        return;
      }
    }
  }
  /// Its exit status; it must have been told to end.
  [[nodiscard]] int wait_until_gone() {
    int status = 0;
    GPUTRACE_CHECK(::waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] bool wait_for_log(std::string_view text) const {
    return wait_for_change(folder(), [&] { return log().find(text) != std::string::npos; });
  }
  [[nodiscard]] std::string log() const { return text_of_file(log_file()); }
  /// As the kernel would say it.
  void send_uevent(const std::string& message) const {
    GPUTRACE_CHECK(::send(uevents_.get(), message.data(), message.size(), 0) ==
                   static_cast<ssize_t>(message.size()));
  }
  /// Of the recorder that opened this GPU last.
  [[nodiscard]] pid_t recorder_pid(const std::string& pci) const {
    return static_cast<pid_t>(std::stoi(text_of_file(folder() / ("recorder-" + pci))));
  }
  /// For readers: "this has been reached", once.
  static void leave_sign(const std::filesystem::path& file) { std::ofstream(file).close(); }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path sys() const { return folder() / "sys"; }
  [[nodiscard]] std::filesystem::path data() const {
    return setup_.data.empty() ? folder() / "data" : setup_.data;
  }
  [[nodiscard]] std::filesystem::path config_file() const { return folder() / "config.toml"; }
  [[nodiscard]] std::filesystem::path sessions() const {
    return data() / "sessions" / std::to_string(::geteuid());
  }

 private:
  [[nodiscard]] std::filesystem::path log_file() const { return folder() / "log"; }

  void notice(const std::string& line) const {
    const std::string text = line + "\n";
    GPUTRACE_CHECK(::write(notices_.write_end.get(), text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size()));
  }

  [[noreturn]] void serve(UniqueFd uevents) {
    notices_.read_end.reset();
    uevents_.reset();
    const service::Config& config = setup_.config;
    Result<UniqueFd> listener = ipc::listen_on(config.socket, ::getegid());
    Result<service::SessionShelf> shelf = service::SessionShelf::open(config.data_dir, ::getegid());
    GPUTRACE_CHECK(listener.has_value() && shelf.has_value());
    service::ServiceNotices notices;
    notices.ready = [this](std::string_view) { notice("ready"); };
    notices.reloading = [this] { notice("reloading"); };
    notices.stopping = [this] { notice("stopping"); };
    const Status status = service::run_service(
        {.config = config,
         .reload =
             [this] {
               Result<service::Config> loaded = service::read_config(config_file());
               if (loaded) {
                 loaded->socket = setup_.config.socket;
                 loaded->data_dir = setup_.config.data_dir;
               }
               return loaded;
             },
         .listener = std::move(*listener),
         .shelf = std::move(*shelf),
         .group = ::getegid(),
         .name = "gputraced test",
         .roots = {.sys = sys(),
                   .ids = std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs/amdgpu.ids"},
         .uevents = os::UeventSocket(std::move(uevents)),
         .open_gpu = [this](const recorder::GpuRequest& request) { return open_gpu(request); },
         .notices = notices,
         .log =
             [this](LogLevel level, std::string_view text) {
               std::ofstream(log_file(), std::ios::app)
                   << log_level_name(level) << ": " << text << '\n';
             }});
    ::_exit(status ? 0 : 1);
  }

  [[nodiscard]] Result<recorder::OpenedGpu> open_gpu(const recorder::GpuRequest& request) const {
    std::ofstream(folder() / ("recorder-" + request.gpu)) << ::getpid();
    recorder::OpenedGpu gpu;
    gpu.identity.name = "GPU " + request.gpu;
    gpu.identity.pci = request.gpu;
    gpu.identity.gc = regdb::GcVersion{11, 0, 1};
    gpu.regdb_table = "11.0.0";
    gpu.reader = setup_.make_reader(request.gpu);
    return gpu;
  }

  TempDir folder_;
  Setup setup_;
  Pipe notices_;
  UniqueFd uevents_;
  pid_t pid_ = -1;
};

inline ipc::RecordRequest record_request(const std::string& gpu = kApu, double rate_hz = 1000) {
  ipc::RecordRequest request;
  request.gpu = gpu;
  request.source = "auto";
  request.rate_hz = rate_hz;
  request.command = std::vector<std::string>{"/usr/bin/game"};
  return request;
}

/// The next reply of this kind; live windows and warnings before it are passed over.
template <class Kind>
[[nodiscard]] Kind next(const ipc::ControlClient& client) {
  for (;;) {
    Result<std::optional<ipc::ReceivedReply>> received = client.receive(kPatienceNs);
    REQUIRE_MESSAGE(received.has_value(), error_text(received));
    REQUIRE_MESSAGE(received->has_value(), "gputraced closed the connection");
    const ipc::Reply& reply = (*received)->reply;
    if (const auto* kind = std::get_if<Kind>(&reply)) {
      return *kind;
    }
    const auto* failed = std::get_if<ipc::FailedAnswer>(&reply);
    REQUIRE_MESSAGE(failed == nullptr, failed->error.message);
  }
}

template <class Kind>
[[nodiscard]] Kind ask(const ipc::ControlClient& client, const ipc::Request& request) {
  REQUIRE(client.send(request));
  return next<Kind>(client);
}

/// The error that answers a request.
[[nodiscard]] inline Error refusal(const ipc::ControlClient& client, const ipc::Request& request) {
  const Result<ipc::ReceivedReply> reply = client.ask(request, kPatienceNs);
  REQUIRE_FALSE(reply.has_value());
  return reply.error();
}

[[nodiscard]] inline store::SessionReader open_session(const std::filesystem::path& file) {
  Result<store::SessionReader> session = store::SessionReader::open(file);
  REQUIRE_MESSAGE(session.has_value(), error_text(session));
  return std::move(*session);
}

[[nodiscard]] inline std::uint64_t ticks_of(const store::SessionReader& session) {
  std::uint64_t ticks = 0;
  for (const store::StoredSegment& segment : session.segments()) {
    ticks += segment.totals.ticks;
  }
  return ticks;
}

}  // namespace gputrace::test
