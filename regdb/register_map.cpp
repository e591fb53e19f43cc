#include "regdb/register_map.h"

#include <algorithm>

namespace gputrace::regdb {

std::string_view to_string(FieldKind kind) {
  switch (kind) {
    case FieldKind::kBusy:
      return "busy";
    case FieldKind::kClean:
      return "clean";
    case FieldKind::kRequestPending:
      return "pending";
    case FieldKind::kCounter:
      return "counter";
  }
  return "unknown";
}

std::string_view to_string(UnitGroup group) {
  switch (group) {
    case UnitGroup::kFrontEnd:
      return "front end";
    case UnitGroup::kShader:
      return "shader";
    case UnitGroup::kMemoryPath:
      return "memory path";
    case UnitGroup::kFixedFunction:
      return "fixed function";
  }
  return "unknown";
}

const RegisterField* Register::find_field(std::string_view field_name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const RegisterField& f) { return f.name == field_name; });
  return found == fields.end() ? nullptr : &*found;
}

const Register* RegisterMap::find(std::string_view register_name) const {
  const auto found = std::find_if(registers.begin(), registers.end(),
                                  [&](const Register& r) { return r.name == register_name; });
  return found == registers.end() ? nullptr : &*found;
}

}  // namespace gputrace::regdb
