// Reads what --json of bench and roofline wrote.
#pragma once

#include <string_view>

#include "cli/analysis/bench_result.h"
#include "daemon/base/result.h"

namespace gputrace::report {

/// The first document of `text`. kCorrupt: no JSON, of another schema, or a key has another type
/// than gputrace.bench/1 has (names it). Keys that are not there are not known.
[[nodiscard]] Result<analysis::BenchRun> parse_bench_json(std::string_view text);

}  // namespace gputrace::report
