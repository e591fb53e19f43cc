// gputraced through its troubles: signals, recorders that hang or die.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/daemon/service/running_service.h"

namespace gputrace::service {
namespace {

using test::ask;
using test::FakeRegisterReader;
using test::kApu;
using test::kDiscrete;
using test::next;
using test::open_session;
using test::record_request;
using test::refusal;
using test::RunningService;

/// Reads number `read` and later of the APU never return.
test::MakeReader hanging_apu(std::uint64_t read) {
  return [read](const std::string& pci) {
    auto reader = std::make_unique<FakeRegisterReader>();
    if (pci == kApu) {
      reader->block_at(read);
    }
    return reader;
  };
}

TEST_CASE("SIGTERM finishes every recording, tells its client and ends within 2 s") {
  RunningService service;
  const ipc::ControlClient first = service.connect();
  const ipc::ControlClient second = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(first, record_request()).file;
  const std::string other = ask<ipc::ReadyAnswer>(second, record_request(kDiscrete)).file;
  const std::int64_t told_ns = monotonic_now_ns();
  service.send_signal(SIGTERM);
  CHECK(service.wait_until_gone() == 0);
  CHECK(static_cast<double>(monotonic_now_ns() - told_ns) / 1e9 < 2);
  const auto warning = next<ipc::WarningAnswer>(first);
  CHECK(warning.recording_ended);
  CHECK(next<ipc::ClosedAnswer>(first).file == file);
  CHECK(next<ipc::ClosedAnswer>(second).file == other);
  for (const std::string& name : {file, other}) {
    const store::SessionReader session = open_session(service.sessions() / name);
    CHECK(session.end().has_value());
    CHECK_FALSE(session.in_use());
  }
}

TEST_CASE("SIGHUP takes a new configuration, and a wrong one changes nothing") {
  RunningService service;
  const ipc::ControlClient client = service.connect();
  std::ofstream(service.config_file()) << "[limits]\nmax_rate_hz = 500\n";
  service.send_signal(SIGHUP);
  service.wait_for_notice("reloading");
  service.wait_for_notice("ready");
  CHECK(refusal(client, record_request(kApu, 1000)).message.find("500 Hz") != std::string::npos);

  std::ofstream(service.config_file()) << "[limits]\nmax_rate = 1000\n";
  service.send_signal(SIGHUP);
  service.wait_for_notice("reloading");
  service.wait_for_notice("ready");
  CHECK(service.log().find("the configuration stays as it was: ") != std::string::npos);
  CHECK(refusal(client, record_request(kApu, 1000)).message.find("500 Hz") != std::string::npos);
}

TEST_CASE("a GPU whose reads hang is given up, and another goes on") {
  const RunningService service(
      {.config = {}, .make_reader = hanging_apu(2500), .change_sysfs = {}, .data = {}});
  const ipc::ControlClient hanging = service.connect();
  const ipc::ControlClient healthy = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(hanging, record_request(kApu)).file;
  const std::string other = ask<ipc::ReadyAnswer>(healthy, record_request(kDiscrete)).file;
  const auto warning = next<ipc::WarningAnswer>(hanging);
  CHECK(warning.text.find("have not returned") != std::string::npos);
  CHECK(warning.recording_ended);
  CHECK(next<ipc::ClosedAnswer>(hanging).file == file);
  CHECK(test::ticks_of(open_session(service.sessions() / file)) > 0);
  CHECK(service.log().find("given up") != std::string::npos);
  const auto closed = ask<ipc::ClosedAnswer>(healthy, ipc::StopOrder{0, std::nullopt, false});
  CHECK(closed.file == other);
  CHECK_FALSE(closed.cut);
  CHECK(closed.samples > 1000);
}

TEST_CASE("a recorder that is killed costs its recordings their end, and nothing else") {
  const RunningService service;
  const ipc::ControlClient client = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(client, record_request()).file;
  REQUIRE(::kill(service.recorder_pid(kApu), SIGKILL) == 0);
  const auto warning = next<ipc::WarningAnswer>(client);
  CHECK(warning.recording_ended);
  CHECK(warning.text.find("was killed by signal 9") != std::string::npos);
  const auto closed = next<ipc::ClosedAnswer>(client);
  CHECK(closed.file == file);
  CHECK(closed.cut.has_value());
  CHECK_FALSE(closed.samples.has_value());  // nobody is left who could say
  CHECK_FALSE(closed.seconds.has_value());
  const store::SessionReader session = open_session(service.sessions() / file);
  CHECK_FALSE(session.end().has_value());
  CHECK_FALSE(session.in_use());
  // Fetched as any other, and the next recording gets a new recorder.
  CHECK(client.ask(ipc::FetchRequest{file}, test::kPatienceNs).has_value());
  static_cast<void>(ask<ipc::ReadyAnswer>(client, record_request()));
  CHECK_FALSE(ask<ipc::ClosedAnswer>(client, ipc::StopOrder{}).cut);
}

TEST_CASE("a recorder whose daemon is killed finishes its files by itself") {
  const RunningService service;
  const ipc::ControlClient client = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(client, record_request()).file;
  service.send_signal(SIGKILL);
  REQUIRE(test::wait_for_change(service.sessions(), [&] {
    return !std::filesystem::exists(service.sessions() / (file + "-wal"));
  }));
  CHECK(open_session(service.sessions() / file).end().has_value());
}

TEST_CASE("what a daemon left that was killed with its recorders is finished by the next") {
  const RunningService killed;
  const ipc::ControlClient client = killed.connect();
  const std::string file = ask<ipc::ReadyAnswer>(client, record_request()).file;
  const pid_t recorder = killed.recorder_pid(kApu);
  const UniqueFd recorder_end(static_cast<int>(::syscall(SYS_pidfd_open, recorder, 0)));
  killed.send_signal(SIGSTOP);  // it must not see its recorder go
  REQUIRE(::kill(recorder, SIGKILL) == 0);
  killed.send_signal(SIGKILL);
  pollfd one{recorder_end.get(), POLLIN, 0};
  REQUIRE(::poll(&one, 1, -1) == 1);
  REQUIRE(std::filesystem::exists(killed.sessions() / (file + "-wal")));
  const RunningService next_one(
      {.config = {}, .make_reader = test::idle_reader, .change_sysfs = {}, .data = killed.data()});
  CHECK(next_one.wait_for_log("whose recording was cut"));
  CHECK_FALSE(std::filesystem::exists(killed.sessions() / (file + "-wal")));
  const ipc::ControlClient again = next_one.connect();
  CHECK(again.ask(ipc::FetchRequest{file}, test::kPatienceNs).has_value());
}

TEST_CASE("a recorder that cannot even be killed is left behind, and its GPU refused until then") {
  RunningService service(
      {.config = {}, .make_reader = hanging_apu(1500), .change_sysfs = {}, .data = {}});
  const ipc::ControlClient client = service.connect();
  static_cast<void>(ask<ipc::ReadyAnswer>(client, record_request(kApu)));
  // What hangs in the driver does not die of SIGKILL. Neither does, for a while, who is traced and
  // held at his end (ptrace(2), PTRACE_O_TRACEEXIT).
  const pid_t recorder = service.recorder_pid(kApu);
  if (::ptrace(PTRACE_SEIZE, recorder, nullptr, PTRACE_O_TRACEEXIT) != 0) {
    MESSAGE("skipped: ptrace is not permitted here");
    return;
  }
  CHECK(next<ipc::WarningAnswer>(client).recording_ended);
  static_cast<void>(next<ipc::ClosedAnswer>(client));
  REQUIRE(service.wait_for_log("it is left behind"));
  const Error refused = refusal(client, record_request(kApu));
  CHECK(refused.code == ErrorCode::kBusy);
  CHECK(refused.message.find(std::to_string(recorder)) != std::string::npos);
  const auto status = ask<ipc::StatusReply>(client, ipc::StatusRequest{});
  REQUIRE(status.recorders.size() == 1);
  CHECK(status.recorders[0].state == "dead");
  CHECK(status.problems.size() == 1);
  static_cast<void>(ask<ipc::ReadyAnswer>(client, record_request(kDiscrete)));
  CHECK_FALSE(ask<ipc::ClosedAnswer>(client, ipc::StopOrder{}).cut);

  REQUIRE(::waitpid(recorder, nullptr, __WALL) == recorder);
  REQUIRE(::ptrace(PTRACE_DETACH, recorder, nullptr, nullptr) == 0);
  REQUIRE(service.wait_for_log("was killed by signal 9"));
  static_cast<void>(ask<ipc::ReadyAnswer>(client, record_request(kApu)));
}

}  // namespace
}  // namespace gputrace::service
