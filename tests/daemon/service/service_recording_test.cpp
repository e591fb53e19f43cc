// What a client of gputraced gets: recordings, marks, live windows, its files.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/daemon/service/running_service.h"

namespace gputrace::service {
namespace {

using test::ask;
using test::kApu;
using test::kDiscrete;
using test::next;
using test::open_session;
using test::record_request;
using test::refusal;
using test::RunningService;

TEST_CASE("a recording is started, stopped, fetched and done with") {
  const RunningService service;
  const ipc::ControlClient client = service.connect();
  const auto ready = ask<ipc::ReadyAnswer>(client, record_request());
  CHECK(ready.gpu_name == std::string("GPU ") + kApu);
  REQUIRE(ipc::is_session_name(ready.file));
  CHECK(ready.file.starts_with("game-"));
  CHECK(refusal(client, ipc::FetchRequest{ready.file}).code == ErrorCode::kBusy);
  CHECK(refusal(client, ipc::DoneRequest{ready.file}).code == ErrorCode::kBusy);
  CHECK(refusal(client, record_request()).code == ErrorCode::kBusy);

  const auto closed = ask<ipc::ClosedAnswer>(client, ipc::StopOrder{23, std::nullopt, false});
  CHECK(closed.file == ready.file);
  CHECK_FALSE(closed.cut);
  const auto listed = ask<ipc::SessionsReply>(client, ipc::SessionsRequest{});
  REQUIRE(listed.sessions.size() == 1);
  CHECK(listed.sessions[0].name == ready.file);
  CHECK_FALSE(listed.sessions[0].recording);

  const Result<ipc::ReceivedReply> fetched =
      client.ask(ipc::FetchRequest{ready.file}, test::kPatienceNs);
  REQUIRE_MESSAGE(fetched.has_value(), test::error_text(fetched));
  REQUIRE(fetched->fd);
  CHECK((::fcntl(fetched->fd.get(), F_GETFL) & O_ACCMODE) == O_RDONLY);
  const store::SessionReader session = open_session(service.sessions() / ready.file);
  REQUIRE(session.end().has_value());
  CHECK(session.end()->exit_code == 23);
  CHECK(test::ticks_of(session) == closed.samples);

  CHECK(ask<ipc::RemovedReply>(client, ipc::DoneRequest{ready.file}).name == ready.file);
  CHECK(std::filesystem::is_empty(service.sessions()));
  CHECK(refusal(client, ipc::FetchRequest{ready.file}).code == ErrorCode::kNotFound);
}

TEST_CASE("two clients on one GPU share a recorder at the higher rate, and each has its file") {
  const RunningService service;
  const ipc::ControlClient slow = service.connect();
  const ipc::ControlClient fast = service.connect();
  const auto slow_ready = ask<ipc::ReadyAnswer>(slow, record_request(kApu, 100));
  const auto fast_ready = ask<ipc::ReadyAnswer>(fast, record_request(kApu, 1000));
  CHECK(slow_ready.file != fast_ready.file);
  // Windows of a third show at which rate the loop runs.
  const ipc::ControlClient live = service.connect();
  REQUIRE(live.send(ipc::SubscribeRequest{kApu, 10}));
  REQUIRE(next<ipc::WindowAnswer>(live).registers.size() == 1);
  const auto window = next<ipc::WindowAnswer>(live);
  CHECK(window.registers.at(0).valid > 200);
  const auto status = ask<ipc::StatusReply>(live, ipc::StatusRequest{});
  REQUIRE(status.recorders.size() == 1);
  CHECK(status.recorders[0].pci == kApu);
  CHECK(status.recorders[0].state == "sampling");
  CHECK(status.recorders[0].rate_hz == 1000);
  CHECK(status.recorders[0].sessions == 3);
  CHECK(status.recordings == 2);
  CHECK(status.your_recordings == 2);

  const auto slow_closed = ask<ipc::ClosedAnswer>(slow, ipc::StopOrder{0, std::nullopt, false});
  const auto fast_closed = ask<ipc::ClosedAnswer>(fast, ipc::StopOrder{0, std::nullopt, false});
  CHECK(slow_closed.samples > 200);
  CHECK(fast_closed.samples > 200);
  const store::SessionReader session = open_session(service.sessions() / slow_ready.file);
  CHECK(session.segments().back().description.rate_hz == 1000);
}

TEST_CASE("a client that vanishes ends its recording cleanly") {
  const RunningService service;
  const ipc::ControlClient other = service.connect();
  std::string file;
  {
    const ipc::ControlClient client = service.connect();
    file = ask<ipc::ReadyAnswer>(client, record_request()).file;
  }
  REQUIRE(service.wait_for_log(file + " is complete and kept"));
  CHECK_FALSE(ask<ipc::SessionsReply>(other, ipc::SessionsRequest{}).sessions.at(0).recording);
  const store::SessionReader session = open_session(service.sessions() / file);
  REQUIRE(session.end().has_value());
  CHECK_FALSE(session.end()->exit_code);
  CHECK_FALSE(session.in_use());
}

TEST_CASE("a mark reaches every recording of the user, and what the kernel says of the GPU too") {
  const RunningService service;
  const ipc::ControlClient first = service.connect();
  const ipc::ControlClient second = service.connect();
  const ipc::ControlClient marker = service.connect();
  CHECK(ask<ipc::MarkedReply>(marker, ipc::MarkRequest{"too early"}).recordings == 0);
  const std::string file = ask<ipc::ReadyAnswer>(first, record_request()).file;
  const auto other = ask<ipc::ReadyAnswer>(second, record_request(kDiscrete));
  CHECK(ask<ipc::MarkedReply>(marker, ipc::MarkRequest{"the boss"}).recordings == 2);
  const std::string wedged = std::string("change@/devices/pci0000:00/") + kApu + "/drm/card1" +
                             '\0' + "ACTION=change" + '\0' + "SUBSYSTEM=drm" + '\0' +
                             "WEDGED=rebind" + '\0';
  service.send_uevent(wedged);
  REQUIRE(service.wait_for_log("hangs; it can be recovered by: rebind"));
  static_cast<void>(ask<ipc::ClosedAnswer>(first, ipc::StopOrder{}));
  const store::SessionReader session = open_session(service.sessions() / file);
  const std::vector<store::Event> events = session.events().value();
  const auto has = [&](const std::string& kind, const std::string& text) {
    return std::any_of(events.begin(), events.end(), [&](const store::Event& event) {
      return event.kind == kind && event.text.find(text) != std::string::npos;
    });
  };
  CHECK(has("mark", "the boss"));
  CHECK(has("device", "rebind"));
  CHECK_FALSE(has("mark", "too early"));
}

TEST_CASE(
    "points of a bench are in the recording of their connection alone, of the kind asked for") {
  const RunningService service;
  const ipc::ControlClient bench = service.connect();
  const ipc::ControlClient other = service.connect();
  const ipc::PointOrder begin{monotonic_now_ns(), "sweep.n16", R"({"kernel":"sweep.n16"})"};
  CHECK(test::refusal(bench, begin).code == ErrorCode::kInvalidArgument);  // records nothing
  ipc::RecordRequest request = record_request();
  request.purpose = ipc::Purpose::kBench;
  const std::string file = ask<ipc::ReadyAnswer>(bench, request).file;
  const std::string other_file = ask<ipc::ReadyAnswer>(other, record_request()).file;
  CHECK(ask<ipc::PointAnswer>(bench, begin).time_ns == begin.time_ns);
  const ipc::PointOrder early{1, "sweep.n16", std::nullopt};
  CHECK(ask<ipc::PointAnswer>(bench, early).time_ns.value_or(0) > begin.time_ns);
  static_cast<void>(ask<ipc::ClosedAnswer>(bench, ipc::StopOrder{}));
  static_cast<void>(ask<ipc::ClosedAnswer>(other, ipc::StopOrder{}));
  const auto count_points = [&](const store::SessionReader& session) {
    const std::vector<store::Event> events = session.events().value();
    return std::count_if(events.begin(), events.end(), [](const store::Event& event) {
      return event.kind == "point_begin" || event.kind == "point_end";
    });
  };
  const store::SessionReader session = open_session(service.sessions() / file);
  CHECK(session.description().kind == store::SessionKind::kBench);
  CHECK(count_points(session) == 2);
  const store::SessionReader neighbour = open_session(service.sessions() / other_file);
  CHECK(neighbour.description().kind == store::SessionKind::kRecording);
  CHECK(count_points(neighbour) == 0);
}

TEST_CASE("requests over a limit are refused with its name and a way out") {
  RunningService::Setup setup;
  setup.config.limits.recordings_per_user = 1;
  setup.config.limits.max_rate_hz = 2000;
  SUBCASE("rate") {
    const RunningService service(setup);
    const Error error = refusal(service.connect(), record_request(kApu, 5000));
    CHECK(error.code == ErrorCode::kInvalidArgument);
    CHECK(error.message.find("limits.max_rate_hz") != std::string::npos);
  }
  SUBCASE("recordings at once") {
    const RunningService service(setup);
    const ipc::ControlClient first = service.connect();
    static_cast<void>(ask<ipc::ReadyAnswer>(first, record_request()));
    const Error error = refusal(service.connect(), record_request());
    CHECK(error.code == ErrorCode::kBusy);
    CHECK(error.message.find("limits.recordings_per_user") != std::string::npos);
  }
  SUBCASE("bytes kept") {
    setup.config.limits.bytes_per_user = 1;
    const RunningService service(setup);
    const ipc::ControlClient client = service.connect();
    static_cast<void>(ask<ipc::ReadyAnswer>(client, record_request()));
    static_cast<void>(ask<ipc::ClosedAnswer>(client, ipc::StopOrder{}));
    const Error error = refusal(client, record_request());
    CHECK(error.code == ErrorCode::kNoSpace);
    CHECK(error.message.find("limits.bytes_per_user") != std::string::npos);
    CHECK(error.message.find("gputrace fetch") != std::string::npos);
  }
  SUBCASE("reserve of the disk") {
    setup.config.limits.reserve_bytes = std::uint64_t{1} << 60U;
    const RunningService service(setup);
    const Error error = refusal(service.connect(), record_request());
    CHECK(error.code == ErrorCode::kNoSpace);
    CHECK(error.message.find("limits.reserve_bytes") != std::string::npos);
  }
}

TEST_CASE("whoever comes and goes without end is refused new sessions for a while") {
  const RunningService service;
  std::optional<Error> refused;
  // A refusal comes before the answer to what was asked after it.
  for (int i = 0; i < 400 && !refused; ++i) {
    const ipc::ControlClient client = service.connect();
    REQUIRE(client.send(ipc::SubscribeRequest{kApu, 100}));
    REQUIRE(client.send(ipc::StatusRequest{}));
    const Result<std::optional<ipc::ReceivedReply>> reply = client.receive(test::kPatienceNs);
    REQUIRE_MESSAGE(reply.has_value(), test::error_text(reply));
    REQUIRE(reply->has_value());
    if (const auto* failed = std::get_if<ipc::FailedAnswer>(&(*reply)->reply)) {
      refused = failed->error;
    } else {
      CHECK(i < 300);
    }
  }
  REQUIRE(refused.has_value());
  CHECK(refused->code == ErrorCode::kBusy);
  CHECK(refused->message.find("more than 100 sessions of late") != std::string::npos);
}

TEST_CASE("a recording whose user has outgrown the limit is ended with a warning, and kept") {
  RunningService::Setup setup;
  setup.config.limits.bytes_per_user = 1;
  const RunningService service(setup);
  const ipc::ControlClient client = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(client, record_request()).file;
  const auto warning = next<ipc::WarningAnswer>(client);
  CHECK(warning.recording_ended);
  CHECK(warning.text.find("limits.bytes_per_user") != std::string::npos);
  CHECK_FALSE(next<ipc::ClosedAnswer>(client).cut);
  CHECK(open_session(service.sessions() / file).end().has_value());
}

TEST_CASE("requests that mean nothing are refused in words") {
  const RunningService service;
  const ipc::ControlClient client = service.connect();
  CHECK(refusal(client, ipc::StopOrder{}).code == ErrorCode::kInvalidArgument);
  CHECK(refusal(client, record_request("card77")).code == ErrorCode::kNotFound);
  ipc::RecordRequest request = record_request();
  request.source = "drm";
  request.rate_hz = 0.5;
  CHECK(refusal(client, request).code == ErrorCode::kInvalidArgument);
  CHECK(refusal(client, ipc::FetchRequest{"none.gputrace"}).code == ErrorCode::kNotFound);
}

TEST_CASE("GPUs and the state of the daemon are told without touching a device") {
  const RunningService service;
  const ipc::ControlClient client = service.connect();
  const auto gpus = ask<ipc::GpusReply>(client, ipc::GpusRequest{});
  REQUIRE(gpus.gpus.size() == 2);
  CHECK(gpus.gpus[0].pci == kDiscrete);
  CHECK(gpus.gpus[0].runtime_status == "suspended");
  const auto status = ask<ipc::StatusReply>(client, ipc::StatusRequest{});
  CHECK(status.daemon == "gputraced test");
  CHECK(status.recorders.empty());
  CHECK(status.free_bytes > 0);
  CHECK_FALSE(status.background);
  CHECK(status.problems.empty());
}

}  // namespace
}  // namespace gputrace::service
