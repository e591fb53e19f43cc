// The tables of each format version.
#pragma once

#include <cstdint>
#include <filesystem>

#include "daemon/base/result.h"
#include "daemon/store/database.h"

namespace gputrace::store {

inline constexpr std::uint32_t kSchemaVersion = 3;  ///< user_version

/// Runs the SQL of a version's schema on an empty database.
[[nodiscard]] Status create_schema(Database& database, std::uint32_t version);
/// user_version of a file that is open.
[[nodiscard]] Result<std::uint32_t> schema_version(Database& database);
/// Whether the file has the tables of its version and nothing else: a stranger's views, triggers
/// and generated columns would run with our queries. `path` is for messages.
[[nodiscard]] Status check_schema(Database& database, const std::filesystem::path& path);

}  // namespace gputrace::store
