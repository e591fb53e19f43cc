#include "daemon/simulated_gpu/json_members.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace gputrace::simulated_gpu {

using Json = nlohmann::json;

JsonMembers::JsonMembers(const Json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is_object()) {
    complain("", "must be an object");
  }
}

double JsonMembers::number(const char* key, double otherwise, NumberRange range) {
  const Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= range.low && number <= range.high)) {
    complain(key, fmt::format("must be a number from {} to {}", range.low, range.high));
    return otherwise;
  }
  return number;
}

int JsonMembers::integer(const char* key, int otherwise, NumberRange range) {
  const double value = number(key, otherwise, range);
  if (value != std::floor(value)) {
    complain(key, "must be a whole number");
    return otherwise;
  }
  return static_cast<int>(value);
}

bool JsonMembers::boolean(const char* key, bool otherwise) {
  const Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_boolean()) {
    complain(key, "must be true or false");
    return otherwise;
  }
  return value->get<bool>();
}

std::string JsonMembers::text(const char* key, std::string otherwise) {
  const Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_string() || value->get_ref<const std::string&>().size() > kMaxTextBytes) {
    complain(key, fmt::format("must be a text of at most {} bytes", kMaxTextBytes));
    return otherwise;
  }
  return value->get<std::string>();
}

const Json* JsonMembers::find(const char* key) {
  known_.insert(key);
  if (!object_.is_object()) {
    return nullptr;
  }
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void JsonMembers::complain(std::string_view key, std::string_view what) {
  if (complaint_.empty()) {
    const char* dot = where_.empty() || key.empty() ? "" : ".";
    complaint_ = fmt::format("{}{}{} {}", where_, dot, key, what);
  }
}

Status JsonMembers::finish() {
  if (object_.is_object()) {
    for (const auto& item : object_.items()) {
      if (!known_.contains(item.key())) {
        complain(item.key(), "is not known here");
      }
    }
  }
  return complaint_.empty() ? Status{} : fail(ErrorCode::kInvalidArgument, complaint_);
}

}  // namespace gputrace::simulated_gpu
