#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/decode/decode_output.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;

/// Texts may come from a user's folder: what is not UTF-8 there is replaced, not thrown upon.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json gc_of(const regdb::RegisterMap& map) {
  return map.gc ? Json(regdb::to_string(*map.gc)) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json field_to_json(const regdb::RegisterField& field) {
  return {{"name", field.name},
          {"shift", field.shift},
          {"width", field.width},
          {"kind", to_string(field.kind)},
          {"group", to_string(field.group)},
          {"meaning", field.meaning},
          {"suggests", text_or_null(field.suggests)}};
}

Json register_to_json(const regdb::Register& reg) {
  return {{"name", reg.name},
          {"dword_offset", fmt::format("0x{:04x}", reg.dword_offset)},
          {"unprivileged", reg.unprivileged}};
}

Json word_to_json(const StatusWord& word) {
  const bool invalid = is_invalid_read(word);
  Json json{{"register", word.reg.name}, {"word", fmt::format("0x{:08X}", word.value)},
            {"valid", !invalid},         {"reason", nullptr},
            {"fields", nullptr},         {"unknown_bits", nullptr}};
  if (invalid) {
    json["reason"] = kInvalidRead;
    return json;
  }
  json["fields"] = Json::array();
  for (const SetField& set : set_fields(word)) {
    Json field = field_to_json(*set.field);
    field["value"] = set.value;
    json["fields"].push_back(std::move(field));
  }
  json["unknown_bits"] = fmt::format("0x{:08X}", unknown_bits(word));
  return json;
}

}  // namespace

std::string decode_to_json(const DecodeContext& context, std::span<const StatusWord> words) {
  Json registers = Json::array();
  for (const StatusWord& word : words) {
    registers.push_back(word_to_json(word));
  }
  return dump({{"schema", "gputrace.decode/1"},
               {"gc", gc_of(context.map)},
               {"gc_source", context.gc_source},
               {"table", context.map.table},
               {"regdb_revision", context.regdb_revision},
               {"registers", std::move(registers)}});
}

std::string tables_to_json(std::span<const ListedTable> tables) {
  Json rows = Json::array();
  for (const ListedTable& table : tables) {
    Json registers = Json::array();
    for (const regdb::Register& reg : table.map.registers) {
      registers.push_back(register_to_json(reg));
    }
    rows.push_back({{"table", table.map.table},
                    {"versions", table.versions},
                    {"registers", std::move(registers)}});
  }
  return dump({{"schema", "gputrace.decode-tables/1"}, {"tables", std::move(rows)}});
}

std::string fields_to_json(const regdb::RegisterMap& map) {
  Json registers = Json::array();
  for (const regdb::Register& reg : map.registers) {
    Json row = register_to_json(reg);
    row["fields"] = Json::array();
    for (const regdb::RegisterField& field : reg.fields) {
      row["fields"].push_back(field_to_json(field));
    }
    registers.push_back(std::move(row));
  }
  return dump({{"schema", "gputrace.decode-fields/1"},
               {"gc", gc_of(map)},
               {"table", map.table},
               {"registers", std::move(registers)}});
}

}  // namespace gputrace::commands
