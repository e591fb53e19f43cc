#include "regdb/table_overlay.h"

#include <algorithm>

namespace gputrace::regdb {
namespace {

MergedRegister* find_register(std::vector<MergedRegister>& registers, std::string_view name) {
  const auto found = std::find_if(registers.begin(), registers.end(),
                                  [&](const MergedRegister& r) { return r.name == name; });
  return found == registers.end() ? nullptr : &*found;
}

void sort_by_bit(std::vector<FieldStatement>& fields) {
  std::sort(fields.begin(), fields.end(), [](const FieldStatement& a, const FieldStatement& b) {
    return a.bits.shift < b.bits.shift;
  });
}

Status resolve_like(const RegisterStatement& statement, std::vector<MergedRegister>& registers,
                    std::vector<FieldStatement>& fields) {
  const MergedRegister* const like = find_register(registers, statement.like);
  if (like == nullptr) {
    return fail_at(statement.place, "no register '" + statement.like + "' stands before this one");
  }
  fields = like->fields;
  return {};
}

void put_fields(const std::vector<FieldStatement>& stated, std::vector<FieldStatement>& fields) {
  for (const FieldStatement& field : stated) {
    std::erase_if(fields, [&](const FieldStatement& old) {
      return (old.bits.mask() & field.bits.mask()) != 0 || old.name == field.name;
    });
  }
  fields.insert(fields.end(), stated.begin(), stated.end());
  sort_by_bit(fields);
}

}  // namespace

Status add_registers(const TableStatement& table, std::vector<MergedRegister>& into) {
  for (const RegisterStatement& statement : table.registers) {
    if (!statement.offset) {
      return fail_at(statement.place, "register '" + statement.name + "' has no offset");
    }
    if (find_register(into, statement.name) != nullptr) {
      return fail_at(statement.place, "the base table has a register '" + statement.name + "' too");
    }
    MergedRegister added{statement.name, *statement.offset, statement.fields};
    if (!statement.like.empty()) {
      if (const Status status = resolve_like(statement, into, added.fields); !status) {
        return status;
      }
    }
    sort_by_bit(added.fields);
    into.push_back(std::move(added));
  }
  return {};
}

Status overlay_registers(const TableStatement& overlay, std::vector<MergedRegister>& registers) {
  for (const RegisterStatement& statement : overlay.registers) {
    MergedRegister* const target = find_register(registers, statement.name);
    if (target == nullptr) {
      return fail_at(statement.place, "table '" + overlay.name + "' has no register '" +
                                          statement.name + "', and an overlay cannot add one");
    }
    if (statement.offset && *statement.offset != target->offset) {
      return fail_at(statement.place,
                     "the offset of " + statement.name +
                         " differs from the built-in one, which alone decides what may be read; "
                         "leave it out");
    }
    if (statement.like.empty()) {
      put_fields(statement.fields, target->fields);
    } else if (const Status status = resolve_like(statement, registers, target->fields); !status) {
      return status;
    }
  }
  return {};
}

Status check_overlay_statements(const RegFile& overlay) {
  const auto refuse = [](const SourcePlace& place, std::string_view statement) {
    return fail_at(place, "'" + std::string(statement) +
                              "' belongs to the built-in tables; an overlay changes only fields: "
                              "their names, kinds, groups and meanings");
  };
  if (!overlay.readable_lists.empty()) {
    return refuse(overlay.readable_lists.front().place, "readable-list");
  }
  if (!overlay.versions.empty()) {
    return refuse(overlay.versions.front().place, "version");
  }
  if (!overlay.families.empty()) {
    return refuse(overlay.families.front().place, "family");
  }
  if (!overlay.columns.empty()) {
    return refuse(overlay.columns.front().place, "column");
  }
  return {};
}

Result<FieldDescription> describe(const FieldStatement& field,
                                  std::span<const FieldDescriptions* const> layers) {
  std::optional<FieldDescription> description;
  for (const FieldDescriptions* layer : layers) {
    const auto found = layer->find(field.name);
    if (found == layer->end()) {
      continue;
    }
    if (!description) {
      description = found->second;
    } else {
      description->meaning = found->second.meaning;
      description->suggests = found->second.suggests;
    }
    if (!description->meaning.empty()) {
      return *description;
    }
  }
  return fail_at(field.place, "field '" + field.name + "' is not described; add `field " +
                                  field.name + " KIND GROUP` and a `meaning` line");
}

}  // namespace gputrace::regdb
