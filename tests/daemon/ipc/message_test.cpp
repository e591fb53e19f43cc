#include "daemon/ipc/message.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

namespace gputrace::ipc {
namespace {

std::string every_byte() {
  std::string bytes;
  for (int value = 0; value < 256; ++value) {
    bytes.push_back(static_cast<char>(value));
  }
  return bytes;
}

StartOrder some_start() {
  return {"sim:780m:idle",
          "auto",
          1000,
          "/tmp/a.gputrace",
          OnExisting::kReplace,
          "a label",
          std::vector<std::string>{"game", "", "a,b", "--"}};
}

ClosedAnswer some_closed() {
  return {"/tmp/a.gputrace", true, 123, 4, 5, 6.5, 0.25, "disk full"};
}

WindowAnswer some_window() {
  WindowAnswer window{1'000'000'000, 2'000'000'000, {}};
  for (std::size_t reg = 0; reg < kMaxWindowRegisters; ++reg) {
    RegisterWindow counts{"GRBM_STATUS_SE" + std::to_string(reg), 990, 3, 7, {}};
    for (std::uint32_t bit = 0; bit < counts.busy.size(); ++bit) {
      counts.busy[bit] = std::numeric_limits<std::uint32_t>::max() - bit;
    }
    window.registers.push_back(counts);
  }
  return window;
}

ClientReading some_client(std::uint64_t client_id) {
  return {4712,      "game",      "0000:c4:00.0", client_id, {{"gfx", 107'322'799}, {"enc_1", 0}},
          2'117'632, std::nullopt};
}

std::vector<Order> all_orders() {
  StartOrder plain = some_start();
  plain.on_existing = OnExisting::kNumber;
  plain.label.reset();
  plain.command.reset();
  StartOrder background = plain;
  background.purpose = Purpose::kBackground;
  background.bursts = Bursts{0.1, 5};
  background.reserve_bytes = std::uint64_t{1} << 40U;
  StartOrder live = plain;
  live.purpose = Purpose::kLive;
  live.file.clear();
  StartOrder without_sensors = plain;
  without_sensors.sensor_rate_hz = 0;
  StartOrder roofline = plain;
  roofline.purpose = Purpose::kRoofline;
  StartOrder bench = plain;
  bench.purpose = Purpose::kBench;
  StartOrder calibration = plain;
  calibration.purpose = Purpose::kCalibration;
  return {some_start(),
          plain,
          roofline,
          bench,
          calibration,
          PointOrder{5, "sweep.n16", R"({"kernel":"sweep.n16"})"},
          PointOrder{6, "sweep.n16", std::nullopt},
          background,
          live,
          without_sensors,
          ProcessesOrder{},
          ProcessesOrder{5'000'000'000, {some_client(217), some_client(218)}, 3, 4},
          SwitchOrder{"10000:e1:00.7"},
          MarkOrder{12, "here"},
          MarkOrder{12, "unplugged", "device"},
          StopOrder{23, std::nullopt, false},
          StopOrder{std::nullopt, 11, false},
          StopOrder{std::nullopt, std::nullopt, true}};
}

std::vector<Answer> all_answers() {
  ReadyAnswer real;
  real.pci = "0000:c4:00.0";
  return {real,
          ReadyAnswer{
              "/tmp/a-2.gputrace", "AMD Radeon 780M", true, "idle", 1.5, {"one note", "another"}},
          FailedAnswer{{ErrorCode::kNoSpace, "cannot write x: No space left on device"}},
          WarningAnswer{"GRBM_STATUS3 was lost", true},
          some_closed(),
          ClosedAnswer{},
          some_window(),
          WindowAnswer{},
          PointAnswer{5},
          PointAnswer{}};
}

std::string encoded(const Order& order) {
  return encode(order).value();
}

TEST_CASE("every order comes back as it was sent") {
  for (const Order& order : all_orders()) {
    const Result<Order> back = decode_order(encoded(order));
    REQUIRE(back);
    CHECK(*back == order);
  }
}

TEST_CASE("every answer comes back as it was sent") {
  for (const Answer& answer : all_answers()) {
    const Result<Answer> back = decode_answer(encode(answer).value());
    REQUIRE(back);
    CHECK(*back == answer);
  }
}

TEST_CASE("a health report comes back as it was sent, and is no answer") {
  for (const HealthReport& report :
       {HealthReport{}, HealthReport{4, 20'000, 0, true}, HealthReport{1, 0, 12.5, false}}) {
    const std::string text = encode(report).value();
    CHECK(decode_health(text).value() == report);
    CHECK_FALSE(decode_answer(text));
  }
}

TEST_CASE("a health report that is not exactly one is refused with the reason") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "not a JSON object"},
      {R"({"type":"stop"})", "not a health report"},
      {R"({"type":"health","sessions":-1,"rate_hz":1,"stuck_s":0,"present":true})", "'sessions'"},
      {R"({"type":"health","sessions":1,"rate_hz":1,"stuck_s":0,"present":1})", "'present'"},
      {R"({"type":"health","sessions":1,"rate_hz":1,"stuck_s":0})", "'present' is missing"},
      {R"({"type":"health","sessions":1,"rate_hz":1,"stuck_s":0,"present":true,"x":0})",
       "unknown field"},
  };
  for (const auto& [message, reason] : cases) {
    CAPTURE(message);
    const Result<HealthReport> report = decode_health(message);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::kCorrupt);
    CHECK(report.error().message.find(reason) != std::string::npos);
  }
}

TEST_CASE("a start order with half a burst or an unknown purpose is refused") {
  const auto refused = [](std::string_view replaced, std::string_view by) {
    StartOrder order = some_start();
    order.purpose = Purpose::kBackground;
    order.bursts = Bursts{0.125, 5};
    std::string message = encoded(order);
    const std::size_t at = message.find(replaced);
    REQUIRE(at != std::string::npos);
    message.replace(at, replaced.size(), by);
    const Result<Order> result = decode_order(message);
    REQUIRE_FALSE(result);
    return result.error().message;
  };
  CHECK(refused(R"("burst_s":0.125)", R"("burst_s":null)").find("'burst_s'") != std::string::npos);
  CHECK(refused(R"("burst_every_s":5.0)", R"("burst_every_s":null)").find("'burst_every_s'") !=
        std::string::npos);
  CHECK(refused(R"("burst_s":0.125)", R"("burst_s":0)").find("'burst_s'") != std::string::npos);
  CHECK(refused("background", "foreground").find("'purpose'") != std::string::npos);
  CHECK(refused(R"("reserve_bytes":0)", R"("reserve_bytes":-1)").find("'reserve_bytes'") !=
        std::string::npos);
}

TEST_CASE("words of the command and paths are bytes, not text") {
  StartOrder order = some_start();
  order.file = "/tmp/" + every_byte();
  order.command = std::vector<std::string>{every_byte(), "\xff\xfe", ""};
  CHECK(std::get<StartOrder>(decode_order(encoded(order)).value()) == order);
}

TEST_CASE("a text that is not made of bytes is refused") {
  CHECK_FALSE(decode_order(R"({"type":"mark","time_ns":1,"text":"\u0100"})"));
  CHECK_FALSE(decode_order(R"({"type":"mark","time_ns":1,"text":"€"})"));
  CHECK(decode_order(R"({"type":"mark","time_ns":1,"text":"\u00ff","kind":"mark"})"));
}

TEST_CASE("what is not a known message is refused with a reason") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "not a JSON object"},
      {"stop", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{}", "no type"},
      {R"({"type":7})", "no type"},
      {R"({"type":"reboot"})", "unknown order"},
      {R"({"type":"ready"})", "unknown order"},
      {R"({"type":"stop","exit_code":0,"signal":null})", "field 'discard'"},
      {R"({"type":"stop","exit_code":256,"signal":null,"discard":false})", "field 'exit_code'"},
      {R"({"type":"stop","exit_code":-1,"signal":null,"discard":false})", "field 'exit_code'"},
      {R"({"type":"stop","exit_code":1.5,"signal":null,"discard":false})", "field 'exit_code'"},
      {R"({"type":"stop","exit_code":"1","signal":null,"discard":false})", "field 'exit_code'"},
      {R"({"type":"stop","exit_code":null,"signal":65,"discard":false})", "field 'signal'"},
      {R"({"type":"stop","exit_code":null,"signal":null,"discard":0})", "field 'discard'"},
      {R"({"type":"stop","exit_code":null,"signal":null,"discard":false,"x":1})", "unknown field"},
      {R"({"type":"mark","time_ns":18446744073709551615,"text":""})", "field 'time_ns'"},
      {R"({"type":"mark","time_ns":-5,"text":""})", "field 'time_ns'"},
      {R"({"type":"mark","time_ns":1,"text":null})", "field 'text'"},
      {R"({"type":"mark","time_ns":1})", "field 'text' is missing"},
      {R"({"type":"mark","time_ns":1,"text":"\ud800"})", "not a JSON object"},
      {"{\"type\":\"mark\",\"time_ns\":1,\"text\":\"\xff\"}", "not a JSON object"},
  };
  for (const auto& [message, reason] : cases) {
    CAPTURE(message);
    const Result<Order> order = decode_order(message);
    REQUIRE_FALSE(order);
    CHECK(order.error().code == ErrorCode::kCorrupt);
    CHECK(order.error().message.find(reason) != std::string::npos);
  }
}

TEST_CASE("a sensor rate is none, or one from 0.1 to 100 Hz") {
  StartOrder order = some_start();
  for (const double rate_hz : {0.0, 0.1, 10.0, 100.0}) {
    order.sensor_rate_hz = rate_hz;
    CHECK(std::get<StartOrder>(decode_order(encoded(order)).value()) == order);
  }
  for (const double rate_hz : {-1.0, 0.05, 100.5, std::numeric_limits<double>::quiet_NaN()}) {
    order.sensor_rate_hz = rate_hz;
    CHECK_FALSE(encode(Order(order)));
  }
}

TEST_CASE("an unknown way with existing files is refused") {
  std::string message = encoded(some_start());
  const std::size_t at = message.find("replace");
  REQUIRE(at != std::string::npos);
  message.replace(at, 7, "append");
  const Result<Order> order = decode_order(message);
  REQUIRE_FALSE(order);
  CHECK(order.error().message.find("on_existing") != std::string::npos);
}

TEST_CASE("an unknown error code is refused") {
  CHECK(decode_answer(R"({"type":"failed","code":"busy","message":"x"})"));
  CHECK_FALSE(decode_answer(R"({"type":"failed","code":"lazy","message":"x"})"));
}

TEST_CASE("a message over the size limit is refused before it is parsed") {
  const std::string message(kMaxMessageBytes + 1, ' ');
  const Result<Order> order = decode_order(message);
  REQUIRE_FALSE(order);
  CHECK(order.error().message.find("longer") != std::string::npos);
}

TEST_CASE("deep nesting is refused and harms nothing") {
  const std::string deep(kMaxMessageBytes, '[');
  CHECK_FALSE(decode_order(deep));
}

TEST_CASE("fields over their limits are not sent") {
  StartOrder order = some_start();
  order.file = std::string(kMaxPathBytes + 1, 'x');
  CHECK(encode(Order(order)).error().code == ErrorCode::kInvalidArgument);

  order = some_start();
  order.label = std::string(kMaxLabelBytes + 1, 'x');
  CHECK_FALSE(encode(Order(order)));

  order = some_start();
  order.command = std::vector<std::string>(kMaxCommandWords + 1, "x");
  CHECK_FALSE(encode(Order(order)));

  order = some_start();
  order.rate_hz = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(encode(Order(order)));
}

TEST_CASE("texts for people are shortened rather than lost") {
  const std::string text =
      encode(Answer(WarningAnswer{std::string(100'000, '\xe9'), false})).value();
  const auto warning = std::get<WarningAnswer>(decode_answer(text).value());
  CHECK(warning.text.size() == kMaxTextBytes);
  CHECK(warning.text.substr(kMaxTextBytes - 3) == "...");

  ReadyAnswer ready;
  ready.notes = std::vector<std::string>(100, std::string(10'000, 'n'));
  const auto back = std::get<ReadyAnswer>(decode_answer(encode(Answer(ready)).value()).value());
  CHECK(back.notes.size() == kMaxNotes);
}

TEST_CASE("a long command is shortened to what a message can hold") {
  const std::vector<std::string> plain{"game", "-f", ""};
  CHECK(shorten_command(plain) == plain);

  for (const auto& words :
       {std::vector<std::string>(5000, "x"), std::vector<std::string>(100, std::string(999, '\1')),
        std::vector<std::string>{"cat", std::string(120'000, '\xff')}}) {
    StartOrder order = some_start();
    order.command = shorten_command(words);
    const Result<std::string> message = encode(Order(order));
    REQUIRE(message);
    CHECK(message->size() <= kMaxMessageBytes);
    CHECK(order.command->front() == words.front());
    CHECK(order.command->back().find("words more)") != std::string::npos);
  }
}

TEST_CASE("damaged messages are refused or mean something, and never crash") {
  std::mt19937 random(20261129);
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::vector<Order> orders = all_orders();
    std::string message = encoded(orders[random() % orders.size()]);
    for (std::size_t damage = 1 + random() % 3; damage > 0; --damage) {
      const std::size_t at = random() % message.size();
      switch (random() % 3) {
        case 0:
          message[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          message.resize(at + 1);
          break;
        default:
          message.insert(at, 1, static_cast<char>(random() % 256));
      }
    }
    const Result<Order> order = decode_order(message);
    refused += order ? 0 : 1;
    if (order) {
      CHECK(encode(*order));
    }
    CHECK_FALSE(decode_answer(message));
  }
  CHECK(refused > 10'000);
}

}  // namespace
}  // namespace gputrace::ipc
