// What the daemon sends to a client: a reply is refused, or means one thing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/ipc/control_message.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gputrace;
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const Result<ipc::Reply> reply = ipc::decode_reply(message);
  if (!reply) {
    GPUTRACE_CHECK(reply.error().code == ErrorCode::kCorrupt && !reply.error().message.empty());
    return 0;
  }
  const Result<std::string> again = ipc::encode_reply(*reply);
  GPUTRACE_CHECK(again.has_value() && again->size() <= ipc::kMaxMessageBytes);
  const Result<ipc::Reply> back = ipc::decode_reply(*again);
  GPUTRACE_CHECK(back.has_value() && *back == *reply);
  return 0;
}
