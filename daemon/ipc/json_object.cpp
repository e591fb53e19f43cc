#include "daemon/ipc/json_object.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/ipc/message.h"

namespace gputrace::ipc {

namespace {

/// The deepest message is a window: object, list, object, list.
constexpr int kMaxDepth = 4;

/// Looked at before the parser sees it: not every version of the library frees deep values without
/// recursion.
bool is_too_deep(std::string_view message) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const char byte = message[i];
    if (in_text) {
      if (byte == '\\') {
        ++i;
      } else if (byte == '"') {
        in_text = false;
      }
    } else if (byte == '"') {
      in_text = true;
    } else if (byte == '[' || byte == '{') {
      if (++depth > kMaxDepth) {
        return true;
      }
    } else if (byte == ']' || byte == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

tl::unexpected<Error> bad_message(std::string_view why) {
  return fail(ErrorCode::kCorrupt, fmt::format("bad message: {}", why));
}

Result<nlohmann::json> parse_inner_object(std::string_view text) {
  if (text.size() > kMaxMessageBytes) {
    return bad_message(fmt::format("longer than {} bytes", kMaxMessageBytes));
  }
  if (is_too_deep(text)) {
    return bad_message("nested too deeply");
  }
  nlohmann::json object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return bad_message("not a JSON object");
  }
  return object;
}

Result<nlohmann::json> parse_object(std::string_view message) {
  Result<nlohmann::json> object = parse_inner_object(message);
  if (!object) {
    return object;
  }
  const auto type = object->find("type");
  if (type == object->end() || !type->is_string()) {
    return bad_message("no type");
  }
  return object;
}

}  // namespace gputrace::ipc
