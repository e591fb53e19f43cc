#include "daemon/recorder/recorder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/daemon/recorder/shared_rig.h"

// ThreadSanitizer asks this (sanitizer/tsan_interface.h). A recorder does not wait for its reading
// thread, which may hang in the driver: that it is still there at the end is no leak.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __tsan_default_options() {
  return "report_thread_leaks=0";
}

namespace gputrace::recorder {
namespace {

using test::FakeRegisterReader;

ReaderFactory factory_of(const MakeReader& make_reader) {
  return [make_reader](const GpuRequest& request) -> Result<OpenedGpu> {
    if (request.gpu == "none") {
      return fail(ErrorCode::kNotFound, "no such GPU");
    }
    OpenedGpu gpu = opened_gpu(make_reader());
    gpu.notes = {"a note"};
    return gpu;
  };
}

/// A recorder in a process of its own, spoken to over its socket.
class RunningRecorder {
 public:
  explicit RunningRecorder(const MakeReader& make_reader = two_registers,
                           const std::function<Status()>& before_file = {}) {
    auto [here, there] = ipc::MessageSocket::make_pair().value();
    pid_ = ::fork();
    GPUTRACE_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      UniqueFd socket(::fcntl(there.fd(), F_DUPFD_CLOEXEC, 3));
      run_recorder(std::move(socket), {factory_of(make_reader), before_file});
    }
    socket_.emplace(std::move(here));
  }
  RunningRecorder(const RunningRecorder&) = delete;
  RunningRecorder& operator=(const RunningRecorder&) = delete;
  ~RunningRecorder() {
    hang_up();
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] ipc::StartOrder start_order() const {
    ipc::StartOrder order;
    order.source = "auto";
    order.rate_hz = 1000;
    order.file = file().string();
    return order;
  }
  void send(const ipc::Order& order) const { REQUIRE(socket().send(order)); }
  void send_raw(const std::string& bytes) const {
    REQUIRE(::send(socket().fd(), bytes.data(), bytes.size(), 0) > 0);
  }
  /// The next answer, which must be of this kind.
  template <class Kind>
  [[nodiscard]] Kind answer() const {
    const Result<std::optional<ipc::Answer>> received = socket().receive_answer();
    GPUTRACE_CHECK(received.has_value());
    const std::optional<ipc::Answer>& answer = *received;
    GPUTRACE_CHECK(answer.has_value());
    const auto* kind = std::get_if<Kind>(&*answer);
    REQUIRE_MESSAGE(kind != nullptr, "another answer: " << answer->index());
    return *kind;
  }
  [[nodiscard]] ipc::ClosedAnswer stop(const ipc::StopOrder& order) const {
    send(order);
    return answer<ipc::ClosedAnswer>();
  }
  [[nodiscard]] ipc::ReadyAnswer start() const {
    send(start_order());
    return answer<ipc::ReadyAnswer>();
  }
  void hang_up() { socket_.reset(); }
  void wait_until_gone() {
    siginfo_t info{};
    GPUTRACE_CHECK(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_code == CLD_EXITED);
    CHECK(info.si_status == 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "a.gputrace"; }
  [[nodiscard]] store::SessionReader session() const {
    Result<store::SessionReader> session = store::SessionReader::open(file());
    REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
    return std::move(*session);
  }

 private:
  [[nodiscard]] const ipc::MessageSocket& socket() const {
    GPUTRACE_CHECK(socket_.has_value());
    return *socket_;
  }

  test::TempDir folder_;
  std::optional<ipc::MessageSocket> socket_;
  pid_t pid_ = -1;
};

store::SessionEnd end_of(const store::SessionReader& session) {
  const std::optional<store::SessionEnd>& end = session.end();
  GPUTRACE_CHECK(end.has_value());
  return *end;
}

TEST_CASE("start, stop: the file says how the workload ended") {
  RunningRecorder recorder;
  const ipc::ReadyAnswer ready = recorder.start();
  CHECK(ready.gpu_name == "a GPU of the test");
  CHECK(ready.notes == std::vector<std::string>{"a note"});
  const ipc::ClosedAnswer closed = recorder.stop({23, std::nullopt, false});
  CHECK(closed.file == recorder.file().string());
  CHECK_FALSE(closed.cut);
  CHECK_FALSE(closed.still_wal);
  recorder.wait_until_gone();
  const store::SessionReader session = recorder.session();
  CHECK(end_of(session).exit_code == 23);
  REQUIRE(session.segments().size() == 1);
  CHECK(session.segments()[0].totals.ticks == closed.samples);
}

TEST_CASE("a socket that closes without stop finishes the file without an exit code") {
  RunningRecorder recorder;
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  recorder.hang_up();
  recorder.wait_until_gone();
  CHECK_FALSE(end_of(recorder.session()).exit_code);
  CHECK_FALSE(end_of(recorder.session()).signal);
}

TEST_CASE("signals of a terminal and of soft limits do not end the recorder") {
  RunningRecorder recorder;
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE, SIGTSTP, SIGXCPU, SIGXFSZ}) {
    REQUIRE(::kill(recorder.pid(), signal) == 0);
  }
  CHECK(recorder.stop({std::nullopt, SIGINT, false}).file == recorder.file().string());
  CHECK(end_of(recorder.session()).signal == SIGINT);
}

TEST_CASE("a discarded recording leaves no file") {
  RunningRecorder recorder;
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  CHECK(recorder.stop({std::nullopt, std::nullopt, true}).file == recorder.file().string());
  CHECK(std::filesystem::is_empty(recorder.file().parent_path()));
}

TEST_CASE("what cannot start is answered with failed and leaves no file") {
  SUBCASE("no such GPU") {
    RunningRecorder recorder;
    ipc::StartOrder order = recorder.start_order();
    order.gpu = "none";
    recorder.send(order);
    CHECK(recorder.answer<ipc::FailedAnswer>().error.code == ErrorCode::kNotFound);
    recorder.wait_until_gone();
    CHECK_FALSE(std::filesystem::exists(recorder.file()));
  }
  SUBCASE("a rate that cannot be") {
    for (const double rate_hz : {0.0, 0.5, 20'001.0}) {
      RunningRecorder recorder;
      ipc::StartOrder order = recorder.start_order();
      order.rate_hz = rate_hz;
      recorder.send(order);
      CHECK(recorder.answer<ipc::FailedAnswer>().error.code == ErrorCode::kInvalidArgument);
    }
  }
  SUBCASE("a reader without registers") {
    RunningRecorder recorder(
        [] { return std::make_unique<FakeRegisterReader>(std::vector<std::string>{}); });
    recorder.send(recorder.start_order());
    CHECK(recorder.answer<ipc::FailedAnswer>().error.code == ErrorCode::kUnsupported);
  }
  SUBCASE("a file that exists") {
    RunningRecorder recorder;
    std::ofstream(recorder.file()) << "precious";
    recorder.send(recorder.start_order());
    CHECK(recorder.answer<ipc::FailedAnswer>().error.code == ErrorCode::kExists);
    CHECK(std::filesystem::file_size(recorder.file()) == 8);
  }
  SUBCASE("privileges that cannot be dropped") {
    RunningRecorder recorder(two_registers,
                             [] { return fail(ErrorCode::kPermissionDenied, "cannot"); });
    recorder.send(recorder.start_order());
    CHECK(recorder.answer<ipc::FailedAnswer>().error.code == ErrorCode::kPermissionDenied);
    CHECK_FALSE(std::filesystem::exists(recorder.file()));
  }
  SUBCASE("an order other than start") {
    RunningRecorder recorder;
    recorder.send(ipc::StopOrder{});
    CHECK(recorder.answer<ipc::FailedAnswer>().error.code == ErrorCode::kInvalidArgument);
  }
  SUBCASE("garbage") {
    RunningRecorder recorder;
    recorder.send_raw("garbage");
    CHECK(recorder.answer<ipc::FailedAnswer>().error.code == ErrorCode::kCorrupt);
  }
}

TEST_CASE("a made-up name that is taken gets a number, and ready says which") {
  RunningRecorder recorder;
  std::ofstream(recorder.file()) << "precious";
  std::ofstream(recorder.file().parent_path() / "a-2.gputrace") << "too";
  ipc::StartOrder order = recorder.start_order();
  order.on_existing = ipc::OnExisting::kNumber;
  recorder.send(order);
  const auto free_name = (recorder.file().parent_path() / "a-3.gputrace").string();
  CHECK(recorder.answer<ipc::ReadyAnswer>().file == free_name);
  CHECK(recorder.stop({0, std::nullopt, false}).file == free_name);
  CHECK(std::filesystem::file_size(recorder.file()) == 8);
  CHECK(store::SessionReader::open(free_name).has_value());
}

TEST_CASE("garbage in mid-recording is a warning and costs nothing") {
  RunningRecorder recorder;
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  recorder.send_raw("garbage");
  CHECK(recorder.answer<ipc::WarningAnswer>().text.find("not a JSON object") != std::string::npos);
  recorder.send(recorder.start_order());
  CHECK_FALSE(recorder.answer<ipc::WarningAnswer>().recording_ended);
  CHECK_FALSE(recorder.stop({0, std::nullopt, false}).cut);
}

TEST_CASE("marks are events of the session") {
  RunningRecorder recorder;
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  recorder.send(ipc::MarkOrder{monotonic_now_ns(), "level 2"});
  CHECK_FALSE(recorder.stop({0, std::nullopt, false}).cut);
  CHECK(has(event_kinds(recorder.session()), "mark"));
}

TEST_CASE("a register that is lost in mid-run begins a new segment") {
  RunningRecorder recorder([] {
    auto reader = two_registers();
    reader->lose_at(50, 1, "EPERM");
    return reader;
  });
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  const auto warning = recorder.answer<ipc::WarningAnswer>();
  CHECK(warning.text.find("GRBM_STATUS2: EPERM") != std::string::npos);
  CHECK_FALSE(warning.recording_ended);
  CHECK_FALSE(recorder.stop({0, std::nullopt, false}).cut);
  const store::SessionReader session = recorder.session();
  REQUIRE(session.segments().size() == 2);
  CHECK(session.segments()[0].description.registers.size() == 2);
  REQUIRE(session.segments()[1].description.registers.size() == 1);
  CHECK(session.segments()[1].description.registers[0].name == "GRBM_STATUS");
  CHECK(session.segments()[1].description.reason.find("EPERM") != std::string::npos);
  CHECK(has(event_kinds(session), "lost"));
}

TEST_CASE("a GPU that is gone is told and waited for; the stop still finishes the file") {
  RunningRecorder recorder([opened = 0]() mutable {
    auto reader = opened++ == 0 ? two_registers()
                                : std::make_unique<FakeRegisterReader>(std::vector<std::string>{});
    if (opened == 1) {
      reader->lose_at(20, 0, "ENODEV");
      reader->lose_at(20, 1, "ENODEV");
    }
    return reader;
  });
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  const auto warning = recorder.answer<ipc::WarningAnswer>();
  CHECK_FALSE(warning.recording_ended);  // it may come back
  CHECK(warning.text.find("GRBM_STATUS2, GRBM_STATUS: ENODEV") != std::string::npos);
  // In the file while the workload runs on, which may be long.
  while (!has(event_kinds(recorder.session()), "device_gone")) {
  }
  const ipc::ClosedAnswer closed = recorder.stop({4, std::nullopt, false});
  CHECK_FALSE(closed.cut);
  CHECK(closed.samples == 21);
  CHECK(has(event_kinds(recorder.session()), "lost"));
  CHECK(end_of(recorder.session()).exit_code == 4);
}

TEST_CASE("a GPU that comes back is recorded further in a new segment") {
  RunningRecorder recorder([opened = 0]() mutable {
    auto reader = two_registers();
    if (opened++ == 0) {
      reader->lose_at(20, 0, "ENODEV");
      reader->lose_at(20, 1, "ENODEV");
    }
    return reader;
  });
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  CHECK(recorder.answer<ipc::WarningAnswer>().text.find("ENODEV") != std::string::npos);
  while (recorder.session().segments().size() < 2) {
  }
  CHECK_FALSE(recorder.stop({0, std::nullopt, false}).cut);
  const store::SessionReader session = recorder.session();
  REQUIRE(session.segments().size() == 2);
  CHECK(session.segments()[0].totals.ticks == 21);
  CHECK(session.segments()[1].totals.ticks > 0);
  CHECK(session.segments()[1].description.reason == "the GPU is back");
  CHECK(session.segments()[1].description.start_ns > session.segments()[0].end_ns);
  CHECK(has(event_kinds(session), "device_gone"));
  CHECK(has(event_kinds(session), "device_back"));
}

TEST_CASE("words that say nothing are counted") {
  RunningRecorder recorder([] {
    auto reader = two_registers();
    reader->set_state(1, sampler::SampleState::kReadError);
    reader->set_last_error("EIO on a register");
    reader->lose_at(100, 0, "x");
    return reader;
  });
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  CHECK_FALSE(recorder.answer<ipc::WarningAnswer>().recording_ended);
  const ipc::ClosedAnswer closed = recorder.stop({0, std::nullopt, false});
  CHECK(closed.unknown.value_or(0) >= 0.5);
  CHECK(has(event_kinds(recorder.session()), "read_error"));
}

TEST_CASE("a read that hangs does not keep the file open") {
  RunningRecorder recorder([] {
    auto reader = two_registers();
    reader->block_at(10);
    return reader;
  });
  REQUIRE(recorder.start().gpu_name == "a GPU of the test");
  CHECK_FALSE(recorder.stop({7, std::nullopt, false}).cut);
  recorder.wait_until_gone();
  CHECK(end_of(recorder.session()).exit_code == 7);
}

/// Mounts a small tmpfs that only this process and its children see.
bool mount_small_disk(const std::filesystem::path& folder) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=512k") == 0;
}

TEST_CASE("a disk that fills in mid-recording ends the recording with a warning") {
  const test::TempDir folder;
  const pid_t pid = ::fork();  // the mount namespace must not outlive this test
  if (pid == 0) {
    if (!mount_small_disk(folder.path())) {
      ::_exit(77);
    }
    RunningRecorder recorder;
    ipc::StartOrder order = recorder.start_order();
    order.file = (folder.path() / "a.gputrace").string();
    recorder.send(order);
    GPUTRACE_CHECK(recorder.answer<ipc::ReadyAnswer>().gpu_name == "a GPU of the test");
    std::ofstream filler(folder.path() / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
    const auto warning = recorder.answer<ipc::WarningAnswer>();
    GPUTRACE_CHECK(warning.recording_ended);
    GPUTRACE_CHECK(warning.text.find("full") != std::string::npos ||
                   warning.text.find("space") != std::string::npos);
    const ipc::ClosedAnswer closed = recorder.stop({3, std::nullopt, false});
    const bool opens = store::SessionReader::open(order.file).has_value();
    ::_exit(closed.cut.has_value() || opens ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    MESSAGE("skipped: no privilege for a mount namespace");
    return;
  }
  CHECK(status == 0);
}

}  // namespace
}  // namespace gputrace::recorder
