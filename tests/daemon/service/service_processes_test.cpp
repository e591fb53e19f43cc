// What a client says of its processes, and the GPU that its recording goes on with.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "tests/daemon/service/running_service.h"

namespace gputrace::service {
namespace {

using test::ask;
using test::kApu;
using test::kDiscrete;
using test::next;
using test::open_session;
using test::record_request;
using test::RunningService;

ipc::ProcessesOrder reading(std::uint64_t gfx_ns, std::int64_t time_ns) {
  return {time_ns, {{4712, "game", kApu, 217, {{"gfx", gfx_ns}}}}, 0, 0};
}

std::vector<store::ClientUsage> usage_of(const store::SessionReader& session) {
  std::vector<store::ClientUsage> all;
  REQUIRE(session.for_each_client_usage([&all](const store::ClientUsage& usage) {
    all.push_back(usage);
    return Status();
  }));
  return all;
}

/// Requests that nothing answers but a refusal.
Error refused(const ipc::ControlClient& client, const ipc::Request& request) {
  REQUIRE(client.send(request));
  const Result<std::optional<ipc::ReceivedReply>> reply = client.receive(test::kPatienceNs);
  REQUIRE_MESSAGE(reply.has_value(), test::error_text(reply));
  REQUIRE(reply->has_value());
  const auto* failed = std::get_if<ipc::FailedAnswer>(&(*reply)->reply);
  REQUIRE(failed != nullptr);
  return failed->error;
}

TEST_CASE("what a client says of its processes is in its own recording and in no other") {
  const RunningService service;
  const ipc::ControlClient first = service.connect();
  const ipc::ControlClient second = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(first, record_request()).file;
  const std::string other = ask<ipc::ReadyAnswer>(second, record_request()).file;
  const std::int64_t now_ns = monotonic_now_ns();
  REQUIRE(first.send(reading(100, now_ns)));
  REQUIRE(first.send(reading(200, now_ns + 1)));
  static_cast<void>(ask<ipc::ClosedAnswer>(first, ipc::StopOrder{0, std::nullopt, false}));
  static_cast<void>(ask<ipc::ClosedAnswer>(second, ipc::StopOrder{0, std::nullopt, false}));
  const std::vector<store::ClientUsage> usage = usage_of(open_session(service.sessions() / file));
  REQUIRE(usage.size() == 2);
  CHECK(usage[0].time_ns == now_ns);
  CHECK(usage[0].process == "game");
  CHECK(usage[0].pdev == kApu);
  CHECK(usage[0].client_id == 217);
  CHECK(usage[1].engine_ns.at("gfx") == 200);
  CHECK(usage_of(open_session(service.sessions() / other)).empty());
}

TEST_CASE("more than four readings a second are let fall, and a time that cannot be is mended") {
  const RunningService service;
  const ipc::ControlClient client = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(client, record_request()).file;
  const std::int64_t begin_ns = monotonic_now_ns();
  for (std::uint64_t i = 1; i <= 50; ++i) {
    REQUIRE(client.send(reading(i, begin_ns + 3600 * kNsPerSecond)));
  }
  static_cast<void>(ask<ipc::ClosedAnswer>(client, ipc::StopOrder{0, std::nullopt, false}));
  const std::int64_t end_ns = monotonic_now_ns();
  const std::vector<store::ClientUsage> usage = usage_of(open_session(service.sessions() / file));
  REQUIRE_FALSE(usage.empty());
  // On a machine so slow that the requests take seconds some more come through.
  CHECK(usage.size() <= 4 * static_cast<std::size_t>(1 + (end_ns - begin_ns) / kNsPerSecond));
  for (const store::ClientUsage& row : usage) {
    CHECK(row.time_ns >= begin_ns);
    CHECK(row.time_ns <= end_ns);
  }
}

TEST_CASE("a recording goes on with another GPU of the machine, once") {
  const RunningService service;
  const ipc::ControlClient client = service.connect();
  const std::string file = ask<ipc::ReadyAnswer>(client, record_request()).file;
  const Error unknown = refused(client, ipc::SwitchOrder{"0000:7f:00.0"});
  CHECK(unknown.code == ErrorCode::kNotFound);
  CHECK(unknown.message.find("0000:7f:00.0") != std::string::npos);
  REQUIRE(client.send(ipc::SwitchOrder{kDiscrete}));
  const Error again = refused(client, ipc::SwitchOrder{kApu});
  CHECK(again.code == ErrorCode::kInvalidArgument);
  REQUIRE(service.wait_for_log("goes on with"));
  // The reader of the other GPU is open once it has left its sign.
  REQUIRE(test::wait_for_change(service.folder(), [&] {
    return std::filesystem::exists(service.folder() / (std::string("recorder-") + kDiscrete));
  }));
  const auto closed = ask<ipc::ClosedAnswer>(client, ipc::StopOrder{0, std::nullopt, false});
  CHECK_FALSE(closed.cut);
  const store::SessionReader session = open_session(service.sessions() / file);
  CHECK(session.segments().front().description.gpu.pci == kApu);
  CHECK(session.end().has_value());
}

TEST_CASE("who records nothing, or only watches, has no processes and no GPU to change") {
  const RunningService service;
  const ipc::ControlClient idle = service.connect();
  CHECK(refused(idle, reading(1, 1)).code == ErrorCode::kInvalidArgument);
  CHECK(refused(idle, ipc::SwitchOrder{kApu}).code == ErrorCode::kInvalidArgument);
  const ipc::ControlClient recording = service.connect();
  static_cast<void>(ask<ipc::ReadyAnswer>(recording, record_request()));
  CHECK(refused(idle, ipc::SwitchOrder{kDiscrete}).code == ErrorCode::kInvalidArgument);

  const ipc::ControlClient live = service.connect();
  REQUIRE(live.send(ipc::SubscribeRequest{kApu, 100}));
  REQUIRE(next<ipc::WindowAnswer>(live).registers.size() == 1);
  REQUIRE(live.send(ipc::SwitchOrder{kDiscrete}));
  for (;;) {
    const auto reply = live.receive(test::kPatienceNs);
    REQUIRE(reply.has_value());
    REQUIRE(reply->has_value());
    if (const auto* failed = std::get_if<ipc::FailedAnswer>(&(*reply)->reply)) {
      CHECK(failed->error.code == ErrorCode::kInvalidArgument);
      return;
    }
  }
}

}  // namespace
}  // namespace gputrace::service
