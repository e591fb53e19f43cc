#include "cli/commands/decode/decode_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>

namespace gputrace::commands {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return result;
}

const regdb::Register* find_register(const regdb::RegisterMap& map, std::string_view name) {
  const std::string wanted = upper(name);
  for (const std::string_view prefix : {"", "MM", "REG"}) {
    for (const regdb::Register& reg : map.registers) {
      if (wanted.starts_with(prefix) && upper(reg.name) == wanted.substr(prefix.size())) {
        return &reg;
      }
    }
  }
  return nullptr;
}

std::optional<std::uint32_t> parse_word(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

Result<StatusWord> parse_status_word(const regdb::RegisterMap& map, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return fail(ErrorCode::kUsage,
                fmt::format("'{}' is not REGISTER=WORD, such as GRBM_STATUS=0xA0003028", text));
  }
  const std::string_view name = text.substr(0, equals);
  const regdb::Register* const reg = find_register(map, name);
  if (reg == nullptr) {
    std::string known;
    for (const regdb::Register& other : map.registers) {
      known += (known.empty() ? "" : ", ") + other.name;
    }
    return fail(ErrorCode::kUsage, fmt::format("register table {} has no register '{}'; it has {}",
                                               map.table, name, known));
  }
  const auto value = parse_word(text.substr(equals + 1));
  if (!value) {
    return fail(ErrorCode::kUsage,
                fmt::format("'{}' of {} is not a word of 32 bits, in hex with 0x or decimal",
                            text.substr(equals + 1), reg->name));
  }
  return StatusWord{*reg, *value};
}

bool is_invalid_read(const StatusWord& word) {
  return word.value == 0xffffffffU;
}

std::vector<SetField> set_fields(const StatusWord& word) {
  std::vector<SetField> fields;
  for (const regdb::RegisterField& field : word.reg.fields) {
    const std::uint32_t value = field.extract(word.value);
    if (value != 0 || field.kind == regdb::FieldKind::kCounter) {
      fields.push_back({&field, value});
    }
  }
  return fields;
}

std::uint32_t unknown_bits(const StatusWord& word) {
  std::uint32_t rest = word.value;
  for (const regdb::RegisterField& field : word.reg.fields) {
    rest &= ~field.mask();
  }
  return rest;
}

}  // namespace gputrace::commands
