// Orders about the workload: its processes, and the GPU that it opened.
#include <doctest/doctest.h>

#include "tests/daemon/recorder/shared_rig.h"

namespace gputrace::recorder {
namespace {

constexpr const char* kFirst = "0000:c4:00.0";
constexpr const char* kOther = "0000:03:00.0";

/// Two GPUs; the first is the default one.
Result<OpenedGpu> open_one_of_two(const GpuRequest& request) {
  if (request.gpu == "0000:99:00.0") {
    return fail(ErrorCode::kNotFound, "no such GPU");
  }
  OpenedGpu gpu = opened_gpu(two_registers());
  const bool other = request.gpu == kOther;
  gpu.identity.pci = other ? kOther : kFirst;
  gpu.identity.name = other ? "the other GPU" : "the first GPU";
  return gpu;
}

std::string text_of(const store::SessionReader& session, const std::string& kind) {
  const auto events = session.events().value();
  for (const store::Event& event : events) {
    if (event.kind == kind) {
      return event.text;
    }
  }
  return "";
}

void check_switched(const store::SessionReader& session) {
  REQUIRE(session.segments().size() == 2);
  CHECK(session.segments()[0].description.gpu.pci == kFirst);
  CHECK(session.segments()[0].totals.ticks > 0);
  CHECK(session.segments()[1].description.gpu.pci == kOther);
  CHECK(session.segments()[1].description.gpu.name == "the other GPU");
  CHECK(session.segments()[1].description.reason ==
        std::string("the workload opened another GPU: ") + kOther);
  CHECK(session.segments()[1].totals.ticks > 0);
  CHECK(session.segments()[1].description.start_ns >= session.segments()[0].end_ns);
  const std::string event = text_of(session, "gpu_switch");
  CHECK(event.find("the other GPU") != std::string::npos);
  CHECK(event.find("the first GPU") != std::string::npos);
  std::vector<std::string> gpus;
  const auto sources = session.sensor_sources().value();
  for (const auto& source : sources) {
    gpus.push_back(source.source.gpu_pci.value_or(""));
    CHECK(source.totals.reads > 0);
  }
  CHECK(gpus == std::vector<std::string>{kFirst, kOther});
}

TEST_CASE("a recording moves to the GPU that its workload opened, once; others stay") {
  SharedRecorder recorder(open_one_of_two);
  const SessionClient moves = recorder.attach();
  const SessionClient stays = recorder.attach();
  REQUIRE(moves.start(recorder.order("moves", 1000)).gpu_name == "the first GPU");
  REQUIRE(stays.start(recorder.order("stays", 1000)).gpu_name == "the first GPU");
  recorder.wait_until([&](const auto&) {
    return recorder.session("moves").segments()[0].totals.ticks > 0 &&
           recorder.session("moves").sensor_sources().value().size() == 1;
  });
  moves.send(ipc::SwitchOrder{kFirst});  // it is recorded already
  moves.send(ipc::SwitchOrder{kOther});
  recorder.wait_until([&](const ipc::HealthReport& health) {
    const store::SessionReader session = recorder.session("moves");
    return health.sessions == 2 && session.segments().size() == 2 &&
           session.sensor_sources().value().size() == 2 &&
           session.sensor_sources().value()[1].totals.reads > 0;
  });
  moves.send(ipc::SwitchOrder{"0000:99:00.0"});
  CHECK(moves.answer<ipc::WarningAnswer>().text.find("only once") != std::string::npos);
  const ipc::ClosedAnswer closed = moves.stop();
  CHECK_FALSE(closed.cut);
  check_switched(recorder.session("moves"));
  CHECK_FALSE(stays.stop().cut);
  const store::SessionReader other = recorder.session("stays");
  REQUIRE(other.segments().size() == 1);
  CHECK(other.segments()[0].description.gpu.pci == kFirst);
  recorder.wait_until([](const ipc::HealthReport& health) { return health.sessions == 0; });
}

TEST_CASE("a recorder of one session moves too") {
  const test::TempDir folder;
  auto [here, there] = ipc::MessageSocket::make_pair().value();
  const pid_t pid = ::fork();
  GPUTRACE_CHECK(pid >= 0);
  if (pid == 0) {
    run_recorder(UniqueFd(::fcntl(there.fd(), F_DUPFD_CLOEXEC, 3)), {open_one_of_two, {}});
  }
  const SessionClient client(std::move(here));
  ipc::StartOrder order;
  order.source = "auto";
  order.rate_hz = 1000;
  order.file = (folder.path() / "a.gputrace").string();
  REQUIRE(client.start(order).gpu_name == "the first GPU");
  const auto session = [&] { return store::SessionReader::open(order.file).value(); };
  while (session().segments()[0].totals.ticks == 0) {
  }
  client.send(ipc::SwitchOrder{kOther});
  while (session().segments().size() < 2 || session().sensor_sources().value().size() < 2 ||
         session().sensor_sources().value()[1].totals.reads == 0) {
  }
  CHECK_FALSE(client.stop().cut);
  check_switched(session());
  REQUIRE(::waitpid(pid, nullptr, 0) == pid);
}

TEST_CASE("a GPU that cannot be opened is a warning, and the recording goes on as before") {
  SharedRecorder recorder(open_one_of_two);
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).gpu_name == "the first GPU");
  client.send(ipc::SwitchOrder{"0000:99:00.0"});
  const auto warning = client.answer<ipc::WarningAnswer>();
  CHECK(warning.text.find("no such GPU") != std::string::npos);
  CHECK(warning.text.find("goes on with the first GPU") != std::string::npos);
  const std::uint64_t then = recorder.session("a").segments()[0].totals.ticks;
  recorder.wait_until(
      [&](const auto&) { return recorder.session("a").segments()[0].totals.ticks > then; });
  CHECK_FALSE(client.stop().cut);
  CHECK(recorder.session("a").segments().size() == 1);
}

TEST_CASE("an opening that hangs keeps neither the recording nor its end") {
  SharedRecorder recorder([](const GpuRequest& request) -> Result<OpenedGpu> {
    if (request.gpu == kOther) {
      std::latch(1).wait();  // for good
    }
    return open_one_of_two(request);
  });
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).gpu_name == "the first GPU");
  client.send(ipc::SwitchOrder{kOther});
  recorder.wait_until(
      [&](const auto&) { return recorder.session("a").segments()[0].totals.ticks > 1000; });
  CHECK_FALSE(client.stop().cut);
  CHECK(recorder.session("a").segments().size() == 1);
}

TEST_CASE("a client that is closed holds no memory any more, if all processes could be read") {
  SharedRecorder recorder(open_one_of_two);
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).gpu_name == "the first GPU");
  ipc::ProcessesOrder processes;
  processes.time_ns = monotonic_now_ns();
  processes.clients.push_back({77, "game", kFirst, 5, {{"gfx", 1000}}, 4096, std::nullopt});
  client.send(processes);
  processes.time_ns += 500 * kNsPerMs;
  processes.clients.clear();
  processes.unreadable = 1;
  client.send(processes);
  processes.time_ns += 500 * kNsPerMs;
  processes.unreadable = 0;
  client.send(processes);
  CHECK_FALSE(client.stop().cut);
  const store::SessionReader session = recorder.session("a");
  std::vector<store::ClientUsage> usage;
  REQUIRE(session.for_each_client_usage([&](const store::ClientUsage& one) {
    usage.push_back(one);
    return Status();
  }));
  REQUIRE(usage.size() == 2);
  CHECK(usage[0].vram_bytes == 4096);
  CHECK(usage[1].time_ns == processes.time_ns);
  CHECK(usage[1].vram_bytes == 0);
  CHECK_FALSE(usage[1].gtt_bytes);
  CHECK(usage[1].engine_ns.at("gfx") == 1000);
}

TEST_CASE("what the workload's processes used is in the file; unreadable ones are told once") {
  SharedRecorder recorder(open_one_of_two);
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).gpu_name == "the first GPU");
  ipc::ProcessesOrder processes;
  processes.time_ns = monotonic_now_ns();
  processes.clients.push_back({77, "game", kFirst, 5, {{"gfx", 1000}, {"compute", 2}}, 4096, 512});
  processes.unreadable = 2;
  client.send(processes);
  processes.time_ns += 500 * kNsPerMs;
  processes.clients[0].engine_ns["gfx"] = 2000;
  processes.left_out = 3;
  client.send(processes);
  CHECK_FALSE(client.stop().cut);
  const store::SessionReader session = recorder.session("a");
  std::vector<store::ClientUsage> usage;
  REQUIRE(session.for_each_client_usage([&](const store::ClientUsage& one) {
    usage.push_back(one);
    return Status();
  }));
  REQUIRE(usage.size() == 2);
  CHECK(usage[0].pid == 77);
  CHECK(usage[0].process == "game");
  CHECK(usage[0].pdev == kFirst);
  CHECK(usage[0].client_id == 5);
  CHECK(usage[0].engine_ns.at("gfx") == 1000);
  CHECK(usage[0].vram_bytes == 4096);
  CHECK(usage[0].gtt_bytes == 512);
  CHECK(usage[1].engine_ns.at("gfx") == 2000);
  const std::vector<std::string> kinds = event_kinds(session);
  CHECK(std::count(kinds.begin(), kinds.end(), "processes_unreadable") == 1);
  CHECK(std::count(kinds.begin(), kinds.end(), "clients_left_out") == 1);
}

}  // namespace
}  // namespace gputrace::recorder
