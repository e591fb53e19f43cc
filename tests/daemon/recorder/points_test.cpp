// Points of a bench: kept as events, played by a simulated GPU, and answered.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "daemon/base/time.h"
#include "tests/daemon/recorder/shared_rig.h"

namespace gputrace::recorder {
namespace {

constexpr const char* kStimulus = R"({"kernel":"sweep.n16","threads":1048576})";

std::vector<store::Event> points_of(const store::SessionReader& session) {
  std::vector<store::Event> points = session.events().value();
  std::erase_if(points, [](const store::Event& event) { return !event.kind.starts_with("point"); });
  return points;
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("points are events with their own time, and the file is of the kind asked for") {
  const SharedRecorder recorder;
  const SessionClient client = recorder.attach();
  ipc::StartOrder order = recorder.order("a", 1000);
  order.purpose = ipc::Purpose::kRoofline;
  static_cast<void>(client.start(order));
  const std::int64_t begin_ns = monotonic_now_ns();
  client.send(ipc::PointOrder{begin_ns, "sweep.n16", kStimulus});
  CHECK(client.answer<ipc::PointAnswer>().time_ns == begin_ns);
  const std::int64_t end_ns = monotonic_now_ns();
  client.send(ipc::PointOrder{end_ns, "sweep.n16", std::nullopt});
  CHECK(client.answer<ipc::PointAnswer>().time_ns == end_ns);
  CHECK_FALSE(client.stop().cut);
  const store::SessionReader session = recorder.session("a");
  CHECK(session.description().kind == store::SessionKind::kRoofline);
  const std::vector<store::Event> points = points_of(session);
  REQUIRE(points.size() == 2);
  CHECK(points[0].kind == "point_begin");
  CHECK(points[0].time_ns == begin_ns);
  CHECK(points[0].text ==
        R"({"label":"sweep.n16","stimulus":{"kernel":"sweep.n16","threads":1048576}})");
  CHECK(points[1].kind == "point_end");
  CHECK(points[1].time_ns == end_ns);
  CHECK(points[1].text == R"({"label":"sweep.n16"})");
}

TEST_CASE("a point of the future is one of now") {
  const SharedRecorder recorder;
  const SessionClient client = recorder.attach();
  static_cast<void>(client.start(recorder.order("a", 1000)));
  const std::int64_t before_ns = monotonic_now_ns();
  client.send(ipc::PointOrder{before_ns + 3600 * kNsPerSecond, "x", kStimulus});
  const std::int64_t time_ns = client.answer<ipc::PointAnswer>().time_ns.value_or(0);
  CHECK(time_ns >= before_ns);
  CHECK(time_ns <= monotonic_now_ns());
}

TEST_CASE("a simulated GPU plays each point from its begin to its end, and may refuse one") {
  const test::TempDir folder;
  const auto played = folder.path() / "played";
  const SharedRecorder recorder(ReaderFactory([&](const GpuRequest&) -> Result<OpenedGpu> {
    OpenedGpu gpu = opened_gpu(two_registers());
    gpu.identity.simulated = true;
    gpu.play = [played](std::string_view stimulus) -> Status {
      if (stimulus.find("party") != std::string_view::npos) {
        return fail(ErrorCode::kInvalidArgument, "no such kernel: party");
      }
      std::ofstream(played, std::ios::app) << '[' << stimulus << ']';
      return {};
    };
    return gpu;
  }));
  const SessionClient client = recorder.attach();
  ipc::StartOrder order = recorder.order("a", 1000);
  order.purpose = ipc::Purpose::kBench;
  static_cast<void>(client.start(order));
  const std::int64_t sent_ns = monotonic_now_ns();
  client.send(ipc::PointOrder{sent_ns, "sweep.n16", kStimulus});
  const std::int64_t began_ns = client.answer<ipc::PointAnswer>().time_ns.value_or(0);
  CHECK(began_ns > sent_ns);  // when it was being played
  CHECK(content(played) == std::string("[") + kStimulus + "]");
  client.send(ipc::PointOrder{monotonic_now_ns(), "sweep.n16", std::nullopt});
  CHECK(client.answer<ipc::PointAnswer>().time_ns);
  CHECK(content(played) == std::string("[") + kStimulus + "][]");

  client.send(ipc::PointOrder{monotonic_now_ns(), "odd", R"({"kernel":"party"})"});
  CHECK(client.answer<ipc::WarningAnswer>().text.find("does not play odd: no such kernel") !=
        std::string::npos);
  CHECK_FALSE(client.answer<ipc::PointAnswer>().time_ns);
  CHECK_FALSE(client.stop().cut);
  const store::SessionReader session = recorder.session("a");
  const std::vector<store::Event> points = points_of(session);
  REQUIRE(points.size() == 2);  // the one that was refused is none
  CHECK(points[0].time_ns == began_ns);
}

}  // namespace
}  // namespace gputrace::recorder
