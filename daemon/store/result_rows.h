// Rows of results. Every value is checked both ways: they may come from a stranger.
#pragma once

#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/store/database.h"
#include "daemon/store/results.h"

namespace gputrace::store {

/// kInvalidArgument names the test whose values cannot be stored.
[[nodiscard]] Status insert_results(Database& database, std::span<const ResultRun> runs);
[[nodiscard]] Result<std::vector<ResultRun>> load_results(Database& database);

}  // namespace gputrace::store
