#include "daemon/store/session_schema.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputrace::store {

// Defined by the build (gputrace_embed): what each version adds, in the order of versions.
std::span<const std::pair<std::string_view, std::string_view>> embedded_schema();

namespace {

Result<std::vector<std::string>> schema_rows(Database& database) {
  Result<Statement> query = database.prepare(
      "SELECT type || '|' || name || '|' || tbl_name || '|' || coalesce(sql, '') "
      "FROM sqlite_schema ORDER BY 1");
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  std::vector<std::string> rows;
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    if (!*row) {
      return rows;
    }
    rows.push_back(query->text(0));
  }
}

}  // namespace

Status create_schema(Database& database, std::uint32_t version) {
  GPUTRACE_CHECK(version >= 1 && version <= embedded_schema().size());
  for (const auto& [name, sql] : embedded_schema().first(version)) {
    if (Status status = database.execute(sql); !status) {
      return status;
    }
  }
  return {};
}

Result<std::uint32_t> schema_version(Database& database) {
  Result<Statement> query = database.prepare("PRAGMA user_version");
  const Result<bool> row = query ? query->step() : tl::unexpected<Error>(query.error());
  if (!row) {
    return tl::unexpected<Error>(row.error());
  }
  const std::int64_t version = query->integer(0);
  // The header said a version that is known; what lies in the log beside the file may not.
  if (version < 1 || version > std::int64_t{kSchemaVersion}) {
    return fail(ErrorCode::kCorrupt, "its format version changed while it was opened");
  }
  return static_cast<std::uint32_t>(version);
}

Status check_schema(Database& database, const std::filesystem::path& path) {
  const std::string what = "cannot read " + path.string();
  Result<Database> ours = Database::open({}, Database::Mode::kMemory);
  if (!ours) {
    return fail(ours.error(), what);
  }
  const Result<std::uint32_t> version = schema_version(database);
  if (!version) {
    return fail(version.error(), what);
  }
  if (const Status status = create_schema(*ours, *version); !status) {
    return fail(status.error(), what);
  }
  const Result<std::vector<std::string>> expected = schema_rows(*ours);
  const Result<std::vector<std::string>> found = schema_rows(database);
  if (!expected || !found) {
    return fail(expected ? found.error() : expected.error(), what);
  }
  if (*expected != *found) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: its tables are not those of format version {}; it was changed by "
                            "another program or is damaged",
                            what, *version));
  }
  return {};
}

}  // namespace gputrace::store
