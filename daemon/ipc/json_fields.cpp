#include "daemon/ipc/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace gputrace::ipc {

std::string bytes_to_json(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) {
      text.push_back(byte);
    } else {
      text.push_back(static_cast<char>(0xc0 | (code >> 6)));
      text.push_back(static_cast<char>(0x80 | (code & 0x3f)));
    }
  }
  return text;
}

std::optional<std::string> bytes_from_json(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes.push_back(text[i]);
      continue;
    }
    // The JSON parser has checked the UTF-8; 0xc2 and 0xc3 lead the code points 128 to 255.
    if ((lead != 0xc2 && lead != 0xc3) || i + 1 >= text.size()) {
      return std::nullopt;
    }
    ++i;
    bytes.push_back(
        static_cast<char>(((lead & 0x03) << 6) | (static_cast<unsigned char>(text[i]) & 0x3f)));
  }
  return bytes;
}

const nlohmann::json* JsonFields::find(const char* name) {
  asked_.emplace(name);
  const auto found = object_.find(name);
  if (found == object_.end()) {
    fault(name, "is missing");
    return nullptr;
  }
  return &*found;
}

void JsonFields::fault(std::string_view name, std::string_view what) {
  if (!fault_) {
    fault_ = fmt::format("field '{}' {}", name, what);
  }
}

std::string JsonFields::text_of(const char* name, const nlohmann::json& value,
                                std::size_t max_bytes) {
  if (!value.is_string()) {
    fault(name, "is not a text");
    return {};
  }
  std::optional<std::string> bytes = bytes_from_json(value.get_ref<const std::string&>());
  if (!bytes) {
    fault(name, "has a character that is not a byte");
    return {};
  }
  if (bytes->size() > max_bytes) {
    fault(name, fmt::format("is longer than {} bytes", max_bytes));
    return {};
  }
  return *bytes;
}

std::string JsonFields::text(const char* name, std::size_t max_bytes) {
  const nlohmann::json* value = find(name);
  return value == nullptr ? std::string() : text_of(name, *value, max_bytes);
}

std::optional<std::string> JsonFields::optional_text(const char* name, std::size_t max_bytes) {
  const nlohmann::json* value = find(name);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  return text_of(name, *value, max_bytes);
}

std::vector<std::string> JsonFields::texts(const char* name, std::size_t max_count,
                                           std::size_t max_bytes_each, std::size_t max_bytes_all) {
  const nlohmann::json* value = find(name);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_array() || value->size() > max_count) {
    fault(name, fmt::format("is not a list of at most {} texts", max_count));
    return {};
  }
  std::vector<std::string> all;
  std::size_t bytes = 0;
  for (const nlohmann::json& element : *value) {
    all.push_back(text_of(name, element, max_bytes_each));
    bytes += all.back().size();
  }
  if (bytes > max_bytes_all) {
    fault(name, fmt::format("has more than {} bytes", max_bytes_all));
  }
  return all;
}

bool JsonFields::is_null(const char* name) {
  const nlohmann::json* value = find(name);
  return value == nullptr || value->is_null();
}

bool JsonFields::boolean(const char* name) {
  const nlohmann::json* value = find(name);
  if (value == nullptr || !value->is_boolean()) {
    fault(name, "is not true or false");
    return false;
  }
  return value->get<bool>();
}

double JsonFields::number(const char* name, double min, double max) {
  const nlohmann::json* value = find(name);
  const double number =
      value != nullptr && value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= min && number <= max)) {
    fault(name, fmt::format("is not a number from {} to {}", min, max));
    return min;
  }
  return number;
}

std::optional<double> JsonFields::optional_number(const char* name, double min, double max) {
  return is_null(name) ? std::nullopt : std::optional(number(name, min, max));
}

std::int64_t JsonFields::integer(const char* name, std::int64_t min, std::int64_t max) {
  const nlohmann::json* value = find(name);
  std::optional<std::int64_t> number;
  if (value != nullptr && value->is_number_unsigned()) {
    const auto raw = value->get<std::uint64_t>();
    if (raw <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      number = static_cast<std::int64_t>(raw);
    }
  } else if (value != nullptr && value->is_number_integer()) {
    number = value->get<std::int64_t>();
  }
  if (!number || *number < min || *number > max) {
    fault(name, fmt::format("is not a whole number from {} to {}", min, max));
    return min;
  }
  return *number;
}

std::optional<int> JsonFields::optional_integer(const char* name, int min, int max) {
  return is_null(name) ? std::nullopt : std::optional(static_cast<int>(integer(name, min, max)));
}

std::uint64_t JsonFields::count(const char* name) {
  return static_cast<std::uint64_t>(integer(name, 0, std::numeric_limits<std::int64_t>::max()));
}

std::uint32_t JsonFields::count32(const char* name) {
  return static_cast<std::uint32_t>(integer(name, 0, std::numeric_limits<std::uint32_t>::max()));
}

std::optional<std::uint64_t> JsonFields::optional_count(const char* name) {
  return is_null(name) ? std::nullopt : std::optional(count(name));
}

std::map<std::string, std::uint64_t> JsonFields::named_counts(const char* name,
                                                              std::size_t max_count,
                                                              bool (*is_name)(std::string_view)) {
  std::map<std::string, std::uint64_t> counts;
  const nlohmann::json* value = find(name);
  if (value == nullptr || !value->is_object() || value->size() > max_count) {
    fault(name, fmt::format("is not an object of at most {} counts", max_count));
    return counts;
  }
  JsonFields fields(*value);
  for (const auto& [key, element] : value->items()) {
    if (!is_name(key)) {
      fault(name, "has a name that is none");
      return counts;
    }
    counts[key] = fields.count(key.c_str());
  }
  if (const Status status = fields.finish(); !status) {
    fault(name, status.error().message);
  }
  return counts;
}

void JsonFields::counts(const char* name, std::span<std::uint32_t> out) {
  const nlohmann::json* value = find(name);
  if (value == nullptr || !value->is_array() || value->size() != out.size()) {
    fault(name, fmt::format("is not a list of {} numbers", out.size()));
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const nlohmann::json& element = (*value)[i];
    const std::uint64_t number = element.is_number_unsigned()
                                     ? element.get<std::uint64_t>()
                                     : std::numeric_limits<std::uint64_t>::max();
    if (number > std::numeric_limits<std::uint32_t>::max()) {
      fault(name, "has an element that is not a 32-bit count");
      return;
    }
    out[i] = static_cast<std::uint32_t>(number);
  }
}

void JsonFields::objects(const char* name, std::size_t max_count,
                         const std::function<void(JsonFields&)>& read) {
  const nlohmann::json* value = find(name);
  if (value == nullptr || !value->is_array() || value->size() > max_count) {
    fault(name, fmt::format("is not a list of at most {} objects", max_count));
    return;
  }
  for (const nlohmann::json& element : *value) {
    if (!element.is_object()) {
      fault(name, "has an element that is not an object");
      return;
    }
    JsonFields fields(element);
    read(fields);
    if (const Status status = fields.finish(); !status) {
      fault(name, status.error().message);
      return;
    }
  }
}

Status JsonFields::finish() const {
  if (fault_) {
    return fail(ErrorCode::kCorrupt, *fault_);
  }
  for (const auto& [name, value] : object_.items()) {
    if (asked_.find(name) == asked_.end()) {
      return fail(ErrorCode::kCorrupt, "it has an unknown field");
    }
  }
  return {};
}

}  // namespace gputrace::ipc
