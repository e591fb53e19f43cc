#include "daemon/ipc/control_message.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_text.h"

namespace gputrace::ipc {
namespace {

using test::error_text;

RecordRequest some_record() {
  return {"0000:c4:00.0", "auto", 1000, "a label",
          std::vector<std::string>{"game", "", "a,b", "\xff\xfe", "--"}};
}

std::vector<Request> all_requests() {
  return {HelloRequest{kProtocolVersion, "gputrace 0.1.0"},
          HelloRequest{kProtocolVersion + 1, ""},
          GpusRequest{},
          StatusRequest{},
          some_record(),
          RecordRequest{"", "bar", 20'000, std::nullopt, std::nullopt},
          RecordRequest{"", "auto", 1000, std::nullopt, std::nullopt, 0},
          RecordRequest{"", "auto", 1000, std::nullopt, std::nullopt, 2.5},
          RecordRequest{"", "auto", 1000, std::nullopt, std::nullopt, 10, Purpose::kCalibration},
          PointOrder{5, "sweep.n16", R"({"kernel":"sweep.n16"})"},
          MarkRequest{"boss fight"},
          StopOrder{0, std::nullopt, false},
          StopOrder{std::nullopt, 9, true},
          ProcessesOrder{1, {{7, "game", "0000:c4:00.0", 217, {{"gfx", 9}}}}, 1, 0},
          SwitchOrder{"0000:03:00.0"},
          SubscribeRequest{"1", 100},
          SessionsRequest{},
          FetchRequest{"a.gputrace"},
          DoneRequest{"a-2.gputrace"}};
}

StatusReply some_status() {
  StatusReply status;
  status.daemon = "gputraced 0.1.0";
  status.uptime_s = 12.5;
  status.recorders = {{"AMD Radeon 780M", "0000:c4:00.0", "sampling", 1000, 2},
                      {"AMD Radeon RX 7600", "0000:03:00.0", "gone", 0, 0}};
  status.recordings = 2;
  status.your_recordings = 1;
  status.your_bytes = 123'456'789'012;
  status.your_byte_limit = std::uint64_t{2} << 30U;
  status.free_bytes = std::uint64_t{1} << 40U;
  status.reserve_bytes = std::uint64_t{1} << 30U;
  status.background = true;
  status.cpu_s = 0.25;
  status.problems = {"the disk is nearly full"};
  return status;
}

std::vector<Reply> all_replies() {
  ReadyAnswer ready;
  ready.file = "game-20261130-063000.gputrace";
  ready.gpu_name = "AMD Radeon 780M";
  ClosedAnswer closed;
  closed.file = ready.file;
  closed.samples = 5;
  return {HelloReply{kProtocolVersion, "gputraced 0.1.0"},
          HelloReply{7, ""},
          GpusReply{},
          GpusReply{{{"AMD Radeon 780M", "0000:c4:00.0", "card1", "", "active"}}},
          StatusReply{},
          some_status(),
          MarkedReply{3},
          SessionsReply{{{"a.gputrace", 4096, 1'764'460'800'000'000'000, true}}, 4},
          SessionFileReply{"a.gputrace", 4096},
          RemovedReply{"a.gputrace"},
          ready,
          FailedAnswer{{ErrorCode::kBusy, "busy"}},
          WarningAnswer{"lost", true},
          closed,
          ClosedAnswer{},
          WindowAnswer{1, 2, {RegisterWindow{"GRBM_STATUS", 9, 0, 1, {}}}},
          PointAnswer{7}};
}

TEST_CASE("every request comes back as it was sent") {
  for (const Request& request : all_requests()) {
    const Result<std::string> text = encode_request(request);
    REQUIRE_MESSAGE(text, error_text(text));
    CAPTURE(*text);
    CHECK(text->find("\"type\":\"" + std::string(request_name(request)) + "\"") !=
          std::string::npos);
    const Result<Request> back = decode_request(*text);
    REQUIRE_MESSAGE(back, error_text(back));
    CHECK(*back == request);
  }
}

TEST_CASE("every reply comes back as it was sent") {
  for (const Reply& reply : all_replies()) {
    const Result<std::string> text = encode_reply(reply);
    REQUIRE_MESSAGE(text, error_text(text));
    CAPTURE(*text);
    CHECK(text->find("\"type\":\"" + std::string(reply_name(reply)) + "\"") != std::string::npos);
    const Result<Reply> back = decode_reply(*text);
    REQUIRE_MESSAGE(back, error_text(back));
    CHECK(*back == reply);
  }
}

TEST_CASE("what is not a known request is refused with a reason") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "not a JSON object"},
      {"null", "not a JSON object"},
      {R"(["hello"])", "not a JSON object"},
      {R"({"version":1})", "no type"},
      {R"({"type":["hello"]})", "no type"},
      {R"({"type":"reboot"})", "unknown request"},
      {R"({"type":"start"})", "unknown request"},
      {R"({"type":"gpus","x":1})", "unknown field"},
      {R"({"type":"hello","version":1})", "field 'client' is missing"},
      {R"({"type":"hello","version":"1","client":"x"})", "field 'version'"},
      {R"({"type":"hello","version":-1,"client":"x"})", "field 'version'"},
      {R"({"type":"hello","version":1,"client":"a\nb"})", "printable"},
      {R"({"type":"hello","version":1,"client":"\u001b[2J"})", "printable"},
      {R"({"type":"hello","version":1,"client":"\u00e9"})", "printable"},
      {R"({"type":"mark"})", "field 'text' is missing"},
      {R"({"type":"mark","text":7})", "field 'text'"},
      {R"({"type":"mark","text":"x","time_ns":1})", "unknown field"},
      {R"({"type":"subscribe","gpu":"0","rate_hz":null})", "field 'rate_hz'"},
      {R"({"type":"subscribe","gpu":"0","rate_hz":-1})", "field 'rate_hz'"},
      {R"({"type":"subscribe","gpu":"0","rate_hz":1e7})", "field 'rate_hz'"},
      {R"({"type":"subscribe","gpu":"0","rate_hz":1e999})", "not a JSON object"},
      {R"({"type":"subscribe","gpu":"0","rate_hz":NaN})", "not a JSON object"},
      {R"({"type":"record","gpu":"","source":"mmap","rate_hz":1,"sensor_rate_hz":0,"purpose":"bench","label":null,"command":null})",
       "field 'source'"},
      {R"({"type":"record","gpu":"","source":"drm","rate_hz":1,"sensor_rate_hz":0,"purpose":"bench","label":null,"command":"x"})",
       "field 'command'"},
      {R"({"type":"record","gpu":"","source":"drm","rate_hz":1,"sensor_rate_hz":0,"label":null,"command":null})",
       "field 'purpose' is missing"},
      {R"({"type":"record","gpu":"","source":"drm","rate_hz":1,"sensor_rate_hz":0,"purpose":"live","label":null,"command":null})",
       "field 'purpose'"},
      {R"({"type":"record","gpu":"","source":"drm","rate_hz":1,"sensor_rate_hz":0,"purpose":"background","label":null,"command":null})",
       "field 'purpose'"},
      {R"({"type":"point","time_ns":-1,"label":"x","stimulus":null})", "field 'time_ns'"},
      {R"({"type":"point","time_ns":1,"label":"a\u001bb","stimulus":null})", "field 'label'"},
      {R"({"type":"point","time_ns":1,"label":"x"})", "field 'stimulus' is missing"},
      {R"({"type":"point","time_ns":1,"label":"x","stimulus":{}})", "field 'stimulus'"},
      {R"({"type":"point","time_ns":1,"label":"x","stimulus":"[]"})", "field 'stimulus'"},
      {R"({"type":"point","time_ns":1,"label":"x","stimulus":"{"})", "field 'stimulus'"},
      {R"({"type":"point","time_ns":1,"label":"x","stimulus":"{\"a\":[[[[]]]]}"})",
       "field 'stimulus'"},
      {R"({"type":"record","gpu":"","source":"drm","rate_hz":1,"sensor_rate_hz":0,"purpose":"bench","label":null,"command":[[]]})",
       "field 'command'"},
      {R"({"type":"record","gpu":"","source":"drm","rate_hz":1,"sensor_rate_hz":0,"purpose":"bench","label":null})",
       "field 'command'"},
      {R"({"type":"record","gpu":"","source":"drm","rate_hz":1,"sensor_rate_hz":0,"purpose":"bench","label":null,"command":null,)"
       R"("file":"/etc/shadow"})",
       "unknown field"},
      {R"({"type":"stop","exit_code":0,"signal":null})", "field 'discard'"},
      {R"({"type":"fetch","name":"a"})", "not the name of a session"},
      {R"({"type":"done","name":"../a.gputrace"})", "not the name of a session"},
      {R"({"type":"done","name":null})", "name"},
  };
  for (const auto& [message, reason] : cases) {
    CAPTURE(message);
    const Result<Request> request = decode_request(message);
    REQUIRE_FALSE(request);
    CHECK(request.error().code == ErrorCode::kCorrupt);
    CHECK_MESSAGE(request.error().message.find(reason) != std::string::npos,
                  request.error().message);
  }
}

TEST_CASE("what is not a known reply is refused with a reason") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"type":"record"})", "unknown"},
      {R"({"type":"marked","recordings":-1})", "field 'recordings'"},
      {R"({"type":"marked","recordings":4294967296})", "field 'recordings'"},
      {R"({"type":"removed","name":"a/b.gputrace"})", "field 'name'"},
      {R"({"type":"session_file","name":"a.gputrace","bytes":1.5})", "field 'bytes'"},
      {R"({"type":"sessions","sessions":[{"name":"x"}],"left_out":0})", "field 'sessions'"},
      {R"({"type":"gpus","gpus":[1]})", "field 'gpus'"},
      {R"({"type":"hello","version":1,"daemon":null})", "field 'daemon'"},
      {R"({"type":"ready","file":"/tmp/a.gputrace","gpu_name":"","simulated":false,)"
       R"("scenario":"","load_seconds":0,"pci":"","notes":[]})",
       "field 'file'"},
  };
  for (const auto& [message, reason] : cases) {
    CAPTURE(message);
    const Result<Reply> reply = decode_reply(message);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::kCorrupt);
    CHECK_MESSAGE(reply.error().message.find(reason) != std::string::npos, reply.error().message);
  }
}

TEST_CASE("hello of another version is understood whatever else it says") {
  const auto request =
      decode_request(R"({"type":"hello","version":2,"client":["x"],"wants":{"a":1}})");
  REQUIRE(request);
  CHECK(*request == Request(HelloRequest{2, ""}));
  const auto reply = decode_reply(R"({"type":"hello","version":2})");
  REQUIRE(reply);
  CHECK(*reply == Reply(HelloReply{2, ""}));
}

TEST_CASE("nesting is limited before it is parsed, inside texts it is none") {
  for (const char open : {'[', '{'}) {
    const auto deep = decode_request(std::string(kMaxMessageBytes, open));
    REQUIRE_FALSE(deep);
    CHECK(deep.error().message.find("nested too deeply") != std::string::npos);
  }
  std::string in_keys;
  while (in_keys.size() + 8 < kMaxMessageBytes) {
    in_keys += R"({"a":)";
  }
  CHECK_FALSE(decode_request(in_keys));
  const Request mark = MarkRequest{std::string(1000, '[') + "\\\"" + std::string(1000, '{')};
  CHECK(decode_request(encode_request(mark).value()).value() == mark);
}

TEST_CASE("a message over the size limit is refused before it is parsed") {
  CHECK_FALSE(decode_request(std::string(kMaxMessageBytes + 1, ' ')));
  CHECK_FALSE(decode_reply(std::string(kMaxMessageBytes + 1, ' ')));
}

TEST_CASE("requests over their limits are not sent") {
  const auto refused = [](const Request& request) {
    const Result<std::string> text = encode_request(request);
    return !text && text.error().code == ErrorCode::kInvalidArgument;
  };
  CHECK(refused(MarkRequest{std::string(kMaxTextBytes + 1, 'x')}));
  CHECK_FALSE(refused(MarkRequest{std::string(kMaxTextBytes, '\xff')}));
  CHECK(refused(HelloRequest{kProtocolVersion, std::string(kMaxNameBytes + 1, 'x')}));
  CHECK(refused(SubscribeRequest{std::string(kMaxNameBytes + 1, 'x'), 1}));
  CHECK(refused(SubscribeRequest{"", std::numeric_limits<double>::quiet_NaN()}));
  CHECK(refused(SubscribeRequest{"", std::numeric_limits<double>::infinity()}));
  CHECK(refused(FetchRequest{"/etc/shadow"}));
  CHECK(refused(StopOrder{300, std::nullopt, false}));
  RecordRequest record = some_record();
  record.label = std::string(kMaxLabelBytes + 1, 'x');
  CHECK(refused(record));
  record = some_record();
  record.command = std::vector<std::string>(kMaxCommandWords + 1, "x");
  CHECK(refused(record));
  record.command = shorten_command(*record.command);
  CHECK_FALSE(refused(record));
}

TEST_CASE("the longest replies fit a message") {
  const std::string worst(10'000, '\1');  // six bytes each in JSON
  const std::string word(64, '\1');
  GpusReply gpus;
  gpus.gpus.assign(kMaxGpus, GpuEntry{worst, word, word, word, word});
  CHECK(encode_reply(gpus));
  StatusReply status = some_status();
  status.daemon = worst;
  status.recorders.assign(kMaxGpus, RecorderEntry{worst, word, "stuck", 1e6, 4'000'000'000});
  status.problems.assign(100, worst);
  const Result<std::string> text = encode_reply(status);
  REQUIRE_MESSAGE(text, error_text(text));
  CHECK(std::get<StatusReply>(decode_reply(*text).value()).problems.size() == kMaxProblems);
}

TEST_CASE("sessions over the limit are counted, the newest are listed") {
  SessionsReply sessions;
  sessions.left_out = 5;
  for (std::size_t i = 0; i < kMaxSessionsListed + 10; ++i) {
    const std::string number = std::to_string(i);
    const std::string fill(kMaxSessionName - number.size() - 9, 'x');
    sessions.sessions.push_back(
        {number + fill + ".gputrace", std::uint64_t{1} << 62U, 1'764'460'800'000'000'000, true});
  }
  const Result<std::string> text = encode_reply(sessions);
  REQUIRE_MESSAGE(text, error_text(text));
  const auto back = std::get<SessionsReply>(decode_reply(*text).value());
  REQUIRE(back.sessions.size() == kMaxSessionsListed);
  CHECK(back.sessions.front() == sessions.sessions.front());
  CHECK(back.left_out == 15);
}

TEST_CASE("the name of a session can only be a file in its folder") {
  for (const char* good : {"a.gputrace", "game-20261130-063000.gputrace", "+a_B-9.c.gputrace",
                           "_.gputrace", "a..gputrace"}) {
    CHECK_MESSAGE(is_session_name(good), good);
  }
  for (const char* bad : {"", ".gputrace", "a", "a.gputrac", "a.gputrace/", "../a.gputrace",
                          "/a.gputrace", "a/b.gputrace", "-a.gputrace", ".a.gputrace",
                          "a b.gputrace", "a\n.gputrace", "\xe9.gputrace", "a.gputrace-wal"}) {
    CHECK_FALSE_MESSAGE(is_session_name(bad), bad);
  }
  CHECK_FALSE(is_session_name(std::string_view("a\0.gputrace", 11)));
  CHECK(is_session_name(std::string(kMaxSessionName - 9, 'a') + ".gputrace"));
  CHECK_FALSE(is_session_name(std::string(kMaxSessionName - 8, 'a') + ".gputrace"));
}

TEST_CASE("damaged requests are refused or mean something, and never crash") {
  std::mt19937 random(20261130);
  const std::vector<Request> requests = all_requests();
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string message = encode_request(requests[random() % requests.size()]).value();
    for (std::size_t damage = 1 + random() % 3; damage > 0; --damage) {
      const std::size_t at = random() % message.size();
      if (random() % 2 == 0) {
        message[at] = static_cast<char>(random() % 256);
      } else {
        message.insert(at, 1, static_cast<char>(random() % 256));
      }
    }
    const Result<Request> request = decode_request(message);
    refused += request ? 0 : 1;
    if (request) {
      const Result<std::string> again = encode_request(*request);
      REQUIRE_MESSAGE(again, message);
      CHECK(decode_request(*again).value() == *request);
    }
  }
  CHECK(refused > 10'000);
}

}  // namespace
}  // namespace gputrace::ipc
