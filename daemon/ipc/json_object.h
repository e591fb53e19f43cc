// From the bytes of a message to its JSON object. Private to daemon/ipc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/ipc/json_fields.h"

namespace gputrace::ipc {

/// An object whose "type" is a text. kCorrupt: too long, nested deeper than any message is, no
/// JSON, or something else.
[[nodiscard]] Result<nlohmann::json> parse_object(std::string_view message);
/// The same for an object without a "type", which travels inside a text.
[[nodiscard]] Result<nlohmann::json> parse_inner_object(std::string_view text);

[[nodiscard]] tl::unexpected<Error> bad_message(std::string_view why);

/// `message`, when its fields had no fault.
template <class Variant, class Message>
[[nodiscard]] Result<Variant> checked(Message message, const JsonFields& fields) {
  if (const Status status = fields.finish(); !status) {
    return bad_message(status.error().message);
  }
  return Variant(std::move(message));
}

/// What `decode` would refuse is not sent: kInvalidArgument.
template <class Decode>
[[nodiscard]] Result<std::string> sendable(std::string text, Decode decode) {
  if (const auto decoded = decode(text); !decoded) {
    return fail(ErrorCode::kInvalidArgument, "cannot send: " + decoded.error().message);
  }
  return text;
}

}  // namespace gputrace::ipc
