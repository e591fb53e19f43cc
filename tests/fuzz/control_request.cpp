// What a client sends to the daemon: a request is refused, or means one thing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/ipc/control_message.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gputrace;
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const Result<ipc::Request> request = ipc::decode_request(message);
  if (!request) {
    GPUTRACE_CHECK(request.error().code == ErrorCode::kCorrupt && !request.error().message.empty());
    return 0;
  }
  const Result<std::string> again = ipc::encode_request(*request);
  GPUTRACE_CHECK(again.has_value() && again->size() <= ipc::kMaxMessageBytes);
  const Result<ipc::Request> back = ipc::decode_request(*again);
  GPUTRACE_CHECK(back.has_value() && *back == *request);
  return 0;
}
