// The examples of docs/protocol.md are messages that the program accepts.
#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "daemon/ipc/control_message.h"
#include "tests/support/error_text.h"

namespace gputrace::ipc {
namespace {

using test::error_text;

TEST_CASE("every example of the protocol's documentation decodes, and none is missing") {
  std::ifstream file(GPUTRACE_PROTOCOL_DOC);
  REQUIRE(file);
  std::set<std::string_view> requests;
  std::set<std::string_view> replies;
  std::string line;
  while (std::getline(file, line)) {
    CAPTURE(line);
    if (line.starts_with("    > ")) {
      const Result<Request> request = decode_request(std::string_view(line).substr(6));
      REQUIRE_MESSAGE(request, error_text(request));
      requests.insert(request_name(*request));
    } else if (line.starts_with("    < ")) {
      const Result<Reply> reply = decode_reply(std::string_view(line).substr(6));
      REQUIRE_MESSAGE(reply, error_text(reply));
      replies.insert(reply_name(*reply));
    } else {
      CHECK(line.find("{\"") == std::string::npos);  // an example that this test does not see
    }
  }
  CHECK(requests.size() == std::variant_size_v<Request>);
  CHECK(replies.size() == std::variant_size_v<Reply>);
}

}  // namespace
}  // namespace gputrace::ipc
