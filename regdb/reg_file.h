// The text form of the register tables (README.md): parses one *.reg file into what it states.
// Resolving names between files is the database's work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/gc_version.h"
#include "regdb/register_map.h"

namespace gputrace::regdb {

struct SourcePlace {
  std::string file;
  std::size_t line = 0;
};
/// "FILE:LINE: message".
[[nodiscard]] tl::unexpected<Error> fail_at(const SourcePlace& place, std::string_view message);

/// `field NAME KIND GROUP` with its `meaning` and `suggests` lines.
struct FieldDescription {
  FieldKind kind = FieldKind::kBusy;
  UnitGroup group = UnitGroup::kFrontEnd;
  std::string meaning;
  std::string suggests;
  SourcePlace place;
};
using FieldDescriptions = std::map<std::string, FieldDescription, std::less<>>;

struct BitRange {
  std::uint8_t shift = 0;
  std::uint8_t width = 1;

  [[nodiscard]] std::uint32_t mask() const;
  auto operator<=>(const BitRange&) const = default;
};

/// `BITS NAME` below a register.
struct FieldStatement {
  BitRange bits;
  std::string name;
  SourcePlace place;
};

/// `register NAME [OFFSET|none] [like OTHER]`.
struct RegisterStatement {
  std::string name;
  std::optional<std::uint32_t> offset;  ///< "none" is 0
  std::string like;                     ///< empty when it lists fields of its own
  std::vector<FieldStatement> fields;
  SourcePlace place;
};

/// `table NAME` and what follows until the next one.
struct TableStatement {
  std::string name;
  std::string base;      ///< the table whose registers it extends; empty for none
  std::string readable;  ///< name of a readable-list; empty when not stated
  std::vector<RegisterStatement> registers;
  FieldDescriptions descriptions;  ///< of this table only
  SourcePlace place;
};

struct ReadableList {
  std::string name;
  std::vector<std::string> registers;
  SourcePlace place;
};

/// `version PATTERN TABLE`.
struct VersionRule {
  std::string pattern;  ///< "10.3.x", "7.x" or "11.0.1"
  std::string table;
  SourcePlace place;

  [[nodiscard]] bool matches(GcVersion version) const;
};

/// `family FAMILY FIRST_REV LAST_REV GC_VERSION NAMES`.
struct FamilyRule {
  std::uint32_t family = 0;
  std::uint32_t first_revision = 0;
  std::uint32_t last_revision = 0;
  GcVersion gc;
  SourcePlace place;
};

/// `column COLUMN BITS REGISTER FIELD|- [with COLUMN | without COLUMN]`.
struct ColumnRule {
  std::string column;
  BitRange bits;
  std::string register_name;
  std::string field;  ///< empty where no later chip has the unit
  std::string with;
  std::string without;
  SourcePlace place;
};

struct RegFile {
  FieldDescriptions descriptions;  ///< of all tables
  std::vector<TableStatement> tables;
  std::vector<ReadableList> readable_lists;
  std::vector<VersionRule> versions;
  std::vector<FamilyRule> families;
  std::vector<ColumnRule> columns;
};

/// `file` is for messages only. kInvalidArgument names file and line.
[[nodiscard]] Result<RegFile> parse_reg_file(std::string_view file, std::string_view text);

}  // namespace gputrace::regdb
