// What the kernel tells of the workload's processes, as a message; and the switch of the GPU.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "daemon/ipc/message.h"

namespace gputrace::ipc {
namespace {

ClientReading some_client(std::uint64_t client_id) {
  return {4712,      "game",      "0000:c4:00.0", client_id, {{"gfx", 107'322'799}, {"enc_1", 0}},
          2'117'632, std::nullopt};
}

std::string encoded(const Order& order) {
  return encode(order).value();
}

TEST_CASE("a reading of processes that is not exactly one is refused with the reason") {
  const std::string good = encoded(ProcessesOrder{1, {some_client(7)}, 0, 0});
  const std::vector<std::array<std::string, 3>> cases{
      {R"("pid":4712)", R"("pid":0)", "'pid'"},
      {R"("pid":4712)", R"("pid":2147483648)", "'pid'"},
      {"0000:c4:00.0", "0000:C4:00.0", "'pdev' is not a PCI address"},
      {"0000:c4:00.0", "card1", "'pdev' is not a PCI address"},
      {"0000:c4:00.0", "0000:c4:00.8", "'pdev' is not a PCI address"},
      {R"("client_id":7)", R"("client_id":-7)", "'client_id'"},
      {R"("client_id":7)", R"("client_id":9223372036854775808)", "'client_id'"},
      {R"("gfx")", R"("gfx-1")", "'engine_ns' has a name that is none"},
      {R"("gfx")", R"("")", "'engine_ns' has a name that is none"},
      {"107322799", "1.5", "'engine_ns' field 'gfx'"},
      {R"({"enc_1":0,"gfx":107322799})", "[1]", "'engine_ns'"},
      {R"("vram_bytes":2117632)", R"("vram_bytes":"a")", "'vram_bytes'"},
      {R"("gtt_bytes":null,)", "", "'gtt_bytes' is missing"},
      {R"("unreadable":0)", R"("unreadable":4294967296)", "'unreadable'"},
  };
  for (const auto& [part, by, reason] : cases) {
    std::string message = good;
    CAPTURE(by);
    const std::size_t at = message.find(part);
    REQUIRE(at != std::string::npos);
    message.replace(at, part.size(), by);
    const Result<Order> order = decode_order(message);
    REQUIRE_FALSE(order);
    CHECK(order.error().message.find(reason) != std::string::npos);
  }
}

TEST_CASE("engines over the limit are refused, and clients over it counted as left out") {
  ProcessesOrder many;
  for (std::uint64_t id = 0; id < kMaxClients + 5; ++id) {
    many.clients.push_back(some_client(id));
  }
  many.left_out = 2;
  const auto sent = std::get<ProcessesOrder>(decode_order(encoded(many)).value());
  CHECK(sent.clients.size() == kMaxClients);
  CHECK(sent.left_out == 7);

  ProcessesOrder engines{1, {some_client(1)}, 0, 0};
  for (std::size_t i = 0; i <= kMaxEngines; ++i) {
    engines.clients[0].engine_ns["ring_" + std::to_string(i)] = i;
  }
  CHECK_FALSE(encode(Order(engines)));
}

TEST_CASE("clients that do not fit one message are counted as left out, and long names are cut") {
  ProcessesOrder order;
  for (std::uint64_t id = 0; id < kMaxClients; ++id) {
    ClientReading client = some_client(id);
    client.process = std::string(100, '\1');
    for (std::size_t i = 0; client.engine_ns.size() < kMaxEngines; ++i) {
      client.engine_ns[std::to_string(i) + std::string(kMaxClientNameBytes - 2, 'x')] = i;
    }
    order.clients.push_back(client);
  }
  const std::string message = encoded(order);
  CHECK(message.size() <= kMaxMessageBytes);
  const auto sent = std::get<ProcessesOrder>(decode_order(message).value());
  CHECK(sent.clients.size() > kMaxClients / 4);
  CHECK(sent.clients.size() + sent.left_out == kMaxClients);
  CHECK(sent.clients.front().process.size() == kMaxClientNameBytes);
}

TEST_CASE("a switch to what is no PCI address is refused") {
  for (const char* gpu :
       {"", "0", "card1", "0000:c4:00", "000:c4:00.0", "0000:c4:00.0 ", "0000:g4:00.0"}) {
    CAPTURE(gpu);
    CHECK_FALSE(encode(Order(SwitchOrder{gpu})));
  }
}

}  // namespace
}  // namespace gputrace::ipc
