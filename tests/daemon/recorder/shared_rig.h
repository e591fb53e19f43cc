// A recorder of gputraced in a process of its own, its sessions, and what their files say.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/ipc/message_socket.h"
#include "daemon/ipc/recorder_control.h"
#include "daemon/recorder/recorder.h"
#include "daemon/store/session_reader.h"
#include "tests/support/fake_register_reader.h"
#include "tests/support/fake_sensor_reader.h"
#include "tests/support/temp_dir.h"

namespace gputrace::recorder {

using MakeReader = std::function<std::unique_ptr<test::FakeRegisterReader>()>;

inline std::unique_ptr<test::FakeRegisterReader> two_registers() {
  return std::make_unique<test::FakeRegisterReader>(
      std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS2"});
}

/// A GPU of the test with one sensor that works.
inline OpenedGpu opened_gpu(std::unique_ptr<sampler::RegisterReader> reader) {
  OpenedGpu gpu;
  gpu.identity.name = "a GPU of the test";
  gpu.identity.gc = regdb::GcVersion{11, 0, 1};
  gpu.regdb_table = "11.0.0";
  gpu.reader = std::move(reader);
  gpu.sensors.push_back(std::make_unique<test::FakeSensorReader>(
      std::make_shared<test::FakeSensor>("hwmon power1_average")));
  return gpu;
}

/// One session's end of its socket.
class SessionClient {
 public:
  explicit SessionClient(ipc::MessageSocket socket) : socket_(std::move(socket)) {}

  void send(const ipc::Order& order) const { REQUIRE(socket_.send(order)); }
  [[nodiscard]] ipc::Answer next() const {
    const Result<std::optional<ipc::Answer>> received = socket_.receive_answer();
    GPUTRACE_CHECK(received.has_value());
    const std::optional<ipc::Answer>& answer = *received;
    GPUTRACE_CHECK(answer.has_value());
    return *answer;
  }
  /// The next answer of this kind.
  template <class Kind>
  [[nodiscard]] Kind answer() const {
    for (;;) {
      const ipc::Answer received = next();
      if (const auto* kind = std::get_if<Kind>(&received)) {
        return *kind;
      }
      const auto* failed = std::get_if<ipc::FailedAnswer>(&received);
      REQUIRE_MESSAGE(failed == nullptr, failed->error.message);
    }
  }
  [[nodiscard]] ipc::ReadyAnswer start(const ipc::StartOrder& order) const {
    send(order);
    return answer<ipc::ReadyAnswer>();
  }
  [[nodiscard]] ipc::ClosedAnswer stop() const {
    send(ipc::StopOrder{0, std::nullopt, false});
    return answer<ipc::ClosedAnswer>();
  }

 private:
  ipc::MessageSocket socket_;
};

class SharedRecorder {
 public:
  explicit SharedRecorder(const MakeReader& make_reader = two_registers)
      : SharedRecorder(ReaderFactory([make_reader](const GpuRequest&) -> Result<OpenedGpu> {
          return opened_gpu(make_reader());
        })) {}
  explicit SharedRecorder(const ReaderFactory& open_gpu) {
    std::array<int, 2> ends{};
    GPUTRACE_CHECK(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    control_.reset(ends[0]);
    const UniqueFd there(ends[1]);
    pid_ = ::fork();
    GPUTRACE_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      UniqueFd control(::fcntl(there.get(), F_DUPFD_CLOEXEC, 3));
      run_shared_recorder(std::move(control), {open_gpu, {}});
    }
  }
  SharedRecorder(const SharedRecorder&) = delete;
  SharedRecorder& operator=(const SharedRecorder&) = delete;
  ~SharedRecorder() {
    control_.reset();
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] SessionClient attach() const {
    auto [here, there] = ipc::MessageSocket::make_pair().value();
    const UniqueFd passed(::fcntl(there.fd(), F_DUPFD_CLOEXEC, 3));
    REQUIRE(ipc::send_session_socket(control_.get(), passed));
    return SessionClient(std::move(here));
  }
  /// The next report: there is one each second, and more at changes.
  [[nodiscard]] ipc::HealthReport health() const {
    const Result<std::optional<ipc::HealthReport>> report = ipc::receive_health(control_.get());
    GPUTRACE_CHECK(report.has_value());
    GPUTRACE_CHECK(report->has_value());
    return **report;
  }
  /// Looks again with each report.
  void wait_until(const std::function<bool(const ipc::HealthReport&)>& condition) const {
    while (!condition(health())) {
    }
  }
  void close_control() { control_.reset(); }
  void wait_until_gone() const {
    siginfo_t info{};
    GPUTRACE_CHECK(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return folder_.path() / (name + ".gputrace");
  }
  [[nodiscard]] ipc::StartOrder order(const std::string& name, double rate_hz) const {
    ipc::StartOrder order;
    order.source = "auto";
    order.rate_hz = rate_hz;
    order.file = file(name).string();
    return order;
  }
  [[nodiscard]] store::SessionReader session(const std::string& name) const {
    Result<store::SessionReader> session = store::SessionReader::open(file(name));
    REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
    return std::move(*session);
  }

 private:
  test::TempDir folder_;
  UniqueFd control_;
  pid_t pid_ = -1;
};

struct StoredTicks {
  std::vector<std::int64_t> times;
  std::vector<store::TimeSpan> blocks;
};

inline StoredTicks ticks_of(const store::SessionReader& session,
                            const store::StoredSegment& segment) {
  StoredTicks ticks;
  const Status read =
      session.for_each_block(segment, std::nullopt, [&](const sampler::SampleBlock& block) {
        ticks.blocks.push_back({block.start_ns, block.end_ns});
        ticks.times.insert(ticks.times.end(), block.time_ns.begin(),
                           block.time_ns.begin() + static_cast<std::ptrdiff_t>(block.size));
        return Status();
      });
  REQUIRE(read);
  return ticks;
}

inline std::vector<std::string> event_kinds(const store::SessionReader& session) {
  const std::vector<store::Event> events = session.events().value();
  std::vector<std::string> kinds;
  kinds.reserve(events.size());
  for (const store::Event& event : events) {
    kinds.push_back(event.kind);
  }
  return kinds;
}

inline bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace gputrace::recorder
