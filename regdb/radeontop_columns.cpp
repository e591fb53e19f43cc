#include <algorithm>

#include "regdb/built_in_files.h"
#include "regdb/register_database.h"

namespace gputrace::regdb {
namespace {

std::string bits_in_words(BitRange bits) {
  const std::string first = std::to_string(bits.shift);
  return bits.width == 1 ? "bit " + first
                         : "bits " + first + " to " + std::to_string(bits.shift + bits.width - 1);
}

RegisterDatabase::ColumnMatch match_column(const ColumnRule& rule, const RegisterMap& map) {
  const Register* const reg = map.find(rule.register_name);
  if (reg == nullptr) {
    return {rule.column, {}, {}, "comes from " + rule.register_name + ", not from GRBM_STATUS"};
  }
  const RegisterField* const field = reg->find_field(rule.field);
  if (field != nullptr && field->mask() == rule.bits.mask()) {
    return {rule.column, reg->name, field->name, {}};
  }
  std::string there;
  for (const RegisterField& other : reg->fields) {
    if ((other.mask() & rule.bits.mask()) != 0) {
      there += (there.empty() ? "" : " and ") + other.name;
    }
  }
  return {rule.column,
          {},
          {},
          "is " + bits_in_words(rule.bits) + " of " + reg->name + ", which " +
              (there.empty() ? "has no field there" : "holds " + there + " there")};
}

}  // namespace

Result<std::vector<RegisterDatabase::ColumnMatch>> RegisterDatabase::match_radeontop_columns(
    GcVersion version, std::span<const std::string> columns) const {
  const auto map = map_for(version);
  if (!map) {
    return tl::unexpected(map.error());
  }
  const auto present = [&](const std::string& column) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  const std::vector<ColumnRule> rules = parse_built_in("radeontop.reg").columns;
  std::vector<ColumnMatch> matches;
  for (const std::string& column : columns) {
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const ColumnRule& candidate) {
      return candidate.column == column && (candidate.with.empty() || present(candidate.with)) &&
             (candidate.without.empty() || !present(candidate.without));
    });
    if (rule == rules.end()) {
      matches.push_back({column, {}, {}, "is not a column that radeontop has"});
    } else {
      matches.push_back(match_column(*rule, *map));
    }
  }
  return matches;
}

}  // namespace gputrace::regdb
