// Runs one SQL query on a session file: read-only, with a time limit, on a file that may come from
// a stranger. Only SELECT (and the PRAGMAs that describe tables) is allowed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace gputrace::store {

/// A blob's contents mean nothing to a person; its size does.
struct BlobSize {
  std::size_t bytes = 0;
};
using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string, BlobSize>;

struct QueryLimits {
  std::int64_t time_ns = 30 * kNsPerSecond;
  std::int64_t memory_bytes = 256LL << 20;  ///< of SQLite in this process
};

struct QueryVisitor {
  std::function<void(std::span<const std::string> columns)> columns;  ///< once, before the rows
  std::function<Status(std::span<const QueryValue> row)> row;
};

/// kInvalidArgument for SQL that is wrong, writes or is more than one statement; kBusy when the
/// time is up, kUnsupported when the memory is; else as SessionReader::open.
[[nodiscard]] Status query_session(const std::filesystem::path& path, std::string_view sql,
                                   const QueryLimits& limits, const QueryVisitor& visitor);

}  // namespace gputrace::store
